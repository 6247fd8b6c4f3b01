#include "manager/interchange/flat_names.h"

#include <catch2/catch.hpp>

#include "space/parse.h"

namespace attune::flat_names_test {

using Flat = std::vector<std::pair<std::string, json>>;

TEST_CASE("flat names: options within options") {
  const Space space = parse_space(parse_json(R"({
    "k": {"_type": "randint", "_value": [1, 9]},
    "opt": {"_type": "choice", "_value": [
      {"_name": "adam"},
      {"_name": "sgd", "kind": {"_type": "choice", "_value": [
        {"_name": 1, "deep": {"_type": "uniform", "_value": [0, 1]}}]}}]},
    "l": {"_type": "choice", "_value": [null, true, "a", [1, 2]]},
    "s": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"], "n_chosen": 2}}})")
                                      .value())
                          .value();
  const auto names = flat_names(space);
  CHECK(names ==
        std::vector<std::string>{"k", "opt", "opt.sgd.kind", "opt.sgd.kind.1.deep", "l", "s"});
  const json parameters = parse_json(R"({"k": 3, "opt": {"_name": "sgd", "kind": {"_name": 1,
    "deep": 0.5}}, "l": [1, 2], "s": {"_value": ["a", "c"], "_idx": [0, 2]}})")
                              .value();
  CHECK(flat_parameters(space, names, parameters) == Flat{{"k", 3},
                                                          {"opt", "sgd"},
                                                          {"opt.sgd.kind", "1"},
                                                          {"opt.sgd.kind.1.deep", 0.5},
                                                          {"l", "[1,2]"},
                                                          {"s", R"(["a","c"])"}});
  // Of another search space.
  CHECK(flat_parameters(space, names, {{"x", 0.5}, {"n", nullptr}, {"o", {{"_name", "a"}}}}) ==
        Flat{{"x", 0.5}, {"n", "null"}, {"o", R"({"_name":"a"})"}});
}

}  // namespace attune::flat_names_test
