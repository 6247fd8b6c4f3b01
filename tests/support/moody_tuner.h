#pragma once
// A tuner that uses every answer and every decision there is, at random: for tests of what lies
// around a tuner. Its state is its generator and the trials that it knows.
#include <vector>

#include "base/saved_numbers.h"
#include "tuners/tuner.h"

namespace attune {

class MoodyTuner : public Tuner {
 public:
  explicit MoodyTuner(std::uint64_t seed) : rng_(seed) {}

  Result<void> set_space(const Space& space) override {
    width_ = space.params.size();
    live_.clear();
    return {};
  }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      const std::size_t mood = rng_.index(20);
      if (mood == 0) return Exhausted{};
      if (mood < 6) return NotYet{};
      Proposal proposal{.point = {std::vector<double>(width_)}};
      for (double& x : proposal.point.values) x = rng_.uniform() / 2;
      if (rng_.index(2) == 0) proposal.budget = static_cast<double>(1 + rng_.index(9));
      if (!live_.empty() && rng_.index(3) == 0) proposal.checkpoint_from = any();
      if (!live_.empty() && mood < 12) {
        proposal.resume = any();
      } else {
        live_.push_back(id);
      }
      return proposal;
    });
  }
  void withdraw(TrialId id) override { std::erase(live_, id); }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) std::erase(live_, outcome.trial);
    rng_.uniform();  // so that every call counts
  }
  void adopt(TrialId id, const Point&) override { live_.push_back(id); }
  std::vector<Decision> on_report(const Report&) override {
    constexpr Action kActions[] = {Action::keep_going, Action::checkpoint, Action::pause,
                                   Action::pause,      Action::stop,       Action::drop_checkpoint};
    std::vector<Decision> decisions;
    for (std::size_t left = rng_.index(3); left > 0 && !live_.empty(); --left) {
      const TrialId trial = any();
      const Action action = kActions[rng_.index(6)];
      const bool complete = action == Action::stop && rng_.index(2) == 0;
      decisions.push_back({trial, action, "mood", complete});
    }
    return decisions;
  }
  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }

  json save() const override { return {{"rng", to_json(rng_)}, {"live", live_}}; }
  Result<void> load(const json& state) override {
    rng_ = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    live_.clear();
    for (const json& id : TRY(array_at(state, "live"))) {
      if (!id.is_number_integer()) return fail("saved state: live trials must be integers");
      live_.push_back(id);
    }
    return {};
  }

 private:
  TrialId any() { return live_[rng_.index(live_.size())]; }

  Rng rng_;
  std::size_t width_ = 0;
  std::vector<TrialId> live_;
};

}  // namespace attune
