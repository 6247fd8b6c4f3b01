#include "tuners/parts/search_record.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/saved_numbers.h"
#include "space/middle.h"
#include "space/sample.h"
#include "tuners/parts/prior_belief.h"

namespace attune {
namespace {

constexpr int kTries = 100;  // draws before a repeated point is accepted

}  // namespace

bool enough_results(std::size_t usable, std::size_t running, std::size_t wanted) {
  if (usable == 0) return false;
  return usable >= wanted || (2 * usable >= wanted && usable + running >= wanted);
}

SearchRecord::SearchRecord(const Space& space, const Objectives& objectives)
    : space_(space),
      objectives_(objectives),
      features_(space),
      priors_(space),
      // In continuous spaces too: a search for the best point may end in the same corner twice.
      dedup_(space, Deduplicator::Remember::always),
      history_(features_.size(), objectives.size(), objectives.limits()) {}

std::vector<std::span<const double>> SearchRecord::running(std::size_t most) const {
  std::vector<std::span<const double>> rows;
  for (const auto& trial : running_.newest(most)) rows.emplace_back(trial.encoded);
  return rows;
}

std::vector<Point> SearchRecord::best_points(std::span<const std::size_t> members,
                                             std::span<const double> losses,
                                             std::size_t count) const {
  std::vector<std::size_t> ranked(members.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  const std::size_t n = std::min(count, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(n), {},
                            [&](std::size_t i) { return std::pair(losses[i], i); });
  ranked.resize(n);
  std::vector<Point> best;
  for (const std::size_t i : ranked) best.push_back(points_[members[i]]);
  return best;
}

const Point* SearchRecord::unseen(std::span<const Found> found) const {
  for (const Found& one : found) {
    if (!dedup_.repeats(one.point)) return &one.point;
  }
  return nullptr;
}

Point SearchRecord::first_unseen(std::span<const Found> found, Rng& rng) const {
  const Point* point = unseen(found);
  return point != nullptr ? *point : draw(rng);
}

Point SearchRecord::draw(Rng& rng) const {
  const auto is_new = [&](const Point& point) {
    return space_.feasible(point) && !dedup_.repeats(point);
  };
  const auto drawn = [&](const std::optional<Branch>& branch) {
    Point point;
    for (int i = 0; i <= kTries; ++i) {
      point = sample(space_, rng);
      if (branch) enter(space_, *branch, point, rng);
      if (is_new(point)) break;
    }
    return point;
  };
  // A branch of which all points are known, or break a constraint, stays the one with the fewest
  // trials.
  if (const std::optional<Branch> branch = neglected(kDrawn, rng)) {
    if (Point point = drawn(branch); is_new(point)) return point;
  }
  return drawn({});
}

Point SearchRecord::early(Rng& rng) const {
  Point drawn = draw(rng);
  if (first_lost_ || history_.size() + running_.size() != starts_) return drawn;
  Point first = drawn;
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    if (first.active(i) && features_.position(i)) first.values[i] = middle(space_.params[i].domain);
  }
  return space_.feasible(first) ? first : drawn;
}

std::optional<Branch> SearchRecord::neglected(std::size_t wanted, Rng& rng) const {
  const auto choice = root_choice(space_);
  if (!choice || history_.size() >= kEarly) return {};
  std::vector<std::size_t> trials(
      std::get<Choice>(space_.params[*choice].domain).candidates.size());
  const auto count = [&](const Point& point) {
    if (point.active(*choice)) ++trials[static_cast<std::size_t>(point.values[*choice])];
  };
  for (const Point& point : points_) count(point);
  for (const auto& trial : running_.all()) count(trial.point);
  const std::size_t fewest = std::ranges::min(trials);
  if (fewest >= wanted) return {};
  std::vector<std::size_t> options;
  for (std::size_t k = 0; k < trials.size(); ++k) {
    if (trials[k] == fewest) options.push_back(k);
  }
  return Branch{*choice, options[rng.index(options.size())]};
}

Acquisition SearchRecord::with_prior(Acquisition acquisition) const {
  const double belief = prior_belief(priors_, history_, prior_since_);
  return belief > 0 ? times_prior(std::move(acquisition), priors_, belief) : acquisition;
}

void SearchRecord::set_priors(const Space& space) {
  space_ = space;
  priors_ = Priors(space);
  prior_since_ = history_.size();
}

Answer SearchRecord::propose(TrialId id, Point point) {
  auto fresh = dedup_(std::move(point));
  if (!fresh) return Exhausted{};
  running_.start(id, *fresh, features_.encode(*fresh));
  return Proposal{.point = *std::move(fresh)};
}

Answer SearchRecord::repeat(TrialId id, Point point) {
  running_.start(id, point, features_.encode(point));
  return Proposal{.point = std::move(point)};
}

void SearchRecord::tell(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    // All imports have the same id, which is no running trial's.
    if (outcome.end != End::imported) running_.finish(outcome.trial);
    dedup_.add(outcome.point);
    const auto values = objectives_(outcome);
    using enum History::Kind;
    learn(outcome.point,
          values                        ? usable
          : outcome.end == End::stopped ? stopped
                                        : useless,
          values.value_or(std::vector(objectives_.size() + objectives_.limits(), 0.0)));
  }
}

void SearchRecord::adopt(TrialId id, const Point& point) {
  dedup_.add(point);
  running_.start(id, point, features_.encode(point));
}

void SearchRecord::learn(Point point, History::Kind kind, std::span<const double> values) {
  history_.add(features_.encode(point), kind, values);
  points_.push_back(std::move(point));
}

json SearchRecord::save() const {
  std::vector<const Point*> points;
  std::vector<double> values, kinds;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    points.push_back(&points_[i]);
    values.insert(values.end(), history_.values(i).begin(), history_.values(i).end());
    kinds.push_back(static_cast<double>(history_.kind(i)));
  }
  json state = {{"dedup", dedup_.save()},
                {"points", save_points(points)},
                {"values", save_numbers(values)},
                {"kinds", save_numbers(kinds)},
                {"running", running_.save()}};
  if (prior_since_ > 0) state["prior_since"] = prior_since_;
  if (starts_ > 0) state["starts"] = starts_;
  if (first_lost_) state["first_lost"] = true;
  return state;
}

Result<void> SearchRecord::load(const json& state, Gaps gaps) {
  SearchRecord loaded(space_, objectives_);
  TRY(loaded.dedup_.load(TRY(object_at(state, "dedup"))));
  const auto values = TRY(numbers_at(state, "values"));
  const auto kinds = TRY(numbers_at(state, "kinds"));
  auto points = TRY(load_points(space_, TRY(value_at(state, "points")), kinds.size(), gaps));
  const std::size_t width = objectives_.size() + objectives_.limits();
  if (values.size() != width * kinds.size() ||
      !std::ranges::all_of(values, [](double value) { return std::isfinite(value); }) ||
      !std::ranges::all_of(kinds, [](double kind) { return is_index(kind, 3); })) {
    return fail("saved state: impossible results");
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = static_cast<History::Kind>(static_cast<int>(kinds[i]));
    loaded.learn(std::move(points[i]), kind, std::span(values).subspan(i * width, width));
  }
  TRY(loaded.running_.load(space_, TRY(array_at(state, "running")),
                           [&](const Point& point) { return features_.encode(point); }));
  if (state.contains("prior_since")) {
    const auto since = TRY(integer_at(state, "prior_since"));
    if (since < 0 || static_cast<std::size_t>(since) > kinds.size()) {
      return fail("saved state: a prior from the future");
    }
    loaded.prior_since_ = static_cast<std::size_t>(since);
  }
  if (state.contains("starts")) {
    const auto starts = TRY(integer_at(state, "starts"));
    if (starts < 0) return fail("saved state: fewer than no trials");
    loaded.starts_ = static_cast<std::size_t>(starts);
  }
  if (state.contains("first_lost")) loaded.first_lost_ = TRY(boolean_at(state, "first_lost"));
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
