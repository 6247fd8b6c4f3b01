#include "trial/parameter_file.h"

#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::parameter_file_test {

// Bytes of a good file, changed, cut and mixed: the answer is an error or what a reader can rely
// on.
TEST_CASE("any bytes are a proposal or an error") {
  const std::string good =
      R"({"parameter_id": 12, "parameter_source": "algorithm", "parameters": )"
      R"({"lr": 1e-3, "layer": {"_name": "a\u00e9", "size": [1, 2]}}, "parameter_index": 0})";
  REQUIRE(parse_proposal(good));
  Rng rng(5);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    const int changes = static_cast<int>(rng.index(4));
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = rng.index(text.size());
      if (rng.index(4) == 0) {
        text.erase(at, 1 + rng.index(8));
      } else {
        text[at] = "{}[]\",:0x\\\0 "[rng.index(12)];
      }
      if (text.empty()) break;
    }
    INFO("seed 5, round " << round << ": " << text);
    const auto proposal = parse_proposal(text);
    if (proposal) {
      ++accepted;
      CHECK(proposal->parameters.is_object());
      const json& id = proposal->id;
      CHECK((id.is_number_integer() || id.is_string() || id.is_null()));
    } else {
      CHECK_FALSE(proposal.error().message.empty());
    }
  }
  CHECK(accepted > 1000);  // or nothing was tried
  CHECK(accepted < 4500);
}

TEST_CASE("a trial that a user added has no parameter_id of a tuner") {
  const auto proposal = parse_proposal(
      R"({"parameter_id": null, "parameter_source": "customized", "parameters": {"lr": 1}})");
  if (!proposal) FAIL(proposal.error().message);
  CHECK(proposal->id.is_null());
  CHECK_FALSE(parse_proposal(R"({"parameters": {"lr": 1}})"));
  CHECK_FALSE(parse_proposal(R"({"parameter_id": 1.5, "parameters": {"lr": 1}})"));
}

}  // namespace attune::parameter_file_test
