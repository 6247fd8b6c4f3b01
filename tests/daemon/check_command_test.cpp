#include "daemon/check_command.h"

#include <catch2/catch.hpp>
#include <memory>

namespace attune::check_command_test {

Algorithms algorithms() { return {builtin_tuners(), builtin_assessors()}; }

json space_of(const char* type) { return {{"x", {{"_type", type}, {"_value", {0, 1}}}}}; }

// Which keys are refused; "fine": none is.
std::string refused(const Configuration& configuration, const json& space = space_of("uniform")) {
  std::string all;
  for (const Refusal& refusal : check_experiment(configuration, {}, algorithms(), space)) {
    CHECK_FALSE(refusal.message.empty());
    constexpr const char* kParts[] = {"experiment", "tuner", "assessor", "searchSpace"};
    all += (all.empty() ? "" : " ") + std::string(kParts[static_cast<int>(refusal.part)]);
    for (const std::string& name : refusal.path) all += "." + name;
  }
  return all.empty() ? "fine" : all;
}

TEST_CASE("check: names the key that is to be changed") {
  Configuration good;
  good.tuner = {"TPE", json::object()};
  CHECK(refused(good) == "fine");
  Configuration bad = good;
  bad.tuner.name = "TPEE";
  CHECK(refused(bad) == "tuner.name");
  bad.tuner = {"TPE", {{"no_such", 1}, {"seed", "x"}}};
  CHECK(refused(bad) == "tuner.classArgs.no_such tuner.classArgs.seed");
  bad.tuner = {"TPE", {{"tpe_args", {{"gamma", "x"}}}}};
  bad.assessor = {"Medianstop", {{"start_step", -1}}};
  CHECK(refused(bad) == "tuner.classArgs.tpe_args.gamma assessor.classArgs.start_step");
  bad = good;
  bad.assessor = {"Medianstop", json::object()};
  CHECK(refused(bad) == "fine");
  bad.assessor = {"Medianstopp", json::object()};
  CHECK(refused(bad) == "assessor.name");
  bad.assessor = {"Medianstop", {{"start_step", "x"}}};
  CHECK(refused(bad) == "assessor.classArgs.start_step");
  CHECK(refused(good, space_of("unifrom")) == "searchSpace");
  bad = good;
  bad.constraints = {"y < 1"};
  CHECK(refused(bad) == "searchSpace");
  bad = good;
  bad.tuner.name = "Batch";  // wants one choice
  CHECK(refused(bad) == "searchSpace");
  const auto unread = check_experiment(good, fail("bad JSON"), algorithms(), space_of("uniform"));
  REQUIRE(unread.size() == 1);
  CHECK(unread.front().part == Refusal::Part::experiment);
}

TEST_CASE("check: prints one JSON object and ends with 0 or 2") {
  const auto [tuner, text, code] = GENERATE(table<std::string, std::string, int>({
      {"TPE", R"({"x": {"_type": "uniform", "_value": [0, 1]}})", 0},
      {"ASHA", R"({"x": {"_type": "uniform", "_value": [0, 1]}})", 0},
      {"TPE", R"({"x": {"_type": "uniform", "_value": [0]}})", 2},
      {"TPE", "{", 2},
      {"TPE", "", 2},
  }));
  CAPTURE(tuner, text);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::tmpfile(), std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::tmpfile(), std::fclose);
  std::fputs(text.c_str(), in.get());
  REQUIRE(std::fseek(in.get(), 0, SEEK_SET) == 0);
  Configuration configuration;
  configuration.tuner = {tuner, json::object()};
  CHECK(run_check_command(configuration, {}, algorithms(), in.get(), out.get()) == code);
  REQUIRE(std::fseek(out.get(), 0, SEEK_SET) == 0);
  char said[4096] = "";
  REQUIRE(std::fgets(said, sizeof(said), out.get()) != nullptr);
  const json answer = parse_json(said).value();
  CHECK(answer["fine"] == (code == 0));
  CHECK(answer["format"] == 1);
  CHECK(answer["judges_reports"] == (tuner == "ASHA"));
  REQUIRE(answer["refusals"].size() == (code == 0 ? 0 : 1));
  if (code == 0) return;
  CHECK(answer["refusals"][0]["part"] == "searchSpace");
  CHECK(answer["refusals"][0]["path"].empty());
  CHECK_FALSE(answer["refusals"][0]["message"].get<std::string>().empty());
}

}  // namespace attune::check_command_test
