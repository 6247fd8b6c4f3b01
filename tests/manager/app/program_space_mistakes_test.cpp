// Mistakes in search spaces: those of all parameters are said at once, each at its place, and
// nothing is made.
#include "tests/manager/app/mistakes.h"

namespace attune::program_space_mistakes_test {

TEST_CASE("attune run: mistakes in the search space") {
  const std::string command = "trialCommand: run\n";
  const Mistake mistake = GENERATE_COPY(values<Mistake>({
      {"of several parameters",
       command + "searchSpace:\n"
                 "  lr: {_type: unifrom, _value: [0, 1]}\n"
                 "  depth: {_type: randint, _value: [1, 8.5]}\n"
                 "  width:\n"
                 "    _type: quniform\n"
                 "    _value: [0, 1]\n",
       {"e.yaml:3:8: searchSpace.lr._type: unknown type \"unifrom\"; did you mean \"uniform\"?",
        "e.yaml:4:39: searchSpace.depth._value[1]: must be an integer, not 8.5",
        "e.yaml:7:5: searchSpace.width._value: quniform takes [low, high, q], not a list of 2"}},
      {"keys that are not written so",
       command + "searchSpace:\n  lr: {type: uniform, _value: [0, 1]}\n"
                 "  depth: {_type: randint, _values: [1, 8]}\n",
       {"e.yaml:3:3: searchSpace.lr._type: missing; write {\"_type\": ..., \"_value\": ...}; "
        "\"type\" is written _type",
        "e.yaml:4:3: searchSpace.depth._value: missing; write {\"_type\": ..., \"_value\": ...}; "
        "\"_values\" is written _value"}},
      {"in an option of a nested choice",
       command + "searchSpace:\n"
                 "  optimizer:\n"
                 "    _type: choice\n"
                 "    _value:\n"
                 "      - _name: sgd\n"
                 "        momentum: {_type: uniform, _value: [1, 0]}\n"
                 "      - {_name: adam, beta: {_type: loguniform, _value: [0, 1]}}\n"
                 "      - _name: sgd\n",
       {"e.yaml:7:36: searchSpace.optimizer._value[0].momentum._value: high must exceed low",
        "e.yaml:8:49: searchSpace.optimizer._value[1].beta._value: low must be above 0 on a "
        "logarithmic scale",
        "e.yaml:9:9: searchSpace.optimizer._value[2]._name: \"sgd\" is the name of an earlier"}},
      {"a parameter that is wrong has its name all the same",
       "trialCommand: run {lr} {optimizer.beta}\n"
       "constraints: ['lr < 0.5']\n"
       "initialPoints: [{lr: 5}]\n"
       "searchSpace:\n"
       "  lr: {_type: loguniform, _value: [0.1, 0.01]}\n"
       "  optimizer:\n"
       "    _type: choise\n"
       "    _value: [{_name: adam, beta: {_type: uniform, _value: [0, 1]}}]\n",
       {"e.yaml:5:27: searchSpace.lr._value: high must exceed low",
        "e.yaml:7:5: searchSpace.optimizer._type: unknown type \"choise\"; did you mean "
        "\"choice\"?"}},
      {"values that are none",
       command + "searchSpace:\n"
                 "  a: {_type: choice, _value: []}\n"
                 "  b: {_type: choice, _value: relu}\n"
                 "  c: {_type: choice, _value: [1, .nan]}\n"
                 "  d: {_type: uniform, _value: [0, many]}\n"
                 "  e: [0, 1]\n",
       {"e.yaml:3:22: searchSpace.a._value: needs at least one candidate",
        "e.yaml:4:22: searchSpace.b._value: must be a list of candidates, not a string",
        "e.yaml:5:34: searchSpace.c._value[1]: NaN and infinities cannot be written to a trial",
        "e.yaml:6:35: searchSpace.d._value[1]: must be a number, not a string",
        "e.yaml:7:3: searchSpace.e: must be an object with _type and _value, not an array"}},
      {"numbers that cannot be",
       command + "searchSpace:\n"
                 "  a: {_type: normal, _value: [0, -1]}\n"
                 "  b: {_type: qlognormal, _value: [0, 1, 0]}\n"
                 "  c: {_type: randint, _value: [3, 3]}\n"
                 "  d: {_type: input_choice, _value: {candidates: [a, b], n_chosen: 3}}\n",
       {"e.yaml:3:22: searchSpace.a._value: sigma must not be negative",
        "e.yaml:4:26: searchSpace.b._value: q must be above 0",
        "e.yaml:5:23: searchSpace.c._value: upper must exceed lower",
        "e.yaml:6:57: searchSpace.d._value.n_chosen: must be an integer from 1 to 2"}},
      {"constraints",
       command + "searchSpace: {lr: {_type: uniform, _value: [0, 1]}}\n"
                 "constraints:\n  - lr < 0.5\n  - lrr < 1\n  - lr = 1\n  - 5\n",
       {"e.yaml:7:5: constraints[3]: a text expected, not an integer (5)"}},
      {"several constraints",
       command + "searchSpace: {lr: {_type: uniform, _value: [0, 1]}}\n"
                 "constraints:\n  - lr < 0.5\n  - lrr < 1\n  - lr = 1\n",
       {"e.yaml:5:5: constraints[1]: \"lrr < 1\": unknown parameter \"lrr\" at position 0; did you "
        "mean \"lr\"?",
        "e.yaml:6:5: constraints[2]: \"lr = 1\": \"=\" at position 3 assigns; equality is"}},
      {"no space, and both",
       command + "searchSpaceFile: none.yaml\nsearchSpace: {}\n",
       {"e.yaml:2:1: searchSpaceFile: exactly one of searchSpace and searchSpaceFile is needed"}},
      {"no object",
       command + "searchSpace: [lr]\n",
       {"e.yaml:2:1: searchSpace: an object expected, not an array"}},
      {"that only the tuner minds",
       command + "tuner: {name: Batch}\nsearchSpace: {lr: {_type: uniform, _value: [0, 1]}}\n",
       {"e.yaml:3:1: searchSpace: "}},
  }));
  check_mistake(mistake);
}

TEST_CASE("attune run: mistakes in a search space of its own file") {
  const std::string command = "trialCommand: run {lr} {rate}\nseed: x\n";
  const std::string placeholder =
      "e.yaml:1:1: trialCommand: {rate} is no parameter; the search space has depth, lr";
  const std::string seed = "e.yaml:2:1: seed: a whole number expected";
  SECTION("in YAML") {
    check_mistake(
        {"",
         command + "searchSpaceFile: space.yaml\n",
         {placeholder, seed, "space.yaml:1:22: lr._value: uniform takes",
          "space.yaml:3:3: depth._type: unknown type"}},
        {{"space.yaml",
          "lr: {_type: uniform, _value: [0]}\ndepth:\n  _type: intt\n  _value: [1, 8]\n"}});
  }
  SECTION("in what is no JSON") {
    check_mistake(
        {"",
         "trialCommand: run\nsearchSpaceFile: space.json\nseed: x\n",
         {"e.yaml:3:1: seed: a whole number expected", "space.json:3:9: invalid JSON at byte 54"}},
        {{"space.json",
          "{\n  \"lr\": {\"_type\":\"uniform\",\"_value\":[0, 1]}\n"
          "  \"depth\": {\"_type\": \"randint\", \"_value\": [1, 8]}\n}\n"}});
  }
  SECTION("in JSON") {
    check_mistake(
        {"",
         command + "searchSpaceFile: space.json\n",
         {placeholder, seed, "space.json:2:28: lr._value: uniform takes [low, high], not a list",
          "space.json:3:13: depth._type: unknown type \"intt\""}},
        {{"space.json",
          "{\n  \"lr\": {\"_type\":\"uniform\",\"_value\":[0]},\n"
          "  \"depth\": {\"_type\": \"intt\", \"_value\": [1, 8]}\n}\n"}});
  }
  SECTION("that is no YAML") {
    check_mistake({"",
                   command + "searchSpaceFile: space.yaml\n",
                   {seed, "space.yaml:2:1: a tab; YAML indents with spaces only"}},
                  {{"space.yaml", "lr:\n\t_type: uniform\n"}});
  }
  SECTION("that is no JSON") {
    check_mistake({"", command + "searchSpaceFile: space.json\n", {seed, "space.json:1:9: "}},
                  {{"space.json", "{\"lr\": {]}"}});
  }
  SECTION("that is not there") {
    check_mistake(
        {"", command + "searchSpaceFile: space.json\n", {seed, "e.yaml:3:1: searchSpaceFile: "}});
  }
}

}  // namespace attune::program_space_mistakes_test
