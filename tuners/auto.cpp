// The default tuner: several search algorithms share one experiment. Each hears of every trial, and
// they propose in turns, because none of them is the best on every kind of problem (Benjamins et
// al., "carps: A Framework for Comparing N Hyperparameter Optimizers on M Benchmarks", 2025).
//
// The rule of turns, measured in docs/tuners.md:
// * The first ten proposals are those of the local search (TuRBO), which needs the fewest random
//   results. Then it takes turns with the Gaussian process of the whole space (GP) and the
//   multivariate Parzen estimator (TPE).
// * While many trials run, from the first proposal on, only the local search and GP take turns: the
//   estimator does not spread a batch by expected results.
// * With several objectives or limits, which the local search does not know, GP takes its turns.
// * In spaces where a fit of a process would take seconds, the estimator proposes alone.
//
// If the experiment says how far a full training goes (its key `fidelity`, or the argument max_t)
// and has one objective and no limit, FreezeThaw takes the place of all of them.
#include <array>
#include <memory>
#include <set>

#include "base/saved_numbers.h"
#include "space/features.h"
#include "tuners/parts/portfolio.h"

namespace attune {

extern const TunerEntry gp_entry, tpe_entry, turbo_entry, freeze_thaw_entry;

namespace auto_tuner {
namespace {

enum Member : std::size_t { process, estimator, region };

constexpr std::int64_t kStart = 10;
constexpr std::array kTurns = {region, process, region, process, region, estimator};
// With so many running trials (the one that is asked for not counted), the estimator has no turns.
constexpr std::size_t kMany = 3;
constexpr std::int64_t kMostProposed = std::int64_t{1} << 53;  // the largest count in a saved state
// With more, a fit of a Gaussian process takes seconds.
constexpr std::size_t kMostDimensions = 100;

class Auto final : public Tuner {
 public:
  static Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
    if (!args["max_t"].is_null() && context.objectives.size() == 1) {
      const json its = {{"max_t", args["max_t"]}, {"resource_attr", args["resource_attr"]}};
      return freeze_thaw_entry.make(
          TRY(resolve_arguments("auto", freeze_thaw_entry.arguments, its)), context, rng);
    }
    auto tuner = std::make_unique<Auto>();
    TRY(tuner->members_.add(gp_entry, json::object(), context, rng));
    TRY(tuner->members_.add(tpe_entry, json::object(), context, rng));
    if (context.objectives.size() == 1) {
      TRY(tuner->members_.add(turbo_entry, json::object(), context, rng));
    }
    return tuner;
  }

  Result<void> set_space(const Space& space) override {
    TRY(members_.set_space(space));
    large_ = Features(space).size() > kMostDimensions;
    proposed_ = 0;
    running_.clear();
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) {
      running_.erase(id);
      std::size_t who = turn();
      Answer answer = members_.ask(id, who);
      if (std::holds_alternative<Proposal>(answer)) {
        ++proposed_;
        running_.insert(id);
      }
      return answer;
    });
  }

  void withdraw(TrialId id) override {
    members_.withdraw(id);
    running_.erase(id);
  }
  void tell(std::span<const Outcome> outcomes) override {
    members_.tell(outcomes);
    for (const Outcome& outcome : outcomes) running_.erase(outcome.trial);
  }
  void adopt(TrialId id, const Point& point) override {
    members_.adopt(id, point);
    running_.insert(id);
  }
  void skip_ahead() override { members_.skip_ahead(); }

  json save() const override {
    return {{"members", members_.save()}, {"proposed", proposed_}, {"running", running_}};
  }

  Result<void> load(const json& state) override {
    const auto proposed = TRY(integer_at(state, "proposed"));
    if (proposed < 0 || proposed > kMostProposed) return fail("saved state: impossible proposed");
    auto running = TRY(trials_at(state, "running"));
    TRY(members_.load(TRY(object_at(state, "members"))));
    proposed_ = proposed;
    running_ = std::move(running);
    return {};
  }

 private:
  std::size_t turn() const {
    if (large_) return estimator;
    const auto turn = static_cast<std::size_t>(proposed_);
    const Member member = running_.size() >= kMany ? kTurns[turn % 2]
                          : proposed_ < kStart     ? region
                                                   : kTurns[turn % kTurns.size()];
    return member < members_.size() ? member : process;
  }

  Portfolio members_;
  bool large_ = false;
  std::int64_t proposed_ = 0;
  std::set<TrialId> running_;
};

}  // namespace
}  // namespace auto_tuner

extern const TunerEntry auto_tuner_entry = {
    .name = "auto",
    .aliases = {},
    .summary = "the default: Gaussian processes and a Parzen estimator in turns, on every space",
    .arguments = {{.name = "max_t",
                   .type = Argument::Type::integer,
                   .fallback = nullptr,
                   .help =
                       "resource_attr at the end of a full training; then trials are paused and "
                       "resumed, as FreezeThaw does",
                   .low = 1,
                   .high = 1e9},
                  {.name = "resource_attr",
                   .type = Argument::Type::text,
                   .fallback = "training_iteration",
                   .help = "the metric that counts how far a trial is"}},
    .maximizes = false,
    .make = auto_tuner::Auto::make};

}  // namespace attune
