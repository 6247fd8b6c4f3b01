#include "conformance/tuner_checks.h"

#include "conformance/earlier_checks.h"
#include "conformance/experiment.h"
#include "conformance/tuner_states.h"

namespace attune::conformance {
namespace {

void answers_lie_in_the_space(const TunerSubject& subject, const Space& space, Findings& findings) {
  Experiment experiment(subject, space, findings);
  const int most = subject.turns(60, 20);
  for (int i = 0; i < most && !experiment.exhausted(); ++i) {
    const std::vector<std::string> answers = experiment.turn();
    if (i == 0) {
      findings.expect(answers.front() != "exhausted", "a first answer that is not \"exhausted\"",
                      [] { return "\"exhausted\""; });
    }
  }
  if (experiment.exhausted()) experiment.turns(10);  // the experiment demands that it stays so
}

void same_seed_same_answers(const TunerSubject& subject, const Space& space, Findings& findings) {
  const int turns = subject.turns(40, 15);
  const auto answers = Experiment(subject, space, findings).turns(turns);
  findings.expect_same(Experiment(subject, space, findings).turns(turns), answers,
                       "the same answers from the same seed and calls");
}

void batches_of_every_size(const TunerSubject& subject, const Space& space, Findings& findings) {
  Experiment experiment(subject, space, findings);
  for (const std::size_t n : {0u, 1u, 2u, 7u, 30u, 64u, 0u}) experiment.ask(n);
}

void very_many_requests(const TunerSubject& subject, const Space& space, Findings& findings) {
  if (space.params.size() > 2) return;  // more of the same, and slow without optimisation
  Experiment experiment(subject, space, findings);
  experiment.turns(10);
  for (int i = 0; i < subject.turns(20, 2); ++i) experiment.ask(50);
}

void very_many_running(const TunerSubject& subject, const Space& space, Findings& findings) {
  if (space.params.size() > 1) return;  // the number of trials matters here
  Experiment experiment(subject, space, findings);
  experiment.turns(subject.turns(10, 4));
  experiment.adopt(1500);
  experiment.ask(static_cast<std::size_t>(subject.turns(200, 3)));
  if (!subject.entry.saves) {
    findings.skip(kDoesNotSave);
    experiment.end_all_but(5);
    experiment.ask(2);
    return;
  }
  Experiment copy = experiment.restored();
  experiment.end_all_but(5);
  copy.end_all_but(5);
  findings.expect_same(copy.ask(2), experiment.ask(2), "the same answers as without the restart");
  findings.expect_same(saved(copy.tuner()), saved(experiment.tuner()),
                       "the same state as without the restart");
}

// The number of answers before the tuner is exhausted, at most 30.
TrialId count_until_exhausted(Tuner& tuner, Findings& findings) {
  for (TrialId id = 0; id < 30; ++id) {
    const std::vector<Answer> answers = tuner.ask(std::vector{id});
    findings.require(answers.size() == 1, "1 answer",
                     [&] { return std::to_string(answers.size()); });
    if (std::holds_alternative<Exhausted>(answers[0])) return id;
  }
  return 30;
}

void set_space_forgets(const TunerSubject& subject, const Space& space, Findings& findings) {
  const auto tuner = subject.make(findings);
  const auto set = [&](const Space& next) {
    const auto done = tuner->set_space(next);
    findings.require(done.has_value(), "that it accepts the space again",
                     [&] { return done.error().message; });
  };
  set(space);
  const TrialId first = count_until_exhausted(*tuner, findings);
  set(space);
  const TrialId again = count_until_exhausted(*tuner, findings);
  if (subject.entry.saves) {
    findings.expect(again == first, std::to_string(first) + " answers before it is exhausted again",
                    [&] { return std::to_string(again); });
  } else {
    findings.skip(kDoesNotSave);
  }
  for (const TestSpace* other : subject.accepted) {
    set(other->space);
    const std::vector<Answer> answers = tuner->ask(std::vector<TrialId>{100, 101});
    const auto* proposal = answers.empty() ? nullptr : std::get_if<Proposal>(&answers[0]);
    findings.require(proposal, "a proposal on search space \"" + other->name + "\"",
                     [] { return "another answer"; });
    const std::size_t count = proposal->point.values.size();
    findings.expect(count == other->space.params.size(),
                    std::to_string(other->space.params.size()) + " values of a point on \"" +
                        other->name + "\"",
                    [&] { return std::to_string(count); });
  }
}

}  // namespace

const std::vector<TunerCheck>& tuner_checks() {
  static const std::vector<TunerCheck> all = {
      {.name = "answers lie in the space, and exhausted is for ever",
       .demand = "Each proposal is a point of the search space, its parameters can be read back, "
                 "it resumes only what was paused, each stop has a reason, and after \"exhausted\" "
                 "nothing else comes, however trials end.",
       .run = answers_lie_in_the_space},
      {.name = "same seed and calls, same answers",
       .demand = "Two instances with the same seed that hear the same give the same answers.",
       .exact = true,
       .run = same_seed_same_answers},
      {.name = "saved and loaded anywhere, the next answers are the same",
       .demand = "At any moment a new instance that loads the saved state, whatever its seed, goes "
                 "on as the saved one does, and saves the same state.",
       .exact = true,
       .run = restored_anywhere},
      {.name = "batches of every size",
       .demand = "For 0 to 64 ids at once there is one answer per id.",
       .run = batches_of_every_size},
      {.name = "very many requests without a result",
       .demand = "A thousand proposals in a row are answered although no trial ends.",
       .run = very_many_requests},
      {.name = "with more trials running than a model looks at",
       .demand = "1,500 trials that it did not propose run and end without harm.",
       .run = very_many_running},
      {.name = "set_space forgets everything",
       .demand = "A second search space is searched as if it were the first one.",
       .run = set_space_forgets},
      {.name = "a space that is declined changes nothing",
       .demand = "A search space that the tuner declines is an error, and the tuner goes on with "
                 "the one before.",
       .run = declined_changes_nothing},
      {.name = "damaged states are errors and change nothing",
       .demand =
           "A state that could not have been saved is an error of load(), and the tuner stays "
           "as it was.",
       .exact = true,
       .run = damaged_states},
      {.name = "what earlier experiments found does no harm",
       .demand = "From results of any size, with parameters missing, come first trials that are "
                 "points of the search space, the same each time, and a saved tuner that heard the "
                 "same goes on as if nothing had happened.",
       .run = earlier_experiments},
  };
  return all;
}

Findings run_check(const TunerCheck& check, const TunerSubject& subject) {
  Findings findings;
  if (check.exact && !subject.entry.saves) {
    findings.skip(kDoesNotSave);
    return findings;
  }
  for (const TestSpace* one : subject.checked) {
    findings.enter("search space \"" + one->name + "\"");
    findings.attempt([&] { check.run(subject, one->space, findings); });
  }
  return findings;
}

}  // namespace attune::conformance
