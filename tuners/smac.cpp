// Sequential model-based algorithm configuration: expected improvement over a random forest
// (Hutter, Hoos, Leyton-Brown, "Sequential Model-Based Optimization for General Algorithm
// Configuration", LION 2011; Lindauer et al., "SMAC3: A Versatile Bayesian Optimization Package for
// Hyperparameter Optimization", JMLR 2022).
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/saved_numbers.h"
#include "math/forest.h"
#include "math/log_improvement.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/acquisition_search.h"
#include "tuners/registry.h"
#include "tuners/surrogate.h"

namespace attune {
namespace {

struct Settings {
  ForestSettings forest;
  std::size_t initial_design = 10;
  double random_probability = 0.05;
};

constexpr std::size_t kMostRows = 500;      // of larger histories the forest learns a part
constexpr std::size_t kMostPretended = 64;  // running trials that the forest knows of, the newest
constexpr std::size_t kGood = 10;           // points to search around
constexpr double kLeastDeviation = 1e-3;  // trees that agree are not sure, in deviations of losses
constexpr SearchSettings kSearch = {
    .candidates = 500, .neighbours = 500, .climbs = 5, .rounds = 5, .exchanges = 4};
constexpr int kTries = 100;  // draws before a repeated point is accepted

std::vector<std::size_t> categories(const Features& features) {
  std::vector<std::size_t> all;
  for (const auto& dimension : features.dimensions()) all.push_back(dimension.categories);
  return all;
}

class Smac final : public Tuner {
 public:
  Smac(const Settings& settings, Rng rng) : settings_(settings), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    features_ = Features(space);
    dedup_ = Deduplicator(space);
    seen_ = SeenPoints(space);
    history_ = History(features_.size());
    points_.clear();
    running_.clear();
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      auto fresh = dedup_(suggest());
      if (!fresh) return Exhausted{};
      seen_.insert(*fresh);
      start(id, *fresh);
      return Proposal{.point = *std::move(fresh)};
    });
  }

  void withdraw(TrialId id) override { finish(id); }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (outcome.end != End::imported) finish(outcome.trial);
      dedup_.add(outcome.point);
      seen_.insert(outcome.point);
      using enum History::Kind;
      const bool has_loss = outcome.loss && std::isfinite(*outcome.loss);
      const auto kind = outcome.end == End::stopped ? stopped : has_loss ? usable : useless;
      learn(outcome.point, kind, has_loss ? *outcome.loss : 0);
    }
  }

  void adopt(TrialId id, const Point& point) override {
    finish(id);
    dedup_.add(point);
    seen_.insert(point);
    start(id, point);
  }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  struct Running {
    TrialId id = 0;
    Point point;
  };

  void start(TrialId id, const Point& point) { running_.push_back({id, point}); }
  void finish(TrialId id) {
    std::erase_if(running_, [id](const Running& running) { return running.id == id; });
  }
  void learn(const Point& point, History::Kind kind, double loss) {
    points_.push_back(point);
    history_.add(features_.encode(point), kind, loss);
  }

  Point suggest();
  Forest fit(std::span<const std::size_t> members, std::vector<double> losses);
  std::vector<Point> best_points(std::span<const std::size_t> members,
                                 std::span<const double> losses) const;
  Point draw();

  Settings settings_;
  Rng rng_;
  Space space_;
  Features features_{Space{}};
  Deduplicator dedup_{Space{}};
  SeenPoints seen_{Space{}};  // where dedup_ does nothing too: integers beside a continuous one
  History history_{0};
  std::vector<Point> points_;     // of history_
  std::vector<Running> running_;  // oldest first
};

Point Smac::suggest() {
  if (history_.usable() < settings_.initial_design || features_.size() == 0 ||
      rng_.uniform() < settings_.random_probability) {
    return draw();
  }
  const std::vector<std::size_t> members = modelled(history_, kMostRows);
  const std::vector<double> losses = targets(history_, members, Scale::straightened);
  const double best = *std::ranges::min_element(losses);
  const Forest forest = fit(members, losses);
  Acquisition acquisition;
  acquisition.values = [&](std::span<const double> rows) {
    std::vector<double> values;
    for (const auto& [mean, variance] : forest.predict_many(rows, rows.size() / features_.size())) {
      const double deviation = std::max(std::sqrt(variance), kLeastDeviation);
      values.push_back(log_expected_improvement(mean, deviation, best).value);
    }
    return values;
  };
  for (const Found& found : search_acquisition(space_, features_, acquisition,
                                               best_points(members, losses), kSearch, rng_)) {
    if (!seen_.contains(found.point)) return found.point;
  }
  return draw();
}

// Anew each time: that costs less than the search, the forest knows of every result and running
// trial, and nothing of it has to be saved.
Forest Smac::fit(std::span<const std::size_t> members, std::vector<double> losses) {
  std::vector<double> rows;
  const auto append = [&rows](std::span<const double> row) {
    rows.insert(rows.end(), row.begin(), row.end());
  };
  double mean = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    append(history_.row(members[i]));
    mean += losses[i] / static_cast<double>(members.size());
  }
  const std::size_t pretended = std::min(running_.size(), kMostPretended);
  for (const Running& running : std::span(running_).last(pretended)) {
    append(features_.encode(running.point));
    losses.push_back(mean);
  }
  Forest forest(categories(features_), settings_.forest);
  forest.fit(rows, losses, rng_);
  return forest;
}

// Those with the lowest losses, the best first.
std::vector<Point> Smac::best_points(std::span<const std::size_t> members,
                                     std::span<const double> losses) const {
  std::vector<std::size_t> ranked(members.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  const std::size_t n = std::min(kGood, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(n), {},
                            [&](std::size_t i) { return std::pair(losses[i], i); });
  ranked.resize(n);
  std::vector<Point> good;
  for (const std::size_t i : ranked) good.push_back(points_[members[i]]);
  return good;
}

// Preferably a new one that breaks no constraint.
Point Smac::draw() {
  Point point = sample(space_, rng_);
  for (int i = 0; i < kTries && (!space_.feasible(point) || seen_.contains(point)); ++i) {
    point = sample(space_, rng_);
  }
  return point;
}

json Smac::save() const {
  std::vector<const Point*> points;
  std::vector<double> losses, kinds;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    points.push_back(&points_[i]);
    losses.push_back(history_.loss(i));
    kinds.push_back(static_cast<double>(history_.kind(i)));
  }
  json running = json::array();
  for (const Running& one : running_) {
    running.push_back({{"trial", one.id}, {"point", save_point(one.point)}});
  }
  return {{"rng", to_json(rng_)},
          {"seen", seen_.save()},
          {"dedup", dedup_.save()},
          {"points", save_points(points)},
          {"losses", save_numbers(losses)},
          {"kinds", save_numbers(kinds)},
          {"running", running}};
}

Result<void> Smac::load(const json& state) {
  Smac loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "dedup"))));
  TRY(loaded.seen_.load(TRY(array_at(state, "seen"))));
  const auto losses = TRY(numbers_at(state, "losses"));
  const auto kinds = TRY(numbers_at(state, "kinds"));
  const auto points = TRY(load_points(space_, TRY(value_at(state, "points")), losses.size()));
  if (kinds.size() != losses.size()) return fail("saved state: not as many kinds as losses");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i]) || !is_index(kinds[i], 3)) {
      return fail("saved state: impossible results");
    }
    loaded.learn(points[i], static_cast<History::Kind>(static_cast<int>(kinds[i])), losses[i]);
  }
  for (const json& one : TRY(array_at(state, "running"))) {
    const Point point = TRY(load_point(space_, TRY(value_at(one, "point"))));
    loaded.start(TRY(integer_at(one, "trial")), point);
  }
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context&, Rng rng) {
  Settings settings;
  settings.forest.trees = args["n_trees"];
  settings.forest.share = args["ratio_features"];
  settings.forest.least_leaf = args["min_samples_leaf"];
  settings.forest.bootstrap = args["bootstrap"];
  settings.initial_design = args["initial_design"];
  settings.random_probability = args["random_probability"];
  return std::make_unique<Smac>(settings, rng);
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  const ForestSettings forest;
  const Settings settings;
  return {{.name = "config_dedup",
           .type = boolean,
           .fallback = false,
           .help = "NNI's; without effect: no configuration is proposed twice either way"},
          {.name = "initial_design",
           .type = integer,
           .fallback = settings.initial_design,
           .help = "results before the forest is asked; imported ones count",
           .low = 1,
           .high = 1e6},
          {.name = "random_probability",
           .type = number,
           .fallback = settings.random_probability,
           .help = "share of later proposals that are random draws",
           .low = 0,
           .high = 1},
          {.name = "n_trees",
           .type = integer,
           .fallback = forest.trees,
           .help = "trees in the forest",
           .low = 1,
           .high = 1000},
          {.name = "ratio_features",
           .type = number,
           .fallback = forest.share,
           .help = "share of the parameters that a split chooses from",
           .low = 0.01,
           .high = 1},
          {.name = "min_samples_leaf",
           .type = integer,
           .fallback = forest.least_leaf,
           .help = "results on each side of a split",
           .low = 1,
           .high = 1000},
          {.name = "bootstrap",
           .type = boolean,
           .fallback = forest.bootstrap,
           .help = "whether each tree learns from a sample with replacement, or from all results"}};
}

}  // namespace

extern const TunerEntry smac_entry = {
    .name = "SMAC",
    .aliases = {"SMACTuner"},
    .summary = "random forest: choices and conditions among many parameters",
    .arguments = arguments(),
    .maximizes = true,
    .make = make};

}  // namespace attune
