#include "conformance/tuner_states.h"

#include <optional>

#include "conformance/damaged.h"
#include "conformance/experiment.h"

namespace attune::conformance {

void restored_anywhere(const TunerSubject& subject, const Space& space, Findings& findings) {
  Experiment original(subject, space, findings);
  const int after = subject.turns(6, 2);
  for (const int turns : {0, 1, 5, 8, 10, 12}) {
    original.turns(subject.turns(turns, turns / 3));
    Experiment copy = original.restored();
    const auto expected = original.turns(after);
    findings.expect_same(copy.turns(after), expected, "the same answers as without the restart");
  }
}

void declined_changes_nothing(const TunerSubject& subject, const Space& space, Findings& findings) {
  Experiment experiment(subject, space, findings);
  experiment.turns(subject.turns(30, 8));
  std::optional<Experiment> untouched;
  if (subject.entry.saves) {
    untouched = experiment.restored();
  } else {
    findings.skip(kDoesNotSave);
  }
  for (const TestSpace* other : subject.declined) {
    findings.expect(!experiment.tuner().set_space(other->space),
                    "that it declines search space \"" + other->name + "\" again",
                    [] { return "it is accepted"; });
  }
  const int turns = subject.turns(10, 3);
  const auto answers = experiment.turns(turns);
  if (untouched) {
    findings.expect_same(answers, untouched->turns(turns),
                         "the same answers as without the declined spaces");
  }
}

void damaged_states(const TunerSubject& subject, const Space& space, Findings& findings) {
  Experiment experiment(subject, space, findings);
  experiment.turns(30);
  const json good = experiment.tuner().save();
  expect_damage_is_refused(
      good, [&](const json& damaged) { return experiment.tuner().load(damaged).has_value(); },
      {json("x"), json(1.5), json::array({"x"}), json()}, findings);
  findings.expect_same(saved(experiment.tuner()), dump_json(good),
                       "the same state after the damaged ones");
}

}  // namespace attune::conformance
