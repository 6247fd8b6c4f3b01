#include "base/python_json.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace attune::python_json_test {

TEST_CASE("python json: what is not finite stays, at any depth, and is read back") {
  const double infinity = std::numeric_limits<double>::infinity();
  const json value = {{"a", std::nan("")}, {"b", {infinity, -infinity, 1.0, "NaN"}}, {"c", {}}};
  const std::string text = dump_python_json(value);
  CHECK(text == R"({"a":NaN,"b":[Infinity,-Infinity,1.0,"NaN"],"c":null})");
  const json back = parse_json(text).value();
  CHECK(std::isnan(back["a"].get<double>()));
  CHECK(back["b"] == value["b"]);
  CHECK(dump_python_json(json::object()) == "{}");
  CHECK(dump_python_json(json::array()) == "[]");
  CHECK(dump_python_json(std::nan("")) == "NaN");
}

}  // namespace attune::python_json_test
