// Every registered tuner and assessor, saved and loaded anywhere: what tests/support/exact_state.h
// asks of them they get for their word in the registry.
#include <algorithm>

#include "tests/support/exact_state.h"

namespace attune::exact_state_algorithms_test {

using namespace exact_state;

struct Family {  // of spaces, for tuners that do not take every one
  std::string space, other;
  std::string inside;   // a configuration of both
  std::string outside;  // one of the first only
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {R"({"x":{"_type":"uniform","_value":[0,1]},"n":{"_type":"choice","_value":[1,2,NaN,"a"]}})",
       R"({"x":{"_type":"uniform","_value":[0,0.7]},"n":{"_type":"choice","_value":["a",2,1]}})",
       R"({"x":0.5,"n":2})", R"({"x":0.9,"n":2})"},
      // Only what the user knows changes.
      {R"({"x":{"_type":"uniform","_value":[0,1],"_default":0.25},
           "k":{"_type":"randint","_value":[0,9],"_prior":{"_value":3}}})",
       R"({"x":{"_type":"uniform","_value":[0,1],"_default":0.7,"_prior":{"_value":0.8}},
           "k":{"_type":"randint","_value":[0,9]}})",
       R"({"x":0.5,"k":2})", R"({"x":0.9,"k":4})"},
      {R"({"k":{"_type":"randint","_value":[0,4]},"c":{"_type":"choice","_value":["a","b",
           {"_name":"d","deep":{"_type":"randint","_value":[0,3]}}]}})",
       R"({"k":{"_type":"randint","_value":[1,9]},"c":{"_type":"choice","_value":["b","a","e"]}})",
       R"({"k":2,"c":"b"})", R"({"k":0,"c":"b"})"},
      {R"({"all":{"_type":"choice","_value":[{"a":1},{"a":2},{"a":3},{"a":4},{"a":5},{"a":6},
           {"a":7},{"a":8},{"a":9},{"a":1},{"a":11},{"a":12},{"a":13},{"a":14},{"a":15}]}})",
       R"({"all":{"_type":"choice","_value":[{"a":1},{"a":2},{"a":20},{"a":21}]}})", R"({"a":2})",
       R"({"a":4})"}};
  return all;
}

// Commands of every kind, as a manager under plain NNI sends them, and as it should not.
Script every_kind(const Family& family) {
  const auto record = [&](const std::string& parameter, const std::string& more) {
    return R"({"parameter":)" + parameter + "," + more + "}";
  };
  Script script = {{"GE", "1"},  // before there is a space
                   metric("REQUEST_PARAMETER", nullptr, "early", ""),
                   {"IN", family.space},
                   {"GE", "4"},
                   {"PI", "token"}};
  for (int step = 0; step < 3; ++step) {
    for (int id : {0, 2, 3, 4}) {
      script.push_back(metric("PERIODICAL", id, "J" + std::to_string(id),
                              std::to_string(1.0 / (step + id + 1)), step));
    }
  }
  const Script more = {
      metric("PERIODICAL", 2, "J2", R"({"default": 0.3, "loss": NaN})", 5),  // beyond a gap
      metric("FINAL", 0, "J0", R"({"default": 0.4, "time": 7})"),
      end("J0", 0),
      metric("FINAL", 2, "J2", "Infinity"),
      end("J2", 2, "FAILED"),
      {"GE", "2"},
      metric("PERIODICAL", nullptr, "own", "0.1"),
      metric("PERIODICAL", nullptr, "own", "0.2", 2),
      metric("PERIODICAL", "text", "other", "0.2"),
      metric("REQUEST_PARAMETER", 3, "J3", ""),
      metric("FINAL", 3, "J3", "0.25"),
      metric("FINAL", 7, "J3", "0.125"),
      end("J3", 3, "SYS_CANCELED"),
      {"FD", "[" + record(family.inside, R"("value":"0.75")") + "," +
                 record(family.inside, R"("value":"0.5","trialJobId":"J4")") + "," +
                 record(family.outside, R"("value":"nonsense")") + "]"},
      {"AD", R"({"parameter_id":null,"parameter_source":"customized","parameters":)" +
                 family.inside + "}"},
      {"AD",
       R"([{"parameter_id":30,"parameter_source":"resumed","parameters":)" + family.outside + "}]"},
      metric("PERIODICAL", 4, "J4", "0.9", 3),
      {"GE", "3"},
      end("J4", 4, "EARLY_STOPPED"),
      {"SS", family.other},
      {"GE", "2"},
      metric("FINAL", 31, "J31", "0.6"),
      end("J31", 31),
      end("J32", 33, "USER_CANCELED"),           // names another trial
      metric("PERIODICAL", 33, "J33", "0.125"),  // which this one is
      metric("PERIODICAL", 33, "J33", "0.25", 2),
      metric("FINAL", 33, "J33", "0.25"),
      end("J33", 32, "NO SUCH EVENT"),
      {"SS", R"({"x":{"_type":"nonsense","_value":[]}})"},
      metric("FINAL", 34, "", "0.3"),
      end("J34", 34),
      {"FD", "[" + record(family.inside, R"("value":"0.75")") + "," +
                 record(family.inside, R"("value":"0.1","trialJobId":"new")") + "]"},
      metric("PERIODICAL", 35, "J35", "0.5", 0),
      metric("PERIODICAL", 35, "J35", "0.4", 1),
      metric("PERIODICAL", 35, "J35", "0.4", 1),
      metric("PERIODICAL", 35, "J35", "0.6", 2),
      metric("FINAL", 35, "J35", "0.6"),
      {"GE", "3"},
      {"SS", family.space},
      {"GE", "5"},
      end("own", nullptr),
      {"nonsense", ""},
      {"GE", "20"},
      end("J35", 35),
      {"GE", "2"}};
  script.insert(script.end(), more.begin(), more.end());
  return script;
}

// What makes an algorithm do what it is for within so few trials, and so little time.
json settings(const std::string& name) {
  if (name == "TPE") return {{"tpe_args", {{"n_startup_jobs", 2}}}};
  if (name == "Evolution") return {{"population_size", 3}};
  if (name == "Anneal") return {{"parallel_optimize", true}, {"constant_liar_type", "mean"}};
  if (name == "Curvefitting") return {{"epoch_num", 4}, {"start_step", 1}};
  if (name == "PBT") return {{"population_size", 2}};
  if (name == "PopulationBasedTraining" || name == "PB2") {
    return {{"population_size", 3}, {"perturbation_interval", 1}};
  }
  if (name == "DNGO") return {{"num_epochs_per_training", 10}, {"sample_size", 50}};
  return json::object();
}

bool accepts(const TunerEntry& entry, const std::string& space) {
  const auto daemon = Stepped::make(entry.name, settings(entry.name));
  daemon->send("IN", space);
  return daemon->exit_code == kExitOk;
}

// Of every third tuner from number `first` on: all of them in one test are minutes under a
// sanitizer.
void check_every_third(std::size_t first) {
  const TunerRegistry tuners = builtin_tuners();
  const AssessorRegistry assessors = builtin_assessors();
  std::vector<std::string> judges = {""};
  for (const AssessorEntry& entry : assessors.entries()) judges.push_back(entry.name);
  for (std::size_t k = first; k < tuners.entries().size(); k += 3) {
    const TunerEntry& entry = tuners.entries()[k];
    std::vector<Family> accepted;
    for (const Family& family : families()) {
      if (accepts(entry, family.space)) accepted.push_back(family);
    }
    CAPTURE(entry.name);
    REQUIRE_FALSE(accepted.empty());
    // Each family once, beside the next assessor: a script is replayed from every one of its
    // commands, so that all pairs would be minutes. There are more tuners than assessors.
    for (std::size_t i = 0; i < accepted.size(); ++i) {
      const std::string& judge = judges[(k / 3 + i * 5 + first * 7) % judges.size()];
      const Family& family = accepted[i];
      CAPTURE(judge, family.space);
      DispatcherOptions options;
      options.capabilities.sync = true;
      options.include_intermediate = true;
      const std::string answers = check_everywhere(
          [&] {
            return Stepped::make(entry.name, settings(entry.name), judge, settings(judge), options);
          },
          every_kind(family));
      for (const char* code : {"ID", "TR", "SP", "PO"}) CHECK(answers.find(code) != answers.npos);
    }
  }
}

TEST_CASE("exact state: a third of the tuners beside an assessor") { check_every_third(0); }

TEST_CASE("exact state: a second third of the tuners beside an assessor") { check_every_third(1); }

TEST_CASE("exact state: the last third of the tuners beside an assessor") { check_every_third(2); }

}  // namespace attune::exact_state_algorithms_test
