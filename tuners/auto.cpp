// The default tuner: several search algorithms share one experiment. Each hears of every trial, and
// they propose in turns, as no one of them is the best on every kind of problem (Benjamins et al.,
// "carps: A Framework for Comparing N Hyperparameter Optimizers on M Benchmarks", 2025).
//
// The rule, measured in docs/tuners.md: the Gaussian process proposes, and after its random start
// every fourth proposal is the multivariate Parzen estimator's. Where a fit of the process would
// take seconds, the estimator is alone.
#include <memory>

#include "base/saved_numbers.h"
#include "space/features.h"
#include "tuners/portfolio.h"

namespace attune {

extern const TunerEntry gp_entry, tpe_entry;

namespace {

constexpr std::int64_t kStart = 10;
constexpr std::int64_t kTurns = 4;
constexpr std::size_t kMostDimensions = 100;  // of the Gaussian process

class Auto final : public Tuner {
 public:
  static Result<std::unique_ptr<Tuner>> make(const json&, const Context& context, Rng rng) {
    auto tuner = std::make_unique<Auto>();
    TRY(tuner->members_.add(gp_entry, json::object(), context, rng));
    TRY(tuner->members_.add(tpe_entry, {{"multivariate", true}}, context, rng));
    return tuner;
  }

  Result<void> set_space(const Space& space) override {
    TRY(members_.set_space(space));
    large_ = Features(space).size() > kMostDimensions;
    proposed_ = 0;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) {
      const bool turn = proposed_ >= kStart && proposed_ % kTurns == kTurns - 1;
      std::size_t who = large_ || turn ? kEstimator : kProcess;
      Answer answer = members_.ask(id, who);
      if (std::holds_alternative<Proposal>(answer)) ++proposed_;
      return answer;
    });
  }

  void withdraw(TrialId id) override { members_.withdraw(id); }
  void tell(std::span<const Outcome> outcomes) override { members_.tell(outcomes); }
  void adopt(TrialId id, const Point& point) override { members_.adopt(id, point); }
  void skip_ahead() override { members_.skip_ahead(); }

  json save() const override { return {{"members", members_.save()}, {"proposed", proposed_}}; }

  Result<void> load(const json& state) override {
    const auto proposed = TRY(integer_at(state, "proposed"));
    if (proposed < 0) return fail("saved state: proposed is negative");
    TRY(members_.load(TRY(object_at(state, "members"))));
    proposed_ = proposed;
    return {};
  }

 private:
  static constexpr std::size_t kProcess = 0, kEstimator = 1;

  Portfolio members_;
  bool large_ = false;
  std::int64_t proposed_ = 0;
};

}  // namespace

extern const TunerEntry auto_tuner_entry = {
    .name = "auto",
    .aliases = {},
    .summary = "the default: Gaussian process and Parzen estimator in turns, on every space",
    .arguments = {},
    .maximizes = false,
    .make = Auto::make};

}  // namespace attune
