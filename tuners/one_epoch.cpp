// A baseline that rules with more rungs must beat: half of the budget is spent on one epoch of each
// of many configurations, the other half on whole trainings of the best of them, the best first.
//
// It is successive halving with one cut (Jamieson, Talwalkar, "Non-stochastic Best Arm
// Identification", AISTATS 2016). No worker waits: whole trainings begin as soon as all
// configurations have been started. Those that report later take part from then on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/saved_numbers.h"
#include "math/sorted_numbers.h"
#include "tuners/parts/bracket_arguments.h"
#include "tuners/parts/bracket_pauses.h"
#include "tuners/registry.h"

namespace attune {
namespace one_epoch_tuner {
namespace {

class OneEpoch final : public PausingTuner {
 public:
  // `trainings`: the budget, in whole trainings.
  OneEpoch(Setup setup, double trainings)
      : PausingTuner(std::move(setup)), epochs_(std::floor(trainings * max_t())) {}

 private:
  struct Arm {
    double loss = 0;        // after one epoch
    bool training = false;  // it is trained in full now; else it waits
  };

  // How many trials it pays for. Of an experiment with few trials all may begin, if the best of
  // them can be paused and go on: otherwise whole trainings are further trials.
  double first_half() const {
    const double half = std::floor(epochs_ / 2);
    if (!setup().max_trials) return half;
    const double most = *setup().max_trials;
    const double whole = std::ceil(half / (max_t() - 1));
    return std::min(half, setup().pauses ? most : std::max(std::ceil(most / 2), most - whole));
  }
  // How many whole trainings the rest of the budget pays for: each has done one epoch already.
  double trainings() const { return std::ceil((epochs_ - started_) / (max_t() - 1)); }

  Answer next(TrialId id) override {
    if (!exhausted_ && started_ < first_half() && !all_begun()) {
      Answer answer = searcher().ask(id);
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        ++started_;
        return start(id, proposal->point, 1, true);
      }
      if (std::holds_alternative<NotYet>(answer)) return NotYet{};
      exhausted_ = true;
    }
    if (waiting_.empty() || trained_ >= trainings()) return nothing_now();
    const TrialId best = waiting_.begin()->second;
    leaves(best);
    Continued continued = go_on(id, best, max_t(), false);
    const double loss = arms_.extract(best).mapped().loss;
    arms_[continued.trial] = {loss, true};
    continued.proposal.reason =
        fmt::format("{} after one epoch is the best of {} that wait: it is trained in full",
                    result(loss), waiting_.size() + 1);
    if (++trained_ >= trainings()) {
      for (const auto& [other_loss, trial] : waiting_) leave_behind(trial, other_loss);
      waiting_.clear();
      losses_ = {};
    }
    return std::move(continued.proposal);
  }

  void leave_behind(TrialId trial, double loss) {
    arms_.erase(trial);
    finish(trial, fmt::format("{} after one epoch; the best {} are trained in full", result(loss),
                              trainings()));
  }

  void reached(TrialId trial, double loss) override {
    if (arms_.erase(trial) > 0 || std::isnan(loss)) return;  // trained in full, or failed
    if (trained_ > 0 && trained_ >= trainings()) return leave_behind(trial, loss);
    arms_[trial] = {loss, false};
    waits(trial);
  }

  void waits(TrialId trial) {
    waiting_.emplace(arms_.at(trial).loss, trial);
    losses_.insert(arms_.at(trial).loss);
  }
  void leaves(TrialId trial) {
    waiting_.erase({arms_.at(trial).loss, trial});
    losses_.erase(arms_.at(trial).loss);
  }

  std::string waiting_text(TrialId, double loss) const override {
    return fmt::format("{} after one epoch ranks {} of {} that wait", result(loss),
                       losses_.count_below(loss) + 1, losses_.size());
  }

  void again(TrialId trial) override {
    --trained_;
    arms_.at(trial).training = false;
    waits(trial);
  }

  void lost(TrialId trial) override {
    leaves(trial);
    arms_.erase(trial);
  }

  void take_back(TrialId) override { --started_; }

  void forget_rule() override {
    started_ = trained_ = 0;
    exhausted_ = false;
    arms_.clear();
    waiting_.clear();
    losses_ = {};
  }

  json save_brackets() const override {
    json arms = json::array();
    for (const auto& [trial, arm] : arms_) {
      arms.push_back({trial, save_numbers(std::array{arm.loss}), arm.training});
    }
    return {{"counts", save_numbers(std::array{started_, trained_})},
            {"exhausted", exhausted_},
            {"arms", std::move(arms)}};
  }

  Result<std::function<void()>> load_brackets(const json& state, const Runs& runs) override {
    const auto counts = TRY(numbers_at(state, "counts"));
    const bool exhausted = TRY(boolean_at(state, "exhausted"));
    if (counts.size() != 2 || !is_index(counts[0], first_half() + 1) || !is_whole(counts[1]) ||
        counts[1] < 0) {
      return fail("saved state: the counts of OneEpoch are damaged");
    }
    std::map<TrialId, Arm> arms;
    std::set<std::pair<double, TrialId>> waiting;
    SortedNumbers losses;
    for (const json& one : TRY(array_at(state, "arms"))) {
      const bool well_formed =
          one.is_array() && one.size() == 3 && one[0].is_number_integer() && one[2].is_boolean();
      if (!well_formed) return fail("saved state: a trial of OneEpoch is damaged");
      const auto loss = TRY(numbers(one[1]));
      const auto trial = one[0].get<TrialId>();
      const Arm arm{loss.size() == 1 ? loss[0] : NAN, one[2]};
      const auto known = runs.find(trial);
      if (!std::isfinite(arm.loss) || known == runs.end() || known->second != arm.training ||
          !arms.emplace(trial, arm).second) {
        return fail("saved state: a trial of OneEpoch is damaged");
      }
      if (arm.training) continue;
      waiting.emplace(arm.loss, trial);
      losses.insert(arm.loss);
    }
    for (const auto& [trial, is_running] : runs) {
      if (!is_running && !arms.contains(trial)) {
        return fail("saved state: a trial of OneEpoch waits without a loss");
      }
    }
    return [this, counts, exhausted, arms, waiting, losses] {
      started_ = counts[0];
      trained_ = counts[1];
      exhausted_ = exhausted;
      arms_ = arms;
      waiting_ = waiting;
      losses_ = losses;
    };
  }

  const double epochs_;                           // to be spent
  double started_ = 0, trained_ = 0;              // trials, whole trainings
  bool exhausted_ = false;                        // there are no new configurations any more
  std::map<TrialId, Arm> arms_;                   // that wait or are trained
  std::set<std::pair<double, TrialId>> waiting_;  // of them, the best first
  SortedNumbers losses_;                          // of those that wait
};

}  // namespace
}  // namespace one_epoch_tuner

extern const TunerEntry one_epoch_entry = {
    .name = "OneEpoch",
    .aliases = {},
    .summary = "a baseline: one epoch of many configurations, then the best are trained in full",
    .arguments = {resource_argument("resource_attr"),
                  {.name = "max_t",
                   .type = Argument::Type::integer,
                   .fallback = 100,
                   .help = "the epochs of a whole training",
                   .low = 2,
                   .high = 1e9},
                  {.name = "trials",
                   .type = Argument::Type::number,
                   .fallback = 100,
                   .help = "how many whole trainings' worth of epochs to spend altogether",
                   .low = 1,
                   .high = 1e6},
                  Searcher::argument()},
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      auto setup = TRY(bracket_setup("OneEpoch", args, context, rng, "resource_attr",
                                     args["max_t"].get<double>()));
      return std::make_unique<one_epoch_tuner::OneEpoch>(std::move(setup),
                                                         args["trials"].get<double>());
    }};

}  // namespace attune
