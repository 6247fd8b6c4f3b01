// The default tuner: several search algorithms share one experiment. Each hears of every trial, and
// they propose in turns, as no one of them is the best on every kind of problem (Benjamins et al.,
// "carps: A Framework for Comparing N Hyperparameter Optimizers on M Benchmarks", 2025).
//
// The rule, measured in docs/tuners.md: the Gaussian process proposes, and after its random start
// every fourth proposal is the multivariate Parzen estimator's. Where a fit of the process would
// take seconds, the estimator is alone.
#include <memory>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "space/features.h"
#include "tuners/registry.h"

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
    tuner->process_ = TRY(member(gp_entry, json::object(), context, rng));
    tuner->estimator_ = TRY(member(tpe_entry, {{"multivariate", true}}, context, rng));
    return tuner;
  }

  Result<void> set_space(const Space& space) override {
    TRY(process_->set_space(space));
    TRY(estimator_->set_space(space));
    large_ = Features(space).size() > kMostDimensions;
    proposed_ = 0;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      const bool turn = proposed_ >= kStart && proposed_ % kTurns == kTurns - 1;
      Tuner& chosen = large_ || turn ? *estimator_ : *process_;
      Tuner& other = &chosen == process_.get() ? *estimator_ : *process_;
      Answer answer = std::move(chosen.ask(std::span(&id, 1)).front());
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        other.adopt(id, proposal->point);
        ++proposed_;
      }
      return answer;
    });
  }

  void withdraw(TrialId id) override {
    process_->withdraw(id);
    estimator_->withdraw(id);
  }

  void tell(std::span<const Outcome> outcomes) override {
    process_->tell(outcomes);
    estimator_->tell(outcomes);
  }

  void adopt(TrialId id, const Point& point) override {
    process_->adopt(id, point);
    estimator_->adopt(id, point);
  }

  void skip_ahead() override {
    process_->skip_ahead();
    estimator_->skip_ahead();
  }

  json save() const override {
    return {{"GP", process_->save()}, {"TPE", estimator_->save()}, {"proposed", proposed_}};
  }

  Result<void> load(const json& state) override {
    const json process = TRY(object_at(state, "GP"));
    const json estimator = TRY(object_at(state, "TPE"));
    const auto proposed = TRY(integer_at(state, "proposed"));
    if (proposed < 0) return fail("saved state: proposed is negative");
    const json before = process_->save();
    TRY(process_->load(process));
    if (auto loaded = estimator_->load(estimator); !loaded) {
      ATTUNE_CHECK(process_->load(before).has_value());  // all or nothing
      return loaded;
    }
    proposed_ = proposed;
    return {};
  }

 private:
  static Result<std::unique_ptr<Tuner>> member(const TunerEntry& entry, const json& given,
                                               const Context& context, const Rng& rng) {
    const json arguments = TRY(resolve_arguments(entry.name, entry.arguments, given));
    return entry.make(arguments, context, rng.fork(entry.name));
  }

  std::unique_ptr<Tuner> process_, estimator_;
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
