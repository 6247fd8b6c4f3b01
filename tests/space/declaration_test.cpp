// A space written as NNI's JSON is read to the same space.
#include "space/declaration.h"

#include <catch2/catch.hpp>

#include "space/parse.h"
#include "tests/space/space_helpers.h"

namespace attune::declaration_test {

TEST_CASE("a declaration has every type and what it encloses") {
  const std::string text =
      R"({"opt":{"_type":"choice","_value":[{"_name":"sgd","rate":{"_type":"loguniform",)"
      R"("_value":[0.01,1.0]},"decay":{"_type":"choice","_value":[{"_name":"none"},{"_name":)"
      R"("step","gamma":{"_type":"qnormal","_value":[0.0,1.0,0.5]}}]}},{"_name":"adam"}]},)"
      R"("size":{"_type":"randint","_value":[1,9007199254740991]},)"
      R"("op":{"_type":"layer_choice","_value":[1,"1"]},)"
      R"("in":{"_type":"input_choice","_value":{"candidates":["a",2],"n_chosen":1}}})";
  CHECK(dump_json(declaration_of(space_of(text))) == text);
  CHECK(dump_json(declaration_of({})) == "{}");
}

TEST_CASE("a declaration has defaults and priors") {
  const std::string text =
      R"({"o":{"_type":"choice","_value":[{"_name":"a"},{"_name":"b","n":{"_type":"randint",)"
      R"("_value":[0,9],"_default":3,"_prior":{"_value":4,"_sure":0.9}}}],"_default":"b"},)"
      R"("l":{"_type":"layer_choice","_value":["x","y"],"_prior":{"_value":"y","_sure":0.5}},)"
      R"("i":{"_type":"input_choice","_value":{"candidates":["a",2],"n_chosen":1},"_default":[2]}})";
  CHECK(dump_json(declaration_of(space_of(text))) == text);
}

TEST_CASE("random spaces survive their declaration") {
  const std::uint64_t seed = GENERATE(range(0, 100));
  CAPTURE(seed);
  Rng rng(seed);
  const Space space = parse_space(random_space(rng, {})).value();
  const Space again = parse_space(declaration_of(space)).value();
  REQUIRE(again.params.size() == space.params.size());
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    CHECK(again.params[i].path == space.params[i].path);
    CHECK(again.params[i].domain == space.params[i].domain);
    CHECK(again.params[i].condition == space.params[i].condition);
  }
}

}  // namespace attune::declaration_test
