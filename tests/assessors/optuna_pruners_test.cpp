// The decisions of Optuna's own pruners, recorded (tests/data/optuna_pruners.json).
#include <limits>

#include "tests/support/assessor_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {
extern const AssessorEntry percentile_entry, threshold_entry, patient_entry, wilcoxon_entry;
}

namespace attune::optuna_pruners_test {

double number(const json& value) {
  if (value.is_number()) return value;
  const double infinity = std::numeric_limits<double>::infinity();
  if (value == "inf") return infinity;
  if (value == "-inf") return -infinity;
  REQUIRE(value == "nan");
  return std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("Percentile, Threshold, Patient, Wilcoxon: the decisions are those of Optuna") {
  const json recorded = read_trace(ATTUNE_TEST_DATA "/optuna_pruners.json");
  std::map<std::string, int> decisions, stops;
  for (const json& script : recorded["scripts"]) {
    const std::string name = script["pruner"];
    AssessorFeed feed(name == "Percentile"  ? percentile_entry
                      : name == "Threshold" ? threshold_entry
                      : name == "Patient"   ? patient_entry
                                            : wilcoxon_entry,
                      script["args"]);
    CAPTURE(name, script["args"].dump());
    for (const json& call : script["calls"]) {
      CAPTURE(call.dump());
      const TrialId trial = call[0];
      if (call.size() == 2) {
        feed.end(trial, call[1].get<bool>() ? End::completed : End::failed);
        continue;
      }
      const Decision decision = call[1].is_null() ? feed.metrics(trial, {{"other", 1}})
                                                  : feed.value(trial, number(call[1]));
      REQUIRE((decision.action == Action::stop) == call[2].get<bool>());
      ++decisions[name];
      stops[name] += call[2].get<bool>();
    }
  }
  for (const char* name : {"Percentile", "Threshold", "Patient", "Wilcoxon"}) {
    CAPTURE(name);
    CHECK(decisions[name] > 600);
    CHECK(stops[name] > 30);
  }
}

}  // namespace attune::optuna_pruners_test
