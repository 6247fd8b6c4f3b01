#include "conformance/spaces.h"

#include <string_view>

#include "base/check.h"
#include "space/parse.h"

namespace attune::conformance {
namespace {

struct NamedText {
  std::string_view name, text;
};

Space parsed(std::string_view text) {
  const auto value = parse_json(text);
  ATTUNE_CHECK(value);
  auto space = parse_space(*value);
  ATTUNE_CHECK(space);
  return *std::move(space);
}

constexpr NamedText kTexts[] = {
    {"all types", R"({"c": {"_type": "choice", "_value": [16, "x", null, 1.0, [1]]},
             "i": {"_type": "randint", "_value": [1, 8]},
             "wide": {"_type": "randint", "_value": [-5, 100000]},
             "u": {"_type": "uniform", "_value": [-1, 1]},
             "qu": {"_type": "quniform", "_value": [0, 1, 0.3]},
             "lu": {"_type": "loguniform", "_value": [1e-5, 0.1]},
             "qlu": {"_type": "qloguniform", "_value": [1, 1000, 1]},
             "n": {"_type": "normal", "_value": [0, 1]},
             "qn": {"_type": "qnormal", "_value": [5, 2, 0.5]},
             "ln": {"_type": "lognormal", "_value": [0, 1]},
             "qln": {"_type": "qlognormal", "_value": [0, 1, 0.25]}})"},
    {"one real", R"({"x": {"_type": "uniform", "_value": [0, 1]}})"},
    {"one logarithm", R"({"x": {"_type": "loguniform", "_value": [1e-300, 1e300]}})"},
    {"one normal", R"({"x": {"_type": "normal", "_value": [1e6, 1e-3]}})"},
    {"one integer", R"({"x": {"_type": "randint", "_value": [-2, 3]}})"},
    {"huge integers", R"({"x": {"_type": "randint", "_value": [-9007199254740991,
             9007199254740991]}})"},
    {"rounded logarithm with zero", R"({"x": {"_type": "qlognormal", "_value": [-1, 1, 1]}})"},
    {"nested", R"({"layer": {"_type": "choice", "_value": [
               {"_name": "conv", "k": {"_type": "choice", "_value": [1, 2, 3]},
                "p": {"_type": "uniform", "_value": [0, 1]}},
               {"_name": "pool", "s": {"_type": "randint", "_value": [1, 4]}},
               {"_name": "none"}]},
             "lr": {"_type": "loguniform", "_value": [1e-5, 0.1]}})"},
    {"deeply nested and finite", R"({"a": {"_type": "choice", "_value": [{"_name": "a0"},
             {"_name": "a1", "b": {"_type": "choice", "_value": [{"_name": "b0"},
               {"_name": "b1", "c": {"_type": "choice", "_value": [{"_name": "c0"},
                 {"_name": "c1", "d": {"_type": "randint", "_value": [0, 4]}}]}}]}}]}})"},
    {"one point", R"({"x": {"_type": "choice", "_value": ["only"]}})"},
    {"constants", R"({"x": {"_type": "uniform", "_value": [99.9, 99.9]},
             "y": {"_type": "loguniform", "_value": [1, 1]},
             "z": {"_type": "normal", "_value": [3, 0]},
             "q": {"_type": "qloguniform", "_value": [2, 2, 1]}})"},
    {"small and finite", R"({"a": {"_type": "choice", "_value": ["x", "y", "x"]},
             "b": {"_type": "randint", "_value": [0, 3]},
             "q": {"_type": "quniform", "_value": [2, 10, 5]}})"},
    {"architecture", R"({"op": {"_type": "layer_choice", "_value": ["conv", "pool"]},
             "in": {"_type": "input_choice",
                    "_value": {"candidates": ["a", "b", "c", "d"], "n_chosen": 2}}})"},
    {"nested architecture", R"({"cell": {"_type": "choice", "_value": [
               {"_name": "conv", "k": {"_type": "layer_choice", "_value": [1, 3, 5]},
                "skip": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"],
                                                             "n_chosen": 1}}},
               {"_name": "pool", "t": {"_type": "choice", "_value": ["max", "avg"]}},
               {"_name": "none"}]},
             "op": {"_type": "layer_choice", "_value": ["x", "y", "z"]},
             "in": {"_type": "input_choice",
                    "_value": {"candidates": ["a", "b", "c", "d"], "n_chosen": 2}}})"},
    {"configurations", R"({"c": {"_type": "choice", "_value": [{"lr": 0.1, "k": 1},
             {"lr": 0.2, "k": 2}, {"lr": 0.1, "k": 1}, {"lr": 0.3, "k": 3}]}})"},
    {"empty", "{}"},
};

}  // namespace

const std::vector<TestSpace>& test_spaces() {
  static const std::vector<TestSpace> all = [] {
    std::string wide = "{";
    for (int i = 0; i < 30; ++i) {
      wide += (i ? ", " : "") + std::string("\"x") + std::to_string(i) +
              R"(": {"_type": "uniform", "_value": [0, 1]})";
    }
    std::vector<TestSpace> list;
    for (const auto& [name, text] : kTexts) list.push_back({std::string(name), parsed(text)});
    list.push_back({"thirty dimensions", parsed(wide + "}")});
    return list;
  }();
  return all;
}

}  // namespace attune::conformance
