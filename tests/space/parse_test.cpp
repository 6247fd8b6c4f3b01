// What parse_space accepts, and every message with which it rejects.
#include "space/parse.h"

#include <catch2/catch.hpp>

#include "tests/space/space_helpers.h"

namespace attune::parse_test {

Result<Space> parse(const std::string& text) { return parse_space(parse_json(text).value()); }

std::string error_of(const std::string& text) {
  const auto space = parse(text);
  return space ? "no error" : space.error().message;
}

std::string error_of_domain(const std::string& spec) { return error_of("{\"lr\":" + spec + "}"); }

TEST_CASE("the formatted space of NNI's own test") {
  // One parameter of each kind, in the order and with the meaning that NNI's formatting gives.
  const Space space = space_of(R"({
      "pool": {"_type": "choice", "_value": ["max", "min", "avg"]},
      "kernel": {"_type": "randint", "_value": [2, 8]},
      "D": {"_type": "choice", "_value": [
        {"_name": "UNIFORM", "rate": {"_type": "uniform", "_value": [0.5, 0.9]}},
        {"_name": "LOG_UNIFORM", "rate": {"_type": "loguniform", "_value": [0.1, 10]}},
        {"_name": "QUNIFORM", "rate": {"_type": "quniform", "_value": [0.1, 100.1, 3]}},
        {"_name": "NORMAL", "rate": {"_type": "qlognormal", "_value": [-1, 2, 0.5]}}]}})");
  REQUIRE(space.params.size() == 7);
  CHECK(std::get<Choice>(space.params[0].domain).candidates.size() == 3);
  CHECK(std::get<IntRange>(space.params[1].domain).low == 2);
  CHECK(std::get<IntRange>(space.params[1].domain).high == 8);
  CHECK(std::get<Choice>(space.params[2].domain).nested);
  for (std::size_t i = 3; i < 7; ++i) {
    CHECK(space.params[i].name == "rate");
    CHECK(space.params[i].path == "D[" + std::to_string(i - 3) + "].rate");
    CHECK(space.params[i].condition == Condition{2, i - 3});
  }
  const auto& log = std::get<Uniform>(space.params[4].domain);
  CHECK((log.low == 0.1 && log.high == 10 && log.log && !log.q));
  const auto& rounded = std::get<Uniform>(space.params[5].domain);
  CHECK((rounded.low == 0.1 && rounded.high == 100.1 && !rounded.log && rounded.q == 3));
  const auto& normal = std::get<Normal>(space.params[6].domain);
  CHECK((normal.mu == -1 && normal.sigma == 2 && normal.log && normal.q == 0.5));
}

TEST_CASE("degenerate domains are constants") {
  const std::string spec = GENERATE(
      R"({"_type":"uniform","_value":[99.9,99.9]})", R"({"_type":"loguniform","_value":[1,1]})",
      R"({"_type":"qloguniform","_value":[2,2,1]})", R"({"_type":"normal","_value":[1,0]})",
      R"({"_type":"qlognormal","_value":[0,0,1]})", R"({"_type":"choice","_value":["one"]})",
      R"({"_type":"randint","_value":[3,4]})", R"({"_type":"layer_choice","_value":["one"]})",
      R"({"_type":"input_choice","_value":{"candidates":["a"],"n_chosen":1}})");
  CAPTURE(spec);
  const Space space = space_of("{\"x\":" + spec + "}");
  CHECK(point_count(space) == 1);
  CHECK_FALSE(is_continuous(space.params[0].domain));
}

TEST_CASE("objects are an option only if all candidates have a name") {
  const Space space = space_of(R"({"x":{"_type":"choice","_value":[{"_name":"a"},{"k":1}]}})");
  const auto& choice = std::get<Choice>(space.params.at(0).domain);
  CHECK_FALSE(choice.nested);
  CHECK(choice.candidates[1] == json{{"k", 1}});
}

TEST_CASE("_name is reserved only inside of an option") {
  const Space space = space_of(R"({"_name":{"_type":"choice","_value":[1]}})");
  CHECK(space.params.at(0).name == "_name");
}

TEST_CASE("an integer written as a real is an integer") {
  const Space space = space_of(R"({"x":{"_type":"randint","_value":[2.0,5]}})");
  CHECK(std::get<IntRange>(space.params[0].domain).low == 2);
}

TEST_CASE("an empty object is an empty space") { CHECK(space_of("{}").params.empty()); }

TEST_CASE("each mistake is named with its path") {
  struct Row {
    std::string spec, error;
  };
  const auto row = GENERATE(values<Row>({
      {"3", "search_space.lr: must be an object with _type and _value, not an integer"},
      {R"({"_value":[0,1]})",
       R"(search_space.lr._type: missing; write {"_type": ..., "_value": ...})"},
      {R"({"_type":"uniform"})",
       R"(search_space.lr._value: missing; write {"_type": ..., "_value": ...})"},
      {R"({"_type":1,"_value":[0,1]})",
       "search_space.lr._type: must be the name of a type, not an integer"},
      {R"({"_type":"unifrom","_value":[0,1]})",
       R"(search_space.lr._type: unknown type "unifrom"; did you mean "uniform"? Known: choice, )"
       "randint, uniform, quniform, loguniform, qloguniform, normal, qnormal, lognormal, "
       "qlognormal, layer_choice, input_choice"},
      {R"({"_type":"mutable_layer","_value":[0,1]})",
       R"(search_space.lr._type: unknown type "mutable_layer". Known: choice, randint, uniform, )"
       "quniform, loguniform, qloguniform, normal, qnormal, lognormal, qlognormal, layer_choice, "
       "input_choice"},
      {R"({"_type":"uniform","_value":[1,0]})", "search_space.lr._value: high must exceed low"},
      {R"({"_type":"uniform","_value":[0]})",
       "search_space.lr._value: uniform takes [low, high], not a list of 1"},
      {R"({"_type":"quniform","_value":[0,1]})",
       "search_space.lr._value: quniform takes [low, high, q], not a list of 2"},
      {R"({"_type":"normal","_value":{"mu":0}})",
       "search_space.lr._value: normal takes [mu, sigma], not an object"},
      {R"({"_type":"uniform","_value":["0",1]})",
       "search_space.lr._value[0]: must be a number, not a string"},
      {R"({"_type":"uniform","_value":[0,true]})",
       "search_space.lr._value[1]: must be a number, not a boolean"},
      {R"({"_type":"uniform","_value":[0,NaN]})",
       "search_space.lr._value[1]: must be a finite number"},
      {R"({"_type":"uniform","_value":[0,1e400]})",
       "search_space.lr._value[1]: must be a finite number"},
      {R"({"_type":"uniform","_value":[-1e308,1e308]})",
       "search_space.lr._value: high - low is too large for a double"},
      {R"({"_type":"loguniform","_value":[0,1]})",
       "search_space.lr._value: low must be above 0 on a logarithmic scale"},
      {R"({"_type":"qloguniform","_value":[-1,1,1]})",
       "search_space.lr._value: low must be above 0 on a logarithmic scale"},
      {R"({"_type":"quniform","_value":[0,1,0]})", "search_space.lr._value: q must be above 0"},
      {R"({"_type":"qnormal","_value":[0,1,-2]})", "search_space.lr._value: q must be above 0"},
      {R"({"_type":"normal","_value":[0,-1]})",
       "search_space.lr._value: sigma must not be negative"},
      {R"({"_type":"randint","_value":[0,0]})", "search_space.lr._value: upper must exceed lower"},
      {R"({"_type":"randint","_value":[0.5,2]})",
       "search_space.lr._value[0]: must be an integer, not 0.5"},
      {R"({"_type":"randint","_value":[0,9007199254740992]})",
       "search_space.lr._value[1]: magnitude must be below 2^53"},
      {R"({"_type":"choice","_value":[]})", "search_space.lr._value: needs at least one candidate"},
      {R"({"_type":"choice","_value":"abc"})",
       "search_space.lr._value: must be a list of candidates, not a string"},
      {R"({"_type":"choice","_value":[1,[{"a":NaN}]]})",
       "search_space.lr._value[1]: NaN and infinities cannot be written to a trial"},
      {R"({"_type":"choice","_value":[{"_name":"a"},{"_name":"b"},{"_name":"a"}]})",
       R"(search_space.lr[2]._name: "a" is the name of an earlier option)"},
      {R"({"_type":"choice","_value":[{"_name":"a","k":3}]})",
       "search_space.lr[0].k: must be an object with _type and _value, not an integer"},
      {R"({"_type":"choice","_value":[{"_name":"a"},{"_name":"b",
          "k":{"_type":"choice","_value":[{"_name":"c","m":{"_type":"randint","_value":[2,1]}}]}}]})",
       "search_space.lr[1].k[0].m._value: upper must exceed lower"},
      {R"({"_type":"input_choice","_value":["a"]})",
       R"(search_space.lr._value: input_choice takes {"candidates": [candidate, ...], "n_chosen": k})"},
      {R"({"_type":"input_choice","_value":{"candidates":[],"n_chosen":1}})",
       "search_space.lr._value.candidates: needs at least one candidate"},
      {R"({"_type":"input_choice","_value":{"candidates":["a","b"],"n_chosen":3}})",
       "search_space.lr._value.n_chosen: must be an integer from 1 to 2"},
      {R"({"_type":"input_choice","_value":{"candidates":["a","b"],"n_chosen":0}})",
       "search_space.lr._value.n_chosen: must be an integer from 1 to 2"},
  }));
  CAPTURE(row.spec);
  CHECK(error_of_domain(row.spec) == row.error);
}

TEST_CASE("all mistakes are found, one of each parameter, with their place in the document") {
  const json given = parse_json(R"({
    "lr": {"_type": "unifrom", "_value": []},
    "good": {"_type": "uniform", "_value": [0, 1]},
    "layer": {"_type": "choice", "_value": [
      {"_name": "a", "k": {"_type": "uniform", "_value": [0, "x"]}},
      {"_name": "a", "k": {"type": "uniform", "_value": [0, 1]}}]},
    "odd": {"_type": "choise", "_value": [{"_name": "a", "k": 3}]}})")
                         .value();
  std::vector<SpaceFlaw> flaws;
  const Space space = parse_space(given, flaws);
  std::vector<std::string> places, paths, names;
  for (const SpaceFlaw& flaw : flaws) {
    places.push_back(flaw.place);
    paths.push_back(flaw.path);
    CHECK_FALSE(flaw.message.empty());
  }
  CHECK(places == std::vector<std::string>{"lr._type", "layer._value[1]._name",
                                           "layer._value[0].k._value[1]", "layer._value[1].k._type",
                                           "odd._type", "odd._value[0].k"});
  CHECK(paths[2] == "search_space.layer[0].k._value[1]");
  CHECK(flaws[3].message.find("\"type\" is written _type") != std::string::npos);
  // Their names are known.
  for (const Param& param : space.params) names.push_back(param.path);
  CHECK(names == std::vector<std::string>{"lr", "good", "layer", "layer[0].k", "layer[1].k", "odd",
                                          "odd[0].k"});
  CHECK(parse_space(given).error().message.starts_with("search_space.lr._type: unknown type"));
}

TEST_CASE("what is not an object is not a space") {
  CHECK(error_of("[]") == "search_space: must be an object, not an array");
  CHECK(error_of("null") == "search_space: must be an object, not null");
}

TEST_CASE("sizes are bounded") {
  json many = json::object();
  for (int i = 0; i <= 10'000; ++i) {
    many.get_ref<json::object_t&>().emplace_back("p" + std::to_string(i),
                                                 json{{"_type", "uniform"}, {"_value", {0, 1}}});
  }
  CHECK(parse_space(many).error().message ==
        "search_space.p10000: at most 10000 parameters are possible");
  many.erase("p10000");
  CHECK(parse_space(many)->params.size() == 10'000);

  json wide = {{"x", {{"_type", "choice"}, {"_value", json::array()}}}};
  for (int i = 0; i <= 100'000; ++i) wide["x"]["_value"].push_back(i);
  CHECK(parse_space(wide).error().message ==
        "search_space.x._value: 100001 candidates; at most 100000 are possible");

  json subset = {{"candidates", json::array()}, {"n_chosen", 1}};
  for (int i = 0; i < 53; ++i) subset["candidates"].push_back(i);
  CHECK(parse_space({{"x", {{"_type", "input_choice"}, {"_value", subset}}}}).error().message ==
        "search_space.x._value.candidates: 53 candidates; at most 52 are possible");
}

TEST_CASE("deep nesting, up to what parse_json lets through") {
  std::string text = R"({"_type":"uniform","_value":[0,1]})";
  for (int depth = 0; depth < 80; ++depth) {
    text = R"({"_type":"choice","_value":[{"_name":"a","x":)" + text + "}]}";
  }
  const Space space = space_of("{\"x\":" + text + "}");
  CHECK(space.params.size() == 81);
  CHECK_FALSE(point_count(space));
}

TEST_CASE("a default and a prior are values of their parameter") {
  const Space space = space_of(R"({"x":{"_type":"uniform","_value":[0,1],"_default":1,
      "_prior":{"_value":0.25,"_sure":0.5}},"c":{"_type":"choice","_value":["a",1.0],"_default":1,
      "_prior":{"_value":"a"}},"n":{"_type":"uniform","_value":[0,1],"_note":"ignored"}})");
  CHECK(space.params[0].default_value == 1);
  CHECK(space.params[0].prior == Prior{0.25, 0.5});
  CHECK(space.params[1].default_value == 1);
  CHECK(space.params[1].prior == Prior{0, 0.7});
  CHECK(!space.params[2].default_value);
  CHECK(!space.params[2].prior);
}

TEST_CASE("mistakes in what the user knows") {
  const auto error = [](const std::string& members) {
    return error_of_domain(R"({"_type":"uniform","_value":[0,1],)" + members + "}");
  };
  CHECK(error(R"("_default":2)") == "search_space.lr._default: 2 is outside of [0, 1]");
  CHECK(error(R"("_default":"a")") ==
        "search_space.lr._default: must be a finite number, not \"a\"");
  CHECK(error(R"("_defualt":0)") == "search_space.lr._defualt: did you mean \"_default\"?");
  CHECK(error(R"("_priors":0)") == "search_space.lr._priors: did you mean \"_prior\"?");
  CHECK(error(R"("_prior":0.5)") ==
        "search_space.lr._prior: must be {\"_value\": ..., \"_sure\": 0.7}, not a number");
  CHECK(error(R"("_prior":{"_sure":0.5})") ==
        "search_space.lr._prior._value: missing; it is the value you prefer");
  CHECK(error(R"("_prior":{"_value":-1})") ==
        "search_space.lr._prior._value: -1 is outside of [0, 1]");
  const std::string sure =
      "search_space.lr._prior._sure: must be a probability between 0 and 1, such as 0.7";
  CHECK(error(R"("_prior":{"_value":1,"_sure":1})") == sure);
  CHECK(error(R"("_prior":{"_value":1,"_sure":0})") == sure);
  CHECK(error(R"("_prior":{"_value":1,"_sure":NaN})") == sure);
  CHECK(error(R"("_prior":{"_value":1,"_sure":"very"})") == sure);
  CHECK(error(R"("_prior":{"_value":1,"sure":0.9})") ==
        "search_space.lr._prior: unknown key \"sure\"; known are _value and _sure");
  CHECK(error_of_domain(R"({"_type":"choice","_value":["a","b"],"_default":"c"})") ==
        R"(search_space.lr._default: "c" is not a candidate; candidates: "a", "b")");
  CHECK(error_of(R"({"o":{"_type":"choice","_value":[{"_name":"u"},{"_name":"v","k":)"
                 R"({"_type":"randint","_value":[0,3],"_default":3}}],"_default":"u"}})") ==
        "search_space.o[1].k._default: 3 is outside of [0, 3)");
  CHECK(error_of(R"({"o":{"_type":"choice","_value":[{"_name":"u"}],"_default":"w"}})") ==
        R"(search_space.o._default: "w" is not a candidate; candidates: "u")");
  const std::string inputs =
      R"({"_type":"input_choice","_value":{"candidates":["a","b"],"n_chosen":2},)";
  CHECK(error_of_domain(inputs + R"("_prior":{"_value":["a","b"]}})") ==
        "search_space.lr._prior: an input_choice can have none");
  CHECK(error_of_domain(inputs + R"("_default":["a"]})") ==
        "search_space.lr._default: must be a list of 2 candidates");
  CHECK(error_of_domain(inputs + R"("_default":["a","a"]})") ==
        "search_space.lr._default: has \"a\" twice");
}

}  // namespace attune::parse_test
