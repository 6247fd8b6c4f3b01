// Whole searches of HyperBandScheduler and HyperBandForBOHB on a few workers.
#include <map>
#include <set>

#include "base/rng.h"
#include "tests/tuners/hyperband_world.h"

namespace attune::hyperband_fleet_test {

using namespace hyperband_world;

// Trials on a few workers, with mishaps. They learn: the loss falls with every step.
class Fleet {
 public:
  struct Habits {
    std::size_t workers = 3;
    double fails = 0, refuses = 0;  // probabilities: at a step, of a pause
    bool reads_budget = false;      // ends by itself at TRIAL_BUDGET
    int most = 1000;                // new trials that are accepted
    int restart_every = 0;
  };
  Fleet(const Setup& setup, const Habits& habits, std::uint64_t seed)
      : world_(setup), habits_(habits), rng_(seed) {}

  void run() {
    for (int turn = 0; fill(); ++turn) {
      REQUIRE(turn < 20000);
      if (habits_.restart_every > 0 && turn % habits_.restart_every == 0) world_.restart();
      step();
    }
  }

  std::vector<std::string> log;
  int declined = 0;
  std::set<TrialId> paused;

 private:
  struct Job {
    Point point;
    std::optional<double> budget = {};
    std::int64_t steps = 0;
  };

  // Gives the free workers something to do. False: nothing is left to do.
  bool fill() {
    while (running_.size() < habits_.workers) {
      // Once all trials were accepted it asks for the paused ones only.
      if (begun_ >= habits_.most && paused.empty()) break;
      const TrialId id = world_.next;
      const Answer answer = world_.ask();
      if (std::holds_alternative<Exhausted>(answer)) {
        CHECK(paused.empty());
        break;
      }
      const auto* proposal = std::get_if<Proposal>(&answer);
      if (!proposal) {
        REQUIRE_FALSE(running_.empty());  // or it waits for ever
        break;
      }
      if (!carry_out(id, *proposal)) break;
    }
    return !running_.empty();
  }

  bool carry_out(TrialId id, const Proposal& proposal) {
    if (proposal.resume) {
      const TrialId resumed = *proposal.resume;
      if (!paused.erase(resumed)) {  // it could not be paused
        REQUIRE(running_.contains(resumed));
        return true;
      }
      jobs_.at(resumed).budget = proposal.budget;
      running_.insert(resumed);
      log.push_back("resume " + std::to_string(resumed));
      return true;
    }
    if (begun_ >= habits_.most) {
      ++declined;
      world_.tell(id, End::stopped, {}, proposal.budget);
      REQUIRE(declined < 20);
      return !paused.empty();
    }
    ++begun_;
    jobs_[id] = {.point = proposal.point, .budget = proposal.budget};
    if (proposal.checkpoint_from) jobs_[id].steps = jobs_.at(*proposal.checkpoint_from).steps;
    running_.insert(id);
    log.push_back("begin " + std::to_string(id));
    return true;
  }

  void step() {
    auto at = running_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.index(running_.size())));
    const TrialId id = *at;
    Job& job = jobs_.at(id);
    if (rng_.uniform() < habits_.fails) return end(id, End::failed);
    ++job.steps;
    const auto steps = static_cast<double>(job.steps);
    const double loss = job.point.values[0] + 1 / steps;
    for (const Decision& decision : world_.tuner->on_report(
             {id, job.steps - 1, {{"default", loss}, {"training_iteration", steps}}})) {
      carry_out(decision);
    }
    if (!running_.contains(id)) return;
    if ((habits_.reads_budget && steps >= *job.budget) || steps >= 25) end(id, End::completed);
  }

  void carry_out(const Decision& decision) {
    const TrialId id = decision.trial;
    const bool runs = running_.contains(id);
    if (decision.action == Action::pause && runs && rng_.uniform() >= habits_.refuses) {
      running_.erase(id);
      paused.insert(id);
      log.push_back("pause " + std::to_string(id));
    }
    if (decision.action == Action::stop && (runs || paused.contains(id))) {
      end(id, decision.complete ? End::completed : End::stopped);
    }
  }

  void end(TrialId id, End how) {
    running_.erase(id);
    paused.erase(id);
    const Job& job = jobs_.at(id);
    std::optional<double> loss;
    if (how == End::completed) loss = job.point.values[0] + 1 / static_cast<double>(job.steps);
    log.push_back("end " + std::to_string(id) + " at " + std::to_string(job.steps));
    world_.tuner->tell(std::vector{Outcome{id, job.point, loss, {}, how, job.budget}});
  }

  World world_;
  Habits habits_;
  Rng rng_;
  std::map<TrialId, Job> jobs_;
  std::set<TrialId> running_;
  int begun_ = 0;
};

TEST_CASE("HyperBandScheduler: no trial waits for ever, whatever its trials do") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Rng rng(seed);
    Setup setup{.name = rng.index(2) ? "HyperBandScheduler" : "HyperBandForBOHB"};
    setup.space = finite_space(static_cast<int>(1 + rng.index(60)));
    setup.arguments["max_t"] = 1 + rng.index(20);
    setup.arguments["reduction_factor"] = 2 + rng.index(3);
    setup.arguments["milestones"] = rng.index(2) ? 2018 : 2024;
    setup.arguments["stop_last_trials"] = rng.index(4) > 0;
    setup.arguments["searcher"] = std::vector{"Random", "TPE", "Evolution", "QMC"}[rng.index(4)];
    const bool limited = rng.index(3) == 0;
    const Fleet::Habits habits{.workers = 1 + rng.index(6),
                               .fails = rng.index(2) ? 0.05 : 0,
                               .refuses = rng.index(2) ? 0.3 : 0,
                               .reads_budget = rng.index(2) == 0,
                               .most = limited ? static_cast<int>(1 + rng.index(30)) : 1000};
    if (limited) setup.max_trials = habits.most;
    CAPTURE(seed, setup.name, dump_json(setup.arguments), setup.space, habits.workers, habits.most,
            habits.reads_budget, habits.fails, habits.refuses);
    Fleet fleet(setup, habits, seed);
    fleet.run();
    CHECK(fleet.paused.empty());
    Fleet::Habits restarting = habits;
    restarting.restart_every = 7;
    Fleet again(setup, restarting, seed);
    again.run();
    CHECK(again.log == fleet.log);
  }
}

TEST_CASE("HyperBandScheduler: good configurations get the most, whoever ends the trials") {
  const std::string name = GENERATE("HyperBandScheduler", "HyperBandForBOHB");
  Setup setup{.name = name, .space = finite_space(17)};
  const bool reads_budget = GENERATE(false, true);
  Fleet fleet(setup, {.refuses = reads_budget ? 1.0 : 0.0, .reads_budget = reads_budget}, 5);
  fleet.run();
  // A band: 3 trials to 9, 5 to 3, of which 2 go on to 9, and 9 to 1, of which 3 and then 1 go on.
  std::multiset<std::string> ends;
  for (const std::string& line : fleet.log) {
    if (const auto at = line.find(" at "); at != std::string::npos) ends.insert(line.substr(at));
  }
  const std::size_t at_1 = reads_budget ? 9 : 6, at_3 = reads_budget ? 5 + 3 : 3 + 2;
  CHECK(ends.count(" at 1") == at_1);
  CHECK(ends.count(" at 3") == at_3);
  CHECK(ends.count(" at 9") == 3 + 2 + 1);
}

}  // namespace attune::hyperband_fleet_test
