// Trains many configurations a little and few of them in full: trials are paused at levels of
// training, and a model of all learning curves decides which one goes on, or that a new one starts.
//
// After Swersky, Snoek, Adams, "Freeze-Thaw Bayesian Optimization" (2014). The model is
// tuners/parts/curve_model.h. What is worth most for its cost is done next: the knowledge gradient
// (Frazier, Powell, Dayanik, "The Knowledge-Gradient Policy for Correlated Normal Beliefs", INFORMS
// 2009; Wu et al., "Practical Multi-Fidelity Bayesian Optimization for Hyperparameter Tuning", UAI
// 2019) of training a trial up to its next level, that is by how much the lowest expected loss of a
// full training is expected to fall once the result there is known. A level that says nothing about
// the end is worth nothing, so trials pass it at once.
//
// What measurements decided (docs/early-stopping.md): the power of the cost, the share of turns of
// the best trial, the size of the initial design.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/saved_numbers.h"
#include "math/gp/log_improvement.h"
#include "rungs/levels.h"
#include "rungs/resource.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/curve_model.h"
#include "tuners/registry.h"

namespace attune {
namespace freeze_thaw_tuner {
namespace {

// A gain is divided by this power of its cost. With 1, cheap starts crowd out long trainings; with
// 0, a few trials are trained in full too early.
constexpr double kCostPower = 0.6;
// In so many turns the trial that is expected to end best goes on, whatever its gain: full
// trainings teach the model what early results mean, and they are what the user wants.
constexpr double kTurnsOfBest = 0.3;
// The initial design costs this share of a full training at most, but has a trial for each
// dimension and one more.
constexpr double kDesignCost = 0.6;
// Trials whose ends are predicted for a decision, and those whose gain is computed.
constexpr std::size_t kMostPredicted = 300, kMostOptions = 40;
// With twice as many paused trials, the worse half is stopped: each holds a checkpoint.
constexpr std::size_t kMostPaused = 64;
// Levels at which a new trial may pause for the first time.
constexpr std::size_t kFirstLevels = 2;
// Multiplications that the ranking of candidates may cost, as in gp.cpp.
constexpr double kWork = 1.5e6;

struct Settings {
  std::string attribute = kTrainingIteration;
  std::int64_t most = 100;
  double factor = 3;
};

enum class State { running, paused, waits, over };

// One configuration and how far it was trained. `waits`: the trial ended by itself at its budget,
// so its training goes on in another trial, from its checkpoint.
struct Curve {
  std::size_t number = 0;  // in the model
  Point point;
  State state = State::running;
  double reached = 0;     // the resource of its last report
  std::size_t until = 0;  // the level at which it pauses next
};

class FreezeThaw final : public Tuner {
 public:
  FreezeThaw(Settings settings, Objective objective, Rng rng)
      : settings_(std::move(settings)), objective_(std::move(objective)), rng_(rng) {
    for (const auto level : syne_levels(1, settings_.factor, settings_.most)) {
      levels_.push_back(static_cast<double>(level));
    }
    levels_.push_back(static_cast<double>(settings_.most));
  }

  Result<void> set_space(const Space& space) override {
    space_ = space;
    features_ = Features(space);
    dedup_ = Deduplicator(space, Deduplicator::Remember::always);
    model_ = CurveModel(features_, levels_);
    curves_.clear();
    proposed_ = 0;
    return {};
  }

  bool wants_reports() const override { return true; }
  bool pauses_at_budget() const override { return true; }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  void withdraw(TrialId id) override { curves_.erase(id); }
  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    add(id, point, levels_.size() - 1);
  }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) tell(outcome);
  }
  std::vector<Decision> on_report(const Report& report) override;

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  using Curves = std::map<TrialId, Curve>;
  // What may be done next: a trial goes on, or (without one) the new configuration starts.
  struct Option {
    std::optional<TrialId> trial;
    std::size_t until = 0;
    double cost = 0;
  };

  Curve& add(TrialId id, const Point& point, std::size_t until) {
    Curve& curve = curves_[id];
    curve = {model_.add(features_.encode(point)), point, State::running, 0, until};
    return curve;
  }
  std::size_t last() const { return levels_.size() - 1; }
  // The first level above a resource; the last one if there is none.
  std::size_t level_after(double resource) const {
    const auto above = std::ranges::upper_bound(levels_, resource);
    return std::min(static_cast<std::size_t>(above - levels_.begin()), last());
  }
  std::size_t design_size() const;

  void tell(const Outcome& outcome);
  Answer answer(TrialId id);
  Answer start(TrialId id, const Point& point, std::size_t until);
  Answer go_on(TrialId id, TrialId trial, std::size_t until);
  Answer wait() const;
  std::vector<std::pair<double, TrialId>> expected_ends() const;
  std::optional<Point> new_point(std::span<const std::pair<double, TrialId>> ends);
  std::vector<Decision> give_up();

  Settings settings_;
  Objective objective_;
  Rng rng_;
  std::vector<double> levels_;
  Space space_;
  Features features_{Space{}};
  Deduplicator dedup_{Space{}};
  CurveModel model_{features_, std::array{1.0}};
  Curves curves_;
  std::size_t proposed_ = 0;  // configurations
};

std::size_t FreezeThaw::design_size() const {
  const std::size_t least = features_.size() + 1;
  const auto affordable = static_cast<std::size_t>(kDesignCost * levels_.back() / levels_.front());
  return std::clamp(affordable, least, 4 * least);
}

Answer FreezeThaw::start(TrialId id, const Point& point, std::size_t until) {
  auto fresh = dedup_(point);
  if (!fresh) return wait();
  add(id, *fresh, until);
  ++proposed_;
  return Proposal{.point = *std::move(fresh), .budget = levels_[until]};
}

Answer FreezeThaw::go_on(TrialId id, TrialId trial, std::size_t until) {
  Curve& curve = curves_.at(trial);
  Proposal proposal{.point = curve.point, .budget = levels_[until]};
  curve.until = until;
  if (curve.state == State::paused) {
    curve.state = State::running;
    proposal.resume = trial;
  } else {
    Curve next = curve;
    next.state = State::running;
    curve.state = State::over;
    curves_.insert_or_assign(id, std::move(next));
    proposal.checkpoint_from = trial;
  }
  return proposal;
}

// There is nothing to do now. Only a running trial can change that.
Answer FreezeThaw::wait() const {
  const bool any = std::ranges::any_of(
      curves_, [](const auto& entry) { return entry.second.state != State::over; });
  return any ? Answer(NotYet{}) : Answer(Exhausted{});
}

// The trials that were seen, with the targets that the model expects of them at the end, the best
// first. Of very many only those whose last losses promise most.
std::vector<std::pair<double, TrialId>> FreezeThaw::expected_ends() const {
  std::vector<std::pair<double, TrialId>> ends;
  for (const auto& [id, curve] : curves_) {
    if (const auto end = model_.rough_end(curve.number)) ends.emplace_back(*end, id);
  }
  std::ranges::sort(ends);
  ends.resize(std::min(ends.size(), kMostPredicted));
  std::vector<double> rows;
  for (const auto& [end, id] : ends) {
    const auto row = model_.at(features_.encode(curves_.at(id).point), last());
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const std::vector<double> means = model_.process().predict_means(rows);
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i].first = means[i];
  std::ranges::sort(ends);
  return ends;
}

// The new configuration whose full training promises the largest improvement.
std::optional<Point> FreezeThaw::new_point(std::span<const std::pair<double, TrialId>> ends) {
  const GaussianProcess& process = model_.process();
  const double best = ends.front().first;
  const std::size_t d = features_.size();
  Acquisition acquisition;
  acquisition.values = [&](std::span<const double> rows) {
    std::vector<double> whole, values;
    for (std::size_t i = 0; i + d <= rows.size(); i += d) {
      const auto row = model_.at(rows.subspan(i, d), last());
      whole.insert(whole.end(), row.begin(), row.end());
    }
    for (const auto& [mean, deviation] : process.predict_many(whole)) {
      values.push_back(log_expected_improvement(mean, deviation, best).value);
    }
    return values;
  };
  acquisition.climb = [&, by_mean = std::vector<double>(d + 1),
                       by_deviation = std::vector<double>(d + 1)](
                          std::span<const double> row, std::span<double> gradient) mutable {
    const auto [mean, deviation] = process.predict(model_.at(row, last()), by_mean, by_deviation);
    const LogImprovement at = log_expected_improvement(mean, deviation, best);
    for (std::size_t i = 0; i < d; ++i) {
      gradient[i] = at.by_mean * by_mean[i] + at.by_deviation * by_deviation[i];
    }
    return at.value;
  };
  std::vector<Point> good;
  for (const auto& [end, id] : ends.first(std::min<std::size_t>(ends.size(), 10))) {
    good.push_back(curves_.at(id).point);
  }
  const auto n = static_cast<double>(process.size());
  const int affordable = static_cast<int>(std::clamp(kWork / (n * n), 40.0, 300.0));
  const SearchSettings settings{
      .candidates = affordable, .neighbours = affordable / 2, .climbs = n > 200 ? 2 : 4};
  for (Found& found : search_acquisition(space_, features_, acquisition, good, settings, rng_)) {
    if (!dedup_.repeats(found.point)) return std::move(found.point);
  }
  return std::nullopt;
}

Answer FreezeThaw::answer(TrialId id) {
  if (const auto known = curves_.find(id); known != curves_.end()) {
    // The dispatcher did not carry out the proposal that this id was for: it started no trial.
    if (known->second.state == State::running) curves_.erase(known);
  }
  const bool no_dimensions = features_.size() == 0;
  if (proposed_ < design_size() || model_.usable() == 0 || no_dimensions) {
    return start(id, sample(space_, rng_), no_dimensions ? last() : 0);
  }
  model_.update();
  std::vector<std::vector<double>> rows;
  std::vector<CurveModel::Awaited> awaited;
  for (const auto& [trial, curve] : curves_) {
    if (curve.state == State::running) rows.push_back(features_.encode(curve.point));
  }
  for (const auto& [trial, curve] : curves_) {
    if (curve.state == State::running) awaited.push_back({rows[awaited.size()], curve.until});
  }
  model_.await(std::span(awaited).last(std::min(awaited.size(), kMostOptions)));

  const auto ends = expected_ends();
  const auto can_go_on = [&](TrialId trial) {
    const State state = curves_.at(trial).state;
    return state == State::paused || state == State::waits;
  };
  const TrialId best = ends.front().second;
  if (rng_.uniform() < kTurnsOfBest && can_go_on(best)) {
    return go_on(id, best, level_after(curves_.at(best).reached));
  }

  std::vector<Option> options;
  std::vector<double> at_end, at_next;
  const auto offer = [&](std::optional<TrialId> trial, std::span<const double> row, double from,
                         std::size_t until) {
    options.push_back({trial, until, levels_[until] - from});
    for (const auto& [level, all] : {std::pair(last(), &at_end), std::pair(until, &at_next)}) {
      const auto whole = model_.at(row, level);
      all->insert(all->end(), whole.begin(), whole.end());
    }
  };
  for (const auto& [end, trial] : ends) {
    if (options.size() == kMostOptions) break;
    const Curve& curve = curves_.at(trial);
    if (!can_go_on(trial)) continue;
    offer(trial, features_.encode(curve.point), curve.reached, level_after(curve.reached));
  }
  const auto fresh = new_point(ends);
  if (fresh) {
    const auto row = features_.encode(*fresh);
    for (std::size_t level = 0; level < std::min(kFirstLevels, levels_.size()); ++level) {
      offer(std::nullopt, row, 0, level);
    }
  }
  if (options.empty()) return start(id, sample(space_, rng_), 0);

  const auto lessons = model_.process().predict_lessons(at_end, at_next);
  const double lowest = ends[0].first, second = ends.size() > 1 ? ends[1].first : lowest;
  const auto gain = [&](std::size_t i) {
    // The gain is what a change of mind is worth: the best falls behind the second, or another one
    // gets ahead of the best.
    const double rival = options[i].trial == best ? second : lowest;
    const double change = std::max(lessons[i].change, 1e-9);
    const double gap = std::abs(lessons[i].prediction.mean - rival);
    return std::log(change) + log_improvement(-gap / change) -
           kCostPower * std::log(options[i].cost);
  };
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < options.size(); ++i) {
    if (gain(i) > gain(chosen)) chosen = i;
  }
  const Option& option = options[chosen];
  return option.trial ? go_on(id, *option.trial, option.until) : start(id, *fresh, option.until);
}

std::vector<Decision> FreezeThaw::on_report(const Report& report) {
  const auto found = curves_.find(report.trial);
  const auto resource = resource_of(report, settings_.attribute);
  if (found == curves_.end() || found->second.state == State::over || !resource) return {};
  Curve& curve = found->second;
  const auto metric =
      std::ranges::find(report.metrics, objective_.metric, &Metrics::value_type::first);
  const double value = metric == report.metrics.end() ? NAN : metric->second;
  const double loss = objective_.maximize ? -value : value;
  // A trial that goes on from an older checkpoint, or begins again, passes levels that are known.
  const double before = curve.reached;
  curve.reached = std::max(before, *resource);
  const auto level = std::ranges::find(levels_, std::min(*resource, levels_.back()));
  if (level != levels_.end()) {
    model_.observe(curve.number, static_cast<std::size_t>(level - levels_.begin()), loss);
  }
  if (*resource >= levels_.back()) {
    curve.state = State::over;
    return {{report.trial, Action::stop, fmt::format("trained in full: {:.6g}", *resource), true}};
  }
  if (!std::isfinite(loss)) {
    if (level == levels_.end()) model_.observe(curve.number, level_after(*resource), NAN);
    curve.state = State::over;
    return {{report.trial, Action::stop, "its result is not a finite number"}};
  }
  if (*resource < levels_[curve.until]) return {};
  // A trial that could not be paused runs on, and is asked again at each level.
  curve.state = State::paused;
  curve.until = level_after(*resource);
  std::vector<Decision> decisions = {
      {report.trial, Action::pause,
       fmt::format("{:.6g} at {:.6g} of {}: another trial may be worth more", value, *resource,
                   settings_.most)}};
  for (Decision& decision : give_up()) decisions.push_back(std::move(decision));
  return decisions;
}

// Stops the paused trials that promise least once there are too many.
std::vector<Decision> FreezeThaw::give_up() {
  std::vector<std::pair<double, TrialId>> paused;
  for (const auto& [id, curve] : curves_) {
    if (curve.state != State::paused) continue;
    paused.emplace_back(model_.rough_end(curve.number).value_or(HUGE_VAL), id);
  }
  std::vector<Decision> decisions;
  if (paused.size() <= 2 * kMostPaused) return decisions;
  std::ranges::sort(paused);
  for (std::size_t i = kMostPaused; i < paused.size(); ++i) {
    curves_.at(paused[i].second).state = State::over;
    decisions.push_back({paused[i].second, Action::stop,
                         fmt::format("{} paused trials promise more", kMostPaused)});
  }
  return decisions;
}

void FreezeThaw::tell(const Outcome& outcome) {
  auto found = curves_.find(outcome.trial);
  if (outcome.end == End::imported || found == curves_.end()) {
    // A result from elsewhere, or of the search space before.
    if (!outcome.loss) return;
    dedup_.add(outcome.point);
    const TrialId key =
        std::min(kImportedTrial - 1, curves_.empty() ? 0 : curves_.begin()->first - 1);
    Curve& curve = add(key, outcome.point, last());
    curve.state = State::over;
    curve.reached = outcome.budget.value_or(levels_.back());
    const auto above = std::ranges::upper_bound(levels_, curve.reached);
    if (above != levels_.begin()) {
      model_.observe(curve.number, static_cast<std::size_t>(above - levels_.begin()) - 1,
                     *outcome.loss);
    }
    return;
  }
  Curve& curve = found->second;
  const bool was_over = curve.state == State::over;
  curve.state = State::over;
  if (was_over || outcome.end == End::stopped) return;
  if (outcome.end != End::completed) {
    model_.observe(curve.number, level_after(curve.reached), NAN);
    return;
  }
  // It ended by itself. At its budget: it may go on in another trial. Elsewhere: this was all.
  const double budget = outcome.budget.value_or(levels_.back());
  const bool at_budget = budget < levels_.back() && curve.reached <= budget;
  const auto level = std::ranges::find(levels_, budget);
  if (at_budget && level != levels_.end()) {
    curve.reached = budget;
    curve.until = level_after(budget);
    curve.state = State::waits;
    model_.observe(curve.number, static_cast<std::size_t>(level - levels_.begin()),
                   outcome.loss.value_or(NAN));
  } else {
    model_.observe(curve.number, last(), outcome.loss.value_or(NAN));
  }
}

json FreezeThaw::save() const {
  std::vector<const Point*> points;
  std::vector<double> numbers, states, reached, until;
  json ids = json::array();
  for (const auto& [id, curve] : curves_) {
    ids.push_back(id);
    points.push_back(&curve.point);
    numbers.push_back(static_cast<double>(curve.number));
    states.push_back(static_cast<double>(curve.state));
    reached.push_back(curve.reached);
    until.push_back(static_cast<double>(curve.until));
  }
  return {{"rng", to_json(rng_)},           {"seen", dedup_.save()},
          {"model", model_.save()},         {"ids", std::move(ids)},
          {"points", save_points(points)},  {"numbers", save_numbers(numbers)},
          {"states", save_numbers(states)}, {"reached", save_numbers(reached)},
          {"until", save_numbers(until)},   {"proposed", proposed_}};
}

Result<void> FreezeThaw::load(const json& state) {
  FreezeThaw loaded(settings_, objective_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  TRY(loaded.model_.load(TRY(object_at(state, "model"))));
  const json ids = TRY(array_at(state, "ids"));
  auto points = TRY(load_points(space_, TRY(value_at(state, "points")), ids.size()));
  const auto numbers = TRY(numbers_at(state, "numbers")), states = TRY(numbers_at(state, "states"));
  const auto reached = TRY(numbers_at(state, "reached")), until = TRY(numbers_at(state, "until"));
  const auto damaged = [] { return fail("saved state: an impossible trial"); };
  for (const auto* column : {&numbers, &states, &reached, &until}) {
    if (column->size() != ids.size()) return damaged();
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].is_number_integer() ||
        !is_index(numbers[i], static_cast<double>(loaded.model_.size())) ||
        !is_index(states[i], 4) || !(reached[i] >= 0) ||
        !is_index(until[i], static_cast<double>(levels_.size()))) {
      return damaged();
    }
    const bool is_new =
        loaded.curves_
            .emplace(ids[i].get<TrialId>(),
                     Curve{static_cast<std::size_t>(numbers[i]), std::move(points[i]),
                           static_cast<State>(static_cast<int>(states[i])), reached[i],
                           static_cast<std::size_t>(until[i])})
            .second;
    if (!is_new) return damaged();
  }
  const auto proposed = TRY(integer_at(state, "proposed"));
  if (proposed < 0) return damaged();
  loaded.proposed_ = static_cast<std::size_t>(proposed);
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  Settings settings{args["resource_attr"], args["max_t"], args["reduction_factor"]};
  return std::make_unique<FreezeThaw>(std::move(settings), context.objectives.at(0), rng);
}

}  // namespace
}  // namespace freeze_thaw_tuner

extern const TunerEntry freeze_thaw_entry = {
    .name = "FreezeThaw",
    .aliases = {},
    .summary = "pauses and resumes trials by a model of their learning curves",
    .arguments = {{.name = "resource_attr",
                   .type = Argument::Type::text,
                   .fallback = kTrainingIteration,
                   .help = "the metric that counts how far a trial is"},
                  {.name = "max_t",
                   .type = Argument::Type::integer,
                   .fallback = 100,
                   .help = "resource_attr at the end of a full training",
                   .low = 1,
                   .high = 1e9},
                  {.name = "reduction_factor",
                   .type = Argument::Type::number,
                   .fallback = 3,
                   .help = "each level of training is so many times the one before",
                   .low = 1.5,
                   .high = 1e6}},
    .maximizes = false,
    .wants_reports = true,
    .make = freeze_thaw_tuner::make};

}  // namespace attune
