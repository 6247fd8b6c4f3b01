// Everything that is wrong, in one text.
#include "manager/experiment/findings.h"

#include <catch2/catch.hpp>

namespace attune::findings_test {

std::string text(const Findings& findings) {
  const auto result = findings.result();
  return result ? "fine" : result.error().message;
}

TEST_CASE("findings: one is a line, several have their number above") {
  Findings findings;
  CHECK(findings.empty());
  CHECK(text(findings) == "fine");
  findings.add({"e", "b", {3, 2}, "wrong"});
  CHECK(text(findings) == "e:3:2: b: wrong");
  findings.add({"space", "x", {1, 1}, "low"});
  findings.add({"e", "", {2, 7}, "bad"});
  findings.add({"e", "a", {3, 1}, "worse"});
  findings.add({"space.json", "y", {0, 0}, "nowhere"});
  CHECK(text(findings) ==
        "5 errors:\ne:2:7: bad\ne:3:1: a: worse\ne:3:2: b: wrong\nspace:1:1: x: low\n"
        "space.json: y: nowhere");
}

TEST_CASE("findings: what follows from another one is not kept") {
  Findings findings;
  findings.add({"e", "tuner", {1, 1}, "first"});
  findings.add({"e", "tuner", {1, 1}, "second"});
  findings.forgive("e", "advisor");
  findings.add({"e", "advisor", {1, 1}, "missing"});
  findings.add({"other", "tuner", {1, 1}, "own"});
  CHECK(text(findings) == "2 errors:\ne:1:1: tuner: first\nother:1:1: tuner: own");
}

TEST_CASE("findings: whether there is one about a key or what it holds") {
  Findings findings;
  findings.add({"e", "stop.metric.a", {1, 1}, "wrong"});
  findings.add({"e", "list[2]", {1, 1}, "wrong"});
  findings.add({"e", "tunerGpuIndices", {1, 1}, "wrong"});
  CHECK(findings.about("e", "stop"));
  CHECK(findings.about("e", "stop.metric"));
  CHECK(findings.about("e", "list"));
  CHECK(findings.about("e", "list[2]"));
  CHECK_FALSE(findings.about("e", "list[1]"));
  CHECK_FALSE(findings.about("e", "tuner"));
  CHECK_FALSE(findings.about("e", "stop.met"));
  CHECK_FALSE(findings.about("other", "stop"));
}

TEST_CASE("findings: no more are shown than can be read") {
  Findings findings;
  for (int i = 1; i <= 150; ++i) findings.add({"e", "k" + std::to_string(i), {i, 1}, "wrong"});
  const std::string all = text(findings);
  CHECK_THAT(all, Catch::StartsWith("150 errors:\ne:1:1: k1: wrong\n"));
  CHECK_THAT(all, Catch::EndsWith("e:100:1: k100: wrong\n... and 50 more"));
}

}  // namespace attune::findings_test
