// Annealing: random search around good results, in a neighbourhood that shrinks with each result.
//
// Source: hyperopt's `anneal` (Bergstra, Yamins, Cox, "Making a Science of Model Search", ICML
// 2013), which NNI wraps. Each parameter takes over the value of one of the best trials, and moves
// within 1 / (1 + 0.1 T) of its prior's width, where T is the number of observations of this
// parameter. The trial is drawn once for all parameters that it defines, by a geometric rank: the
// best with probability 1/2, the second with 1/4, and so on.
#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/running_trials.h"
#include "tuners/registry.h"

namespace attune {
namespace anneal_tuner {
namespace {

enum class Liar { none, best, worst, mean };

// NNI uses the constant liar only after so many suggestions.
constexpr std::int64_t kHonestSuggestions = 20;

// Draws a value near `old`, within `shrink` times the width of the domain; shrink is in (0, 1).
struct Near {
  const Domain& domain;
  double old = 0;
  double shrink = 1;
  Rng& rng;

  // Without an order there is no neighbourhood: keeps the old value, or with probability `shrink`
  // draws a new one. hyperopt treats integers in the same way.
  template <class Discrete>
  double operator()(const Discrete&) const {
    return rng.uniform() < shrink ? sample(domain, rng) : old;
  }

  // The window is moved inside of the bounds and not cut, so it keeps its width near the ends.
  double operator()(const Uniform& bounds) const {
    const double low = to_internal(domain, bounds.low);
    const double high = to_internal(domain, bounds.high);
    const double half = (high / 2 - low / 2) * shrink;
    const double centre = std::max(low + half, std::min(to_internal(domain, old), high - half));
    return from_internal(domain, rng.uniform(centre - half, centre + half));
  }

  double operator()(const Normal& prior) const {
    return from_internal(domain, to_internal(domain, old) + prior.sigma * shrink * rng.normal());
  }
};

class Anneal final : public Tuner {
 public:
  Anneal(Liar liar, Rng rng) : liar_(liar), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    dedup_ = Deduplicator(space);
    observed_.clear();
    counts_.assign(space.params.size(), 0);
    running_.clear();
    suggestions_ = 0;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      Point point = suggest();
      // As in NNI, a repetition is replaced by a random draw. If that repeats too, dedup_ takes the
      // next point of a grid.
      if (dedup_.repeats(point)) point = sample(space_, rng_);
      auto fresh = dedup_(std::move(point));
      if (!fresh) return Exhausted{};
      ++suggestions_;
      running_.start(id, *fresh);
      return Proposal{.point = *std::move(fresh)};
    });
  }

  void withdraw(TrialId id) override { running_.finish(id); }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (outcome.end != End::imported) running_.finish(outcome.trial);
      dedup_.add(outcome.point);
      if (outcome.usable()) observe(outcome.point, *outcome.loss);
    }
  }

  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    running_.start(id, point);
  }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  struct Observation {
    double loss = 0;
    Point point;
  };

  Point suggest();
  const Point* draw(std::size_t i, std::size_t count, bool lying);
  double lie() const;
  void observe(Point point, double loss);

  Liar liar_;
  Rng rng_;
  Space space_;
  Deduplicator dedup_{Space{}};
  std::vector<Observation> observed_;  // losses ascending, equal ones by age
  std::vector<std::size_t> counts_;    // of observations, for each parameter
  RunningTrials<> running_;
  std::int64_t suggestions_ = 0;
};

Point Anneal::suggest() {
  const bool lying = liar_ != Liar::none && suggestions_ > kHonestSuggestions && !observed_.empty();
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  // The drawn trial, and further ones for parameters that it does not define.
  std::vector<const Point*> models;
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    if (!is_active(space_, point, i)) continue;
    const Domain& domain = space_.params[i].domain;
    std::size_t count = counts_[i];
    if (lying) {
      count += static_cast<std::size_t>(
          std::ranges::count_if(running_.both_ends(kMostModelled),
                                [i](const auto* running) { return running->point.active(i); }));
    }
    if (count == 0) {
      point.values[i] = sample(domain, rng_);
      continue;
    }
    auto model = std::ranges::find_if(models, [i](const Point* one) { return one->active(i); });
    if (model == models.end()) model = models.insert(model, draw(i, count, lying));
    const double shrink = 1 / (1 + 0.1 * static_cast<double>(count));
    point.values[i] = std::visit(Near{domain, (*model)->values[i], shrink, rng_}, domain);
  }
  return point;
}

// Draws one of the `count` > 0 trials that define parameter i, by a geometric rank of their losses.
// A running trial is ranked by its pretended loss, after equal ones.
const Point* Anneal::draw(std::size_t i, std::size_t count, bool lying) {
  std::size_t rank = 0;
  while (rank + 1 < count && rng_.uniform() < 0.5) ++rank;

  const Point* found = nullptr;
  const auto visit = [&](const Point& point) {
    if (!found && point.active(i) && rank-- == 0) found = &point;
  };
  const double lie_loss = lying ? lie() : 0;
  auto next = observed_.begin();
  const auto lies_at = lying ? std::ranges::upper_bound(observed_, lie_loss, {}, &Observation::loss)
                             : observed_.end();
  for (; next != lies_at && !found; ++next) visit(next->point);
  if (lying) {
    for (const auto* running : running_.both_ends(kMostModelled)) visit(running->point);
  }
  for (; next != observed_.end() && !found; ++next) visit(next->point);
  return found;
}

double Anneal::lie() const {
  if (liar_ == Liar::best) return observed_.front().loss;
  if (liar_ == Liar::worst) return observed_.back().loss;
  double mean = 0;
  const auto n = static_cast<double>(observed_.size());
  for (const Observation& one : observed_) mean += one.loss / n;  // a sum could overflow
  return mean;
}

void Anneal::observe(Point point, double loss) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += point.active(i) ? 1 : 0;
  const auto at = std::ranges::upper_bound(observed_, loss, {}, &Observation::loss);
  observed_.insert(at, {loss, std::move(point)});
}

json Anneal::save() const {
  std::vector<double> losses;
  std::vector<const Point*> points;
  for (const Observation& one : observed_) {
    losses.push_back(one.loss);
    points.push_back(&one.point);
  }
  return {{"rng", to_json(rng_)},           {"seen", dedup_.save()},
          {"losses", save_numbers(losses)}, {"points", save_points(points)},
          {"running", running_.save()},     {"suggestions", suggestions_}};
}

Result<void> Anneal::load(const json& state) {
  Anneal loaded(liar_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  const auto losses = TRY(numbers_at(state, "losses"));
  auto points = TRY(load_points(space_, TRY(value_at(state, "points")), losses.size()));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) return fail("saved state: the loss of a trial must be finite");
    loaded.observe(std::move(points[i]), losses[i]);
  }
  TRY(loaded.running_.load(space_, TRY(array_at(state, "running"))));
  loaded.suggestions_ = TRY(integer_at(state, "suggestions"));
  *this = std::move(loaded);
  return {};
}

// "min" and "max" are NNI's names: of the metric as reported. So their meaning as a loss depends on
// the direction.
Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  const std::string type = args["constant_liar_type"];
  const bool maximize = context.objectives.at(0).maximize;
  Liar liar = Liar::none;
  if (args["parallel_optimize"]) {
    liar = type == "mean" ? Liar::mean : (type == "min") == maximize ? Liar::worst : Liar::best;
  }
  return std::make_unique<Anneal>(liar, rng);
}

}  // namespace
}  // namespace anneal_tuner

extern const TunerEntry anneal_entry = {
    .name = "Anneal",
    .aliases = {},
    .summary = "random search in a shrinking neighbourhood of the best results",
    .arguments = {{.name = "parallel_optimize",
                   .type = Argument::Type::boolean,
                   .fallback = false,
                   .help = "take running trials into account, with a result that is made up"},
                  {.name = "constant_liar_type",
                   .type = Argument::Type::choice,
                   .fallback = "min",
                   .help = "that result: the min, max or mean of the results so far",
                   .choices = {"min", "max", "mean"}}},
    .maximizes = false,
    .make = anneal_tuner::make};

}  // namespace attune
