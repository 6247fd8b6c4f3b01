// Population based bandits: population based training whose new configurations come from a model
// instead of chance. The model predicts how much a trial improves within an interval, from the
// configuration, the time and the loss before. A configuration is good if that may be much.
//
// Source: Parker-Holder, Nguyen, Roberts, "Provably Efficient Online Hyperparameter Optimization
// with Population-Based Bandits" (NeurIPS 2020), algorithm 1. It differs from Ray Tune's PB2 in
// this:
//
// * The bounds are those of the search space, and all kinds of parameters can change: the model
//   sees a point as its position in the unit cube.
// * Time is counted in intervals, so that the model can forget within a few of them. In Ray all of
//   the time is one unit, of which at most half is forgotten.
// * The kernel comes from a small grid, and the best of some hundred candidates is taken.
// * Without any model yet, a configuration changes at random, as in PopulationBasedTraining.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/saved_numbers.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "space/unit_cube.h"
#include "tuners/parts/explore_drift.h"
#include "tuners/parts/explore_tuner.h"
#include "tuners/registry.h"

namespace attune {
namespace pb2_tuner {
namespace {

constexpr std::size_t kRows = 120;  // the latest intervals, which the model learns
constexpr int kAnywhere = 200, kNear = 100, kRefine = 50;  // candidates

// An interval that a trial has trained with one configuration.
struct Interval {
  double time = 0;    // at its end, in intervals
  double before = 0;  // the loss at its begin
  double gain = 0;    // how much less the loss is at its end, in an interval; NaN: it diverged
  Point point = {};
};

// What the next interval of a member begins with.
struct Begin {
  double time = 0, loss = 0;
};

class Bandit final : public Explorer {
 public:
  explicit Bandit(double interval) : interval_(interval) {}

  void set_space(const Space& space, const Mutable& which) override {
    space_ = space;
    which_ = which;
    cube_.emplace(space);
    intervals_.clear();
    chosen_.clear();
    begins_.clear();
    newest_ = chosen_at_ = 0;
  }

  void observe(std::size_t member, double resource, double loss, const Point& point) override {
    if (begins_.size() <= member) begins_.resize(member + 1);
    const double time = resource / interval_;
    newest_ = std::max(newest_, time);
    std::optional<Begin>& begin = begins_[member];
    if (begin && time > begin->time) {
      const double gain = std::isfinite(loss) ? (begin->loss - loss) / (time - begin->time) : NAN;
      if (intervals_.size() == kRows) intervals_.erase(intervals_.begin());
      intervals_.push_back({time, begin->loss, gain, point});
    }
    begin = std::isfinite(loss) ? std::optional(Begin{time, loss}) : std::nullopt;
  }

  Explored explore(std::size_t loser, std::size_t donor, const Point& point, Rng& rng) override {
    if (begins_.size() <= std::max(loser, donor)) begins_.resize(std::max(loser, donor) + 1);
    const Begin begin = begins_[donor].value_or(Begin{});
    begins_[loser] = begin;
    // Configurations that were chosen at the same time keep a distance from each other.
    if (newest_ > chosen_at_) chosen_.clear();
    chosen_at_ = newest_;
    const std::vector<double> targets = standardised_gains();
    Explored explored = targets.empty() ? explore_as_ray(space_, which_, point, {}, rng)
                                        : promising(begin, point, targets, rng);
    chosen_.push_back({begin.time, begin.loss, 0, explored.point});
    return explored;
  }

  json save() const override {
    std::vector<double> begins;
    for (const auto& begin : begins_) {
      begins.insert(begins.end(),
                    {begin ? 1.0 : 0.0, begin ? begin->time : 0, begin ? begin->loss : 0});
    }
    return {{"intervals", save_intervals(intervals_)},
            {"chosen", save_intervals(chosen_)},
            {"begins", save_numbers(begins)},
            {"times", save_numbers(std::array{newest_, chosen_at_})}};
  }

  Result<void> load(const json& state) override {
    auto intervals = TRY(load_intervals(TRY(object_at(state, "intervals"))));
    auto chosen = TRY(load_intervals(TRY(object_at(state, "chosen"))));
    const auto begins = TRY(numbers_at(state, "begins"));
    const auto times = TRY(numbers_at(state, "times"));
    const auto finite = [](double x) { return std::isfinite(x); };
    if (intervals.size() > kRows || begins.size() % 3 != 0 || times.size() != 2 ||
        !std::ranges::all_of(begins, finite) || !std::ranges::all_of(times, finite)) {
      return fail("saved state: PB2 cannot be there");
    }
    intervals_ = std::move(intervals);
    chosen_ = std::move(chosen);
    begins_.clear();
    for (auto n = begins.begin(); n != begins.end(); n += 3) {
      begins_.push_back(n[0] != 0 ? std::optional(Begin{n[1], n[2]}) : std::nullopt);
    }
    newest_ = times[0];
    chosen_at_ = times[1];
    return {};
  }

 private:
  static json save_intervals(const std::vector<Interval>& intervals) {
    std::vector<double> numbers;  // three each
    std::vector<const Point*> points;
    for (const Interval& one : intervals) {
      numbers.insert(numbers.end(), {one.time, one.before, one.gain});
      points.push_back(&one.point);
    }
    return {{"numbers", save_numbers(numbers)}, {"points", save_points(points)}};
  }

  Result<std::vector<Interval>> load_intervals(const json& state) const {
    const auto numbers = TRY(numbers_at(state, "numbers"));
    auto points = TRY(load_points(space_, TRY(value_at(state, "points")), numbers.size() / 3));
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double time = numbers[3 * i], before = numbers[3 * i + 1], gain = numbers[3 * i + 2];
      if (!std::isfinite(time) || !std::isfinite(before) || std::isinf(gain)) {
        return fail("saved state: an impossible interval of PB2");
      }
      intervals.push_back({time, before, gain, std::move(points[i])});
    }
    if (numbers.size() % 3 != 0) return fail("saved state: three numbers an interval expected");
    return intervals;
  }

  // With mean 0 and deviation 1, and within 2 of it. An interval that diverged gained as little as
  // the worst of the others. Empty: there are no gains yet.
  std::vector<double> standardised_gains() const {
    std::vector<double> gains;
    double least = INFINITY, sum = 0, squares = 0;
    for (const Interval& one : intervals_) least = std::fmin(least, one.gain);  // fmin ignores NaN
    if (!std::isfinite(least)) return gains;
    for (const Interval& one : intervals_) gains.push_back(std::isnan(one.gain) ? least : one.gain);
    const auto n = static_cast<double>(gains.size());
    for (const double gain : gains) sum += gain / n;
    for (const double gain : gains) squares += (gain - sum) * (gain - sum) / n;
    const double deviation = squares > 0 && std::isfinite(squares) ? std::sqrt(squares) : 1;
    for (double& gain : gains) gain = std::clamp((gain - sum) / deviation, -2.0, 2.0);
    return gains;
  }

  DriftProcess::Row row(const Interval& one, double low, double high) const {
    DriftProcess::Row row{one.time, cube_->to_cube(one.point)};
    row.x.push_back(high > low ? (one.before - low) / (high - low) : 0.5);
    return row;
  }

  // The configuration with the highest upper confidence bound of what it gains.
  Explored promising(const Begin& begin, const Point& from, const std::vector<double>& targets,
                     Rng& rng) const {
    double low = begin.loss, high = begin.loss;
    for (const Interval& one : intervals_) {
      low = std::min(low, one.before);
      high = std::max(high, one.before);
    }
    std::vector<DriftProcess::Row> rows;
    for (const Interval& one : intervals_) rows.push_back(row(one, low, high));
    const DriftKernel kernel = likely_kernel(rows, targets);
    for (const Interval& one : chosen_) rows.push_back(row(one, low, high));
    const DriftProcess model(rows, targets, kernel);
    const double beta = 0.2 + std::max(0.0, std::log(0.4 * static_cast<double>(targets.size())));
    Explored best{from, {}};
    double highest = -std::numeric_limits<double>::infinity();
    const auto consider = [&](const Point& point) {
      if (!space_.feasible(point)) return;
      const auto predicted = model.predict(row({begin.time, begin.loss, 0, point}, low, high));
      const double bound = predicted.mean + std::sqrt(beta) * predicted.deviation;
      if (!(bound > highest)) return;
      highest = bound;
      best.point = point;
    };
    consider(from);
    for (int i = 0; i < kAnywhere; ++i) consider(moved(from, from, {}, rng));
    for (int i = 0; i < kNear; ++i) consider(moved(from, from, 0.1, rng));
    for (const double width : {0.1, 0.03, 0.01}) {
      const Point centre = best.point;
      for (int i = 0; i < kRefine; ++i) consider(moved(centre, from, width, rng));
    }
    best.changes = changes(from, best.point);
    return best;
  }

  // A point around the centre, or (no width) anywhere. Parameters that may not change have the
  // values of `from`.
  Point moved(const Point& centre, const Point& from, std::optional<double> width, Rng& rng) const {
    std::vector<double> x = cube_->to_cube(centre);
    for (double& coordinate : x) {
      coordinate = width ? std::clamp(coordinate + *width * rng.normal(), 0.0, 1.0) : rng.uniform();
    }
    Point point = cube_->from_cube(x);
    for (std::size_t i = 0; i < point.values.size(); ++i) {
      // A choice that has its old value again decides anew about what depends on it.
      if (!is_active(space_, point, i)) {
        point.values[i] = Point::kInactive;
      } else if (from.active(i) && (!which_[i] || !point.active(i))) {
        point.values[i] = from.values[i];
      } else if (!point.active(i)) {
        point.values[i] = sample(space_.params[i].domain, rng);
      }
    }
    return point;
  }

  std::vector<std::string> changes(const Point& from, const Point& to) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < to.values.size(); ++i) {
      const double value = to.values[i];
      if (!to.active(i) || value == from.values[i]) continue;
      const auto* choice = std::get_if<Choice>(&space_.params[i].domain);
      all.push_back(space_.params[i].path + " = " +
                    (choice ? dump_json(choice->candidates[static_cast<std::size_t>(value)])
                            : fmt::format("{:.6g}", value)));
    }
    return all;
  }

  const double interval_;
  Space space_;
  Mutable which_;
  std::optional<UnitCube> cube_;
  std::vector<Interval> intervals_;           // the latest, the oldest first
  std::vector<Interval> chosen_;              // at chosen_at_, without their gains
  std::vector<std::optional<Begin>> begins_;  // of each member; nothing: unknown, or it diverged
  double newest_ = 0, chosen_at_ = 0;         // times
};

}  // namespace
}  // namespace pb2_tuner

extern const TunerEntry pb2_entry = {
    .name = "PB2",
    .aliases = {},
    .summary = "population based training with a model of what improves the trials now",
    .arguments = population_arguments(),
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const Context& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      auto settings = TRY(population_settings("PB2", args, context));
      auto bandit = std::make_unique<pb2_tuner::Bandit>(settings.rule.interval);
      return make_population_tuner(std::move(settings), std::move(bandit), rng);
    }};

}  // namespace attune
