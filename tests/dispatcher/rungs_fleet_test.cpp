// Every tuner with levels in whole experiments at random: trials that fail, hang back, report late,
// twice, in the wrong order, nonsense or nothing; a manager that pauses, does not, or cannot
// always; restarts, another search space, and a number of trials that is used up or raised.
// Whatever happens, the experiment ends, and no paused trial waits for an answer that cannot come.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/standing.h"
#include "dispatcher/session.h"
#include "space/parse.h"
#include "tests/support/through_text.h"
#include "tuners/registry.h"

namespace attune::rungs_fleet_test {

constexpr int kLongest = 12;  // epochs after which each trial ends by itself

struct Tuned {
  std::string name;
  json arguments;
};

Tuned drawn_tuner(Rng& rng) {
  const json searcher = std::vector{"Random", "TPE", "Evolution", "PPO"}[rng.index(4)];
  const auto rungs = [&](json more = json::object()) {
    more.update({{"max_t", 1 + rng.index(10)}, {"searcher", searcher}});
    return more;
  };
  const auto population = [&](json more = json::object()) {
    more.update(
        {{"population_size", 1 + rng.index(5)}, {"perturbation_interval", 1 + rng.index(3)}});
    if (!more.contains("rule") || more["rule"] == "ray") more["synch"] = rng.index(2) == 0;
    if (rng.index(2) == 0) more["max_t"] = 9;
    return more;
  };
  switch (rng.index(14)) {
    case 0:
      return {"ASHA", rungs({{"brackets", 1 + rng.index(3)}})};
    case 1:
      return {"ASHA", rungs({{"type", "rush_promotion"}, {"num_threshold_candidates", 2}})};
    case 2:
      return {"ASHA", rungs({{"type", "cost_promotion"}, {"cost_attr", "training_iteration"}})};
    case 3:
      return {"PASHA", rungs()};
    case 4:
      return {"SyncHyperband", rungs()};
    case 5:
      return {"DEHB", rungs()};
    case 6:
      return {"HyperBandScheduler", rungs()};
    case 7:
      return {"HyperBandForBOHB", rungs({{"milestones", rng.index(2) ? 2018 : 2024}})};
    case 8:
      return {"OneEpoch", {{"max_t", 2 + rng.index(8)}, {"trials", 1 + rng.index(6)}}};
    case 9:
      return {"Hyperband",
              {{"R", 1 + rng.index(9)}, {"exec_mode", rng.index(2) ? "serial" : "parallelism"}}};
    case 10:
      return {"BOHB", {{"max_budget", 1 + rng.index(9)}}};
    case 11:
      return {"PopulationBasedTraining",
              population({{"rule", rng.index(2) ? "ray" : "syne_tune"}})};
    case 12:
      return {"PB2", population()};
    default:
      return {"PBTReplay", json::object()};
  }
}

Space drawn_space(Rng& rng) {
  const char* const texts[] = {
      R"({"x": {"_type": "uniform", "_value": [0, 1]}})",
      R"({"x": {"_type": "uniform", "_value": [0, 2]}, "n": {"_type": "randint", "_value": [0, 4]}})",
      R"({"x": {"_type": "choice", "_value": [0, 0.25, 0.5, 0.75, 1]}})"};
  return parse_space(parse_json(texts[rng.index(3)]).value()).value();
}

class Fleet {
 public:
  explicit Fleet(std::uint64_t seed) : rng_(seed), tuned_(drawn_tuner(rng_)) {
    const auto sometimes = [this](double most) {
      return rng_.index(2) ? most * rng_.uniform() : 0;
    };
    context_.objectives = {{"default", rng_.index(2) == 0}};
    if (rng_.index(4) == 0) context_.objectives.push_back({.metric = "size"});
    if (rng_.index(4) == 0) context_.objectives.push_back({.metric = "heat", .limit = 0.7});
    most_ = static_cast<int>(1 + rng_.index(40));
    if (rng_.index(2)) context_.max_trials = most_;
    context_.pauses = rng_.index(4) > 0;
    workers_ = 1 + rng_.index(5);
    fails_ = sometimes(0.2);
    nonsense_ = sometimes(0.5);
    refuses_ = rng_.index(5) == 0 ? 1 : sometimes(0.5);
    late_ = sometimes(0.5);
    mute_ = rng_.index(8) == 0 ? 1 : sometimes(0.3);
    changes_ = rng_.index(4) == 0 ? 0.02 : 0;
    restarts_ = rng_.index(2) ? 0.05 : 0;
    reads_budget_ = rng_.index(2);
    if (several(context_.objectives) && tuned_.name == "ASHA") {
      tuned_.arguments = {{"max_t", tuned_.arguments["max_t"]}};
    }
    start();
    apply(change_space());
  }

  std::string name() const { return tuned_.name + " " + dump_json(tuned_.arguments); }

  // Returns how many trials have ended with a result.
  int run() {
    bool raised = rng_.index(2) > 0;
    for (int turn = 0; turn < 20'000; ++turn) {
      if (rng_.uniform() < restarts_) restart();
      if (rng_.uniform() < changes_) apply(change_space());
      fill();
      if (running() == 0) {
        if (!raised && !exhausted_) {
          raised = true;
          most_ += 3;
          continue;
        }
        REQUIRE(open_ == 0);  // it waits for ever
        return results_;
      }
      step();
    }
    FAIL("the experiment does not end");
    return 0;
  }

 private:
  struct Job {
    int epoch = 0;
    double budget = kLongest;
    bool paused = false;
    bool mute = false;
  };

  void start() {
    auto made = make_tuner(builtin_tuners(), tuned_.name, tuned_.arguments, context_, 7);
    if (!made) FAIL(name() << ": " << made.error().message);
    wants_reports_ = made->wants_reports;
    session_ = std::make_unique<Session>(std::move(made->tuner), context_.objectives[0], Log(),
                                         context_.pauses);
  }

  void restart() {
    const json state = through_text(session_->save());
    const Space space = *space_;
    start();
    const auto loaded = session_->load(space, state);
    if (!loaded) FAIL(name() << ": " << loaded.error().message);
    REQUIRE(dump_json(session_->save()) == dump_json(state));
  }

  // To one that the tuner accepts.
  Effects change_space() {
    for (;;) {
      Space space = drawn_space(rng_);
      auto effects = session_->set_space(space);
      if (!effects) continue;
      space_ = std::move(space);
      return *std::move(effects);
    }
  }

  std::size_t running() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(jobs_, [](const auto& one) { return !one.second.paused; }));
  }

  // As attune: asks for new trials, and for one of the paused ones when there can be no more new.
  void fill() {
    while (!exhausted_) {
      const bool full = added_ >= most_;
      if (full && (open_ > 0 || running() == jobs_.size())) return;
      if (running() + open_ >= workers_) return;
      ++open_;
      apply(session_->request(next_++, 1));
    }
  }

  void apply(const Replies& replies) {
    for (const Reply& reply : replies) {
      --open_;
      if (const auto* none = std::get_if<NoMore>(&reply)) {
        CAPTURE(name());
        REQUIRE(none->reason == "the search space is exhausted");
        exhausted_ = true;
        continue;
      }
      const Offer& offer = std::get<Offer>(reply);
      const auto budget = offer.parameters.find("TRIAL_BUDGET");
      const bool known = jobs_.contains(offer.trial);
      if (!known && added_ >= most_) {
        if (++declined_ >= 1000) exhausted_ = true;
        apply(session_->trial_end(offer.trial, End::stopped));
        session_->declined();
        continue;
      }
      if (!known) ++added_;
      Job& job = jobs_[offer.trial];
      if (known) REQUIRE(job.paused);
      job.paused = false;
      declined_ = 0;
      if (!known) job.mute = rng_.uniform() < mute_;
      if (reads_budget_ && budget != offer.parameters.end()) job.budget = budget->get<double>();
    }
  }

  void apply(const Effects& effects) {
    apply(effects.replies);
    for (const Decision& decision : effects.decisions) carry_out(decision);
  }

  void carry_out(const Decision& decision) {
    const auto found = jobs_.find(decision.trial);
    if (found == jobs_.end()) return;
    if (decision.action == Action::pause && context_.pauses && !found->second.paused) {
      if (rng_.uniform() < late_) report(decision.trial);  // before it hears of it
      if (!jobs_.contains(decision.trial)) return;
      const bool refused = rng_.uniform() < refuses_;
      if (refused) {
        apply(session_->pause_failed(decision.trial));
      } else {
        jobs_.at(decision.trial).paused = true;
        apply(session_->paused(decision.trial, true));
      }
    } else if (decision.action == Action::checkpoint) {
      session_->checkpoint_answered(decision.trial, rng_.index(3) > 0);
    } else if (decision.action == Action::stop) {
      const json last = decision.complete ? session_->last_report(decision.trial) : json();
      jobs_.erase(found);
      if (!last.is_null()) {
        ++results_;
        apply(session_->final_result(decision.trial, last));
      }
      apply(session_->trial_end(decision.trial, last.is_null() ? End::stopped : End::completed));
    }
  }

  // One trial trains for an epoch, or something happens to it.
  void step() {
    std::vector<TrialId> ids;
    for (const auto& [id, job] : jobs_) {
      if (!job.paused || rng_.index(20) == 0) ids.push_back(id);
    }
    if (ids.empty()) return;
    const TrialId id = ids[rng_.index(ids.size())];
    Job& job = jobs_.at(id);
    if (job.paused || rng_.uniform() < fails_) {
      jobs_.erase(id);
      const End ends[] = {End::failed, End::stopped, End::completed};
      return apply(session_->trial_end(id, ends[rng_.index(3)]));
    }
    const auto trained = [](const Job& one) {
      return one.epoch >= std::min<double>(kLongest, one.budget);
    };
    if (trained(job)) return complete(id);  // it was paused at its last epoch
    ++job.epoch;
    if (!job.mute) report(id);
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || found->second.paused) return;
    if (trained(found->second)) complete(id);
  }

  void complete(TrialId id) {
    const json value = rng_.uniform() < nonsense_ ? json("nonsense") : result(jobs_.at(id).epoch);
    jobs_.erase(id);
    const bool silent = rng_.index(6) == 0, ends_first = rng_.index(3) == 0;
    if (!silent) ++results_;
    if (!silent && !ends_first) apply(session_->final_result(id, value));
    apply(session_->trial_end(id, End::completed));
    if (!silent && ends_first) apply(session_->final_result(id, value));
  }

  json result(int epoch) {
    return {{"default", rng_.normal() + 1.0 / epoch},
            {"size", rng_.uniform()},
            {"heat", rng_.uniform()}};
  }

  void report(TrialId id) {
    if (!wants_reports_) return;
    const int epoch = jobs_.at(id).epoch;
    Report report{id, epoch - 1, {}};
    const json values = result(epoch);
    for (const auto& [key, value] : values.items()) report.metrics.emplace_back(key, value);
    if (rng_.index(2)) report.metrics.emplace_back("training_iteration", epoch);
    if (rng_.uniform() < nonsense_) {
      const std::size_t which = rng_.index(report.metrics.size());
      const double strange[] = {NAN, INFINITY, -INFINITY, -1, 1e300, 0};
      report.metrics[which].second = strange[rng_.index(6)];
      if (rng_.index(4) == 0) report.metrics.erase(report.metrics.begin() + 1);
      if (rng_.index(4) == 0) report.step = static_cast<std::int64_t>(rng_.index(20));
      if (rng_.index(8) == 0) report.metrics.clear();
    }
    apply(session_->report(report));
    if (rng_.uniform() < late_ && jobs_.contains(id)) apply(session_->report(report));  // again
  }

  Rng rng_;
  Tuned tuned_;
  Context context_;
  std::optional<Space> space_;
  std::unique_ptr<Session> session_;
  bool wants_reports_ = false;
  std::map<TrialId, Job> jobs_;  // that have not ended
  TrialId next_ = 0;
  int most_ = 0, added_ = 0, declined_ = 0, results_ = 0;
  std::size_t workers_ = 1, open_ = 0;
  bool exhausted_ = false, reads_budget_ = false;
  double fails_ = 0, nonsense_ = 0, refuses_ = 0, late_ = 0, mute_ = 0, changes_ = 0, restarts_ = 0;
};

TEST_CASE("tuners with levels: every experiment ends, whatever its trials and its manager do") {
  std::map<std::string, int> results;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    Fleet fleet(seed);
    CAPTURE(fleet.name());
    const int count = fleet.run();
    results[fleet.name().substr(0, fleet.name().find(' '))] += count;
  }
  for (const auto& [name, count] : results) {
    CAPTURE(name);
    CHECK(count > 20);
  }
}

}  // namespace attune::rungs_fleet_test
