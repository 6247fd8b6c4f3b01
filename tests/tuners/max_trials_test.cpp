// What becomes of an experiment when it has had all its trials (maxTrialNumber), whatever the
// tuner: paused trials may still go on, new ones are declined, and some trial gets a result.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "conformance/spaces.h"
#include "tuners/registry.h"

namespace attune::max_trials_test {

constexpr int kFull = 9;  // epochs of a full training

// Full trainings have kFull epochs for every tuner that must be told.
json arguments_of(const TunerEntry& entry) {
  json arguments = json::object();
  for (const Argument& argument : entry.arguments) {
    for (const char* const name : {"max_t", "R", "max_budget"}) {
      if (argument.name == name) arguments[name] = kFull;
    }
  }
  return arguments;
}

// A manager with three slots. Trials report after each epoch, and end by themselves when they are
// trained in full, or at their budget if the manager cannot pause them.
class Manager {
 public:
  Manager(const TunerEntry& entry, const Space& space, int most, bool pauses)
      : most_(most), pauses_(pauses) {
    Context context{.max_trials = most, .concurrency = 3, .objectives = {}, .pauses = pauses};
    auto made = make_tuner(builtin_tuners(), entry.name, arguments_of(entry), context, 1);
    if (!made) FAIL(made.error().message);
    tuner_ = std::move(made->tuner);
    wants_reports_ = made->wants_reports;
    REQUIRE(tuner_->set_space(space));
  }

  void raise(int most) {
    most_ = most;
    exhausted_ = false;
  }

  // Until nothing is left to do. Fails if that does not come.
  void run() {
    for (int turn = 0; turn < 5000; ++turn) {
      while (running() < 3 && ask()) {
      }
      if (running() == 0) return;
      train();
    }
    FAIL("the experiment does not end");
  }

  int results() const { return results_; }
  int added() const { return added_; }
  int declined() const { return declined_; }
  int paused() const { return static_cast<int>(trials_.size()) - running(); }

 private:
  static constexpr int kMostDeclined = 1000;  // in a row, as of attune

  struct Trial {
    Point point;
    double budget = kFull;
    double loss = 0;
    int epoch = 0;
    bool paused = false;
  };

  int running() const {
    return static_cast<int>(
        std::ranges::count_if(trials_, [](const auto& one) { return !one.second.paused; }));
  }

  // Returns whether that changed anything.
  bool ask() {
    if (exhausted_ || (added_ == most_ && paused() == 0)) return false;
    const Answer answer = tuner_->ask(std::vector{next_})[0];
    const auto* const proposal = std::get_if<Proposal>(&answer);
    if (!proposal) {
      exhausted_ = std::holds_alternative<Exhausted>(answer) || running() == 0;
      return false;
    }
    Trial& trial = trials_[proposal->resume.value_or(next_)];
    REQUIRE(trial.paused == proposal->resume.has_value());
    trial.paused = false;
    trial.point = proposal->point;
    trial.budget = pauses_ ? kFull : proposal->budget.value_or(kFull);
    if (proposal->resume) {
      in_a_row_ = 0;
      return true;
    }
    const TrialId id = next_++;
    if (added_ < most_) return ++added_;
    ++declined_;
    exhausted_ = ++in_a_row_ == kMostDeclined;
    end(id, End::stopped);
    return true;
  }

  // Each trial that runs trains for one epoch.
  void train() {
    std::vector<TrialId> ids;
    for (const auto& [id, trial] : trials_) {
      if (!trial.paused) ids.push_back(id);
    }
    for (const TrialId id : ids) {
      const auto found = trials_.find(id);
      if (found == trials_.end() || found->second.paused) continue;
      Trial& trial = found->second;
      ++trial.epoch;
      trial.loss = static_cast<double>(id % 7) + 1.0 / trial.epoch;
      if (wants_reports_) report(id, trial);
      if (trials_.contains(id) && !trial.paused && trial.epoch >= trial.budget) {
        end(id, End::completed);
      }
    }
  }

  void report(TrialId id, const Trial& trial) {
    const Metrics metrics = {{"default", trial.loss},
                             {"training_iteration", static_cast<double>(trial.epoch)}};
    for (const Decision& decision : tuner_->on_report({id, trial.epoch - 1, metrics})) {
      const auto named = trials_.find(decision.trial);
      if (named == trials_.end()) continue;
      if (decision.action == Action::pause && pauses_) named->second.paused = true;
      if (decision.action == Action::stop) {
        end(decision.trial, decision.complete ? End::completed : End::stopped);
      }
    }
  }

  void end(TrialId id, End end) {
    const Trial trial = trials_.extract(id).mapped();
    Outcome outcome{.trial = id, .point = trial.point, .end = end, .budget = trial.budget};
    if (end == End::completed) {
      outcome.loss = trial.loss;
      outcome.metrics = {{"default", trial.loss}};
      ++results_;
    }
    tuner_->tell(std::span(&outcome, 1));
  }

  int most_;
  bool pauses_;
  std::unique_ptr<Tuner> tuner_;
  bool wants_reports_ = false, exhausted_ = false;
  std::map<TrialId, Trial> trials_;  // not ended
  TrialId next_ = 0;
  int added_ = 0, results_ = 0, declined_ = 0, in_a_row_ = 0;
};

// Calls use(entry, space) for two spaces of each tuner.
template <class Use>
void for_each_tuner(Use&& use) {
  const TunerRegistry registry = builtin_tuners();
  for (const TunerEntry& entry : registry.entries()) {
    int accepted = 0;
    for (const auto& [name, space] : conformance::test_spaces()) {
      auto made = make_tuner(registry, entry.name, arguments_of(entry), {}, 1);
      if (!made->tuner->set_space(space)) continue;
      INFO(entry.name << " on " << name);
      use(entry, space);
      if (++accepted == 2) break;
    }
    INFO(entry.name);
    CHECK(accepted > 0);
  }
}

TEST_CASE("tuners: an experiment that has had all its trials ends with a result") {
  for_each_tuner([](const TunerEntry& entry, const Space& space) {
    for (const int most : {1, 2, 5, 20}) {
      for (const bool pauses : {true, false}) {
        CAPTURE(most, pauses);
        Manager manager(entry, space, most, pauses);
        manager.run();
        CHECK(manager.added() <= most);
        CHECK(manager.results() > 0);
      }
    }
  });
}

// These make one plan for the number of trials that they were told, or have no more to propose.
constexpr std::string_view kFixed[] = {"auto", "Batch", "FreezeThaw", "OneEpoch", "PBTReplay"};

TEST_CASE("tuners: an experiment whose number of trials is raised goes on") {
  for_each_tuner([](const TunerEntry& entry, const Space& space) {
    for (const bool pauses : {true, false}) {
      CAPTURE(pauses);
      Manager manager(entry, space, 4, pauses);
      manager.run();
      const bool used = manager.added() == 4;
      manager.raise(8);
      manager.run();
      if (used && std::ranges::count(kFixed, entry.name) == 0) CHECK(manager.added() > 4);
    }
  });
}

}  // namespace attune::max_trials_test
