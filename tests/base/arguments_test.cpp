// Declared arguments: defaults, kinds, ranges, nesting, and messages that name the cure.
#include "base/arguments.h"

#include <catch2/catch.hpp>

namespace attune::arguments_test {

using Type = Argument::Type;

std::vector<Argument> declared() {
  return {
      {.name = "flag", .type = Type::boolean, .fallback = false},
      {.name = "start_step", .type = Type::integer, .fallback = 0, .low = 0, .high = 9999},
      {.name = "prior_weight", .type = Type::number, .fallback = 1.0, .low = 0},
      {.name = "note", .type = Type::text, .fallback = "none"},
      {.name = "optimize_mode",
       .type = Type::choice,
       .fallback = "minimize",
       .choices = {"maximize", "minimize"}},
      {.name = "seed", .type = Type::integer, .fallback = nullptr},
      {.name = "tpe_args",
       .type = Type::object,
       .fallback = nullptr,
       .members = {{.name = "gamma", .type = Type::number, .fallback = 0.25, .high = 1}}},
      {.name = "extra",
       .type = Type::object,
       .fallback = json::object(),
       .members = {{.name = "n", .type = Type::integer, .fallback = 24}}},
  };
}

Result<json> resolve(const char* given) {
  return resolve_arguments("TPE", declared(), parse_json(given).value());
}

std::string error_of(const char* given) {
  const auto result = resolve(given);
  return result ? "accepted: " + dump_json(*result) : result.error().message;
}

TEST_CASE("defaults are filled in, in declaration order") {
  const char* expected =
      R"({"flag":false,"start_step":0,"prior_weight":1.0,"note":"none","optimize_mode":"minimize",)"
      R"("seed":null,"tpe_args":null,"extra":{"n":24}})";
  CHECK(dump_json(resolve("{}").value()) == expected);
  CHECK(dump_json(resolve("null").value()) == expected);
  CHECK(dump_json(resolve(R"({"note":"x","flag":true})").value())
            .starts_with(R"({"flag":true,"start_step":0)"));
}

TEST_CASE("given values are kept") {
  const auto resolved = resolve(
      R"({"flag":true,"start_step":9999,"prior_weight":0.5,"note":"","optimize_mode":"maximize",
          "seed":7,"tpe_args":{"gamma":1},"extra":{}})");
  REQUIRE(resolved);
  CHECK((*resolved)["start_step"] == 9999);
  CHECK((*resolved)["seed"] == 7);
  CHECK((*resolved)["tpe_args"]["gamma"] == 1);
  CHECK((*resolved)["extra"]["n"] == 24);
}

TEST_CASE("a whole float is an integer, others are not") {
  const auto resolved = resolve(R"({"start_step": 5.0})");
  REQUIRE(resolved);
  CHECK((*resolved)["start_step"].is_number_integer());
  CHECK((*resolved)["start_step"] == 5);
}

TEST_CASE("null stands for the default only where the default is null") {
  CHECK(resolve(R"({"seed": null})"));
  CHECK(error_of(R"({"start_step": null})") ==
        "TPE.start_step: an integer in [0, 9999] expected, not null");
}

TEST_CASE("mistakes are told with the place and the cure") {
  struct Row {
    const char* given;
    const char* message;
  };
  const auto row = GENERATE(
      Row{"[]", "TPE: an object of arguments expected, not []"},
      Row{R"({"sed": 1})",
          R"(TPE: unknown argument "sed"; did you mean "seed"? Accepted: flag, start_step, )"
          "prior_weight, note, optimize_mode, seed, tpe_args, extra"},
      Row{R"({"zzzzzz": 1})",
          R"(TPE: unknown argument "zzzzzz". Accepted: flag, start_step, prior_weight, note, )"
          "optimize_mode, seed, tpe_args, extra"},
      Row{R"({"flag": 1})", "TPE.flag: true or false expected, not 1"},
      Row{R"({"start_step": 1.5})", "TPE.start_step: an integer in [0, 9999] expected, not 1.5"},
      Row{R"({"start_step": -1})", "TPE.start_step: an integer in [0, 9999] expected, not -1"},
      Row{R"({"start_step": "5"})", "TPE.start_step: an integer in [0, 9999] expected, not \"5\""},
      Row{R"({"start_step": true})", "TPE.start_step: an integer in [0, 9999] expected, not true"},
      Row{R"({"prior_weight": -0.5})",
          "TPE.prior_weight: a number of at least 0 expected, not -0.5"},
      Row{R"({"prior_weight": NaN})",
          "TPE.prior_weight: a number of at least 0 expected, not null"},
      Row{R"({"note": 3})", "TPE.note: a string expected, not 3"},
      Row{R"({"optimize_mode": "max"})",
          "TPE.optimize_mode: one of maximize, minimize expected, not \"max\""},
      Row{R"({"seed": "x"})", "TPE.seed: an integer expected (or null), not \"x\""},
      Row{R"({"tpe_args": 3})", "TPE.tpe_args: an object expected (or null), not 3"},
      Row{R"({"tpe_args": {"gamma": 2}})",
          "TPE.tpe_args.gamma: a number of at most 1 expected, not 2"},
      Row{R"({"tpe_args": {"gama": 0.1}})",
          R"(TPE.tpe_args: unknown argument "gama"; did you mean "gamma"? Accepted: gamma)"});
  CHECK(error_of(row.given) == row.message);
}

TEST_CASE("an integer too large for 64 bits is an error, not an overflow") {
  CHECK_FALSE(resolve(R"({"seed": 1e300})"));
  CHECK_FALSE(resolve(R"({"seed": 123456789012345678901234567890})"));
  CHECK(resolve(R"({"seed": 9223372036854775807})").value()["seed"] == 9223372036854775807);
}

TEST_CASE("without declared arguments every name is unknown") {
  CHECK(resolve_arguments("Batch", {}, json::object()).value() == json::object());
  CHECK(resolve_arguments("Batch", {}, {{"x", 1}}).error().message ==
        R"(Batch: unknown argument "x". It takes no arguments)");
}

TEST_CASE("the nearest name is near") {
  const std::vector<std::string> names = {"uniform", "quniform", "normal", "x"};
  CHECK(nearest_name("unifrom", names) == "uniform");
  CHECK(nearest_name("quniform", names) == "quniform");
  CHECK(nearest_name("norml", names) == "normal");
  CHECK(nearest_name("y", names) == "x");
  CHECK(nearest_name("jion", {"keep", "join"}) == "join");  // a swap is one mistake
  CHECK(nearest_name("oijn", {"join"}).empty());
  CHECK(nearest_name("choice", names).empty());
  CHECK(nearest_name("", {"ab"}).empty());
  CHECK(nearest_name("a", {}).empty());
}

}  // namespace attune::arguments_test
