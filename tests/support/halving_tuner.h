#pragma once
// A tuner that uses everything a manager may be able to do: successive halving whose trials are
// paused at each rung until the rung is full (Jamieson and Talwalkar, "Non-stochastic Best Arm
// Identification", AISTATS 2016), where the better half goes on with twice the resource and the
// others are stopped. For each rung one more trial starts from the checkpoint of the best, as in
// population based training (Jaderberg et al. 2017, section 3).
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/saved_numbers.h"
#include "space/saved_point.h"
#include "tuners/registry.h"

namespace attune {

class HalvingTuner : public Tuner {
 public:
  explicit HalvingTuner(int size) : size_(size) {}

  Result<void> set_space(const Space& space) override {
    const auto* domain =
        space.params.size() == 1 ? std::get_if<Uniform>(&space.params[0].domain) : nullptr;
    if (!domain || domain->low > 0 || domain->high < 1) return fail("one uniform over [0, 1]");
    space_ = space;
    proposed_ = 0;
    arms_.clear();
    promoted_.clear();
    donors_.clear();
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      // Copies first: once the donor has gone on, its newest checkpoint is another one.
      if (!donors_.empty()) {
        const TrialId donor = donors_.front();
        donors_.pop_front();
        const Arm& from = arms_.at(donor);
        Point point = from.point;
        point.values[0] *= 0.75;
        arms_[id] = {.point = point, .rung = from.rung};
        return Proposal{.point = point, .budget = resource(from.rung), .checkpoint_from = donor};
      }
      if (!promoted_.empty()) {
        const TrialId trial = promoted_.front();
        promoted_.pop_front();
        const Arm& arm = arms_.at(trial);
        return Proposal{.point = arm.point, .budget = resource(arm.rung), .resume = trial};
      }
      if (proposed_ == size_) return live() == 0 ? Answer(Exhausted{}) : Answer(NotYet{});
      const Point point{{1 - static_cast<double>(proposed_++) / (2 * size_)}};
      arms_[id] = {.point = point};
      return Proposal{.point = point, .budget = resource(0)};
    });
  }

  std::vector<Decision> on_report(const Report& report) override {
    const auto found = arms_.find(report.trial);
    if (found == arms_.end() || found->second.paused || found->second.ended) return {};
    Arm& arm = found->second;
    const auto used = static_cast<double>(report.step + 1);
    if (used >= kMost) return {};  // it ends by itself
    // One that begins again passes rungs that it is through with.
    if (used < resource(arm.rung)) {
      const bool half = used * 2 == resource(arm.rung);
      return half ? std::vector<Decision>{{report.trial, Action::checkpoint, "half way"}}
                  : std::vector<Decision>();
    }
    const double value = report.metrics[0].second;
    arm.loss = std::isfinite(value) ? value : std::numeric_limits<double>::max();
    arm.paused = true;
    std::vector<Decision> decisions = {{report.trial, Action::pause, "rung is not full"}};
    fill(arm.rung, decisions);
    return decisions;
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (const auto arm = arms_.find(outcome.trial); arm != arms_.end()) arm->second.ended = true;
      std::erase(promoted_, outcome.trial);
    }
  }

  json save() const override {
    json arms = json::array();
    for (const auto& [id, arm] : arms_) {
      arms.push_back({id, save_point(arm.point), arm.rung, arm.paused, arm.ended, arm.loss});
    }
    return {{"proposed", proposed_},
            {"arms", std::move(arms)},
            {"promoted", std::vector(promoted_.begin(), promoted_.end())},
            {"donors", std::vector(donors_.begin(), donors_.end())}};
  }

  Result<void> load(const json& state) override {
    proposed_ = state.at("proposed");
    for (const json& arm : state.at("arms")) {
      arms_[arm[0]] = {TRY(load_point(space_, arm[1])), arm[2], arm[3], arm[4], arm[5]};
    }
    for (const json& id : state.at("promoted")) promoted_.push_back(id);
    for (const json& id : state.at("donors")) donors_.push_back(id);
    return {};
  }

  static constexpr double kMost = 8;  // the resource after which a trial ends by itself

 private:
  struct Arm {
    Point point;
    int rung = 0;  // it is to reach the resource of
    bool paused = false;
    bool ended = false;
    double loss = 0;
  };

  static double resource(int rung) { return static_cast<double>(2 << rung); }  // 2, 4, 8

  std::int64_t live() const {
    return std::ranges::count_if(arms_, [](const auto& arm) { return !arm.second.ended; });
  }

  // When nobody is missing in the rung, the better half goes on.
  void fill(int rung, std::vector<Decision>& decisions) {
    std::vector<TrialId> here;
    for (const auto& [id, arm] : arms_) {
      if (arm.ended || arm.rung != rung) continue;
      if (!arm.paused) return;
      here.push_back(id);
    }
    const bool more =
        std::ranges::any_of(donors_, [&](TrialId donor) { return arms_.at(donor).rung == rung; });
    if (proposed_ < size_ || more) return;
    std::ranges::sort(here, {}, [this](TrialId id) { return std::pair(arms_.at(id).loss, id); });
    const std::size_t kept = (here.size() + 1) / 2;
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (i < kept) {
        arms_.at(here[i]).rung = rung + 1;
        arms_.at(here[i]).paused = false;
        promoted_.push_back(here[i]);
      } else {
        decisions.push_back({here[i], Action::stop, "not among the better half"});
        decisions.push_back({here[i], Action::drop_checkpoint, ""});
        arms_.at(here[i]).ended = true;
      }
    }
    donors_.push_back(here[0]);
  }

  const int size_;
  Space space_;
  int proposed_ = 0;
  std::map<TrialId, Arm> arms_;
  std::deque<TrialId> promoted_, donors_;
};

inline const TunerEntry halving_entry = {
    .name = "Halving",
    .aliases = {},
    .summary = "successive halving for tests",
    .arguments = {{.name = "size", .type = Argument::Type::integer, .fallback = 8}},
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<HalvingTuner>(args.at("size").get<int>());
    }};

}  // namespace attune
