// The tuner CMA-ES (math/cma_es/cma_es.h), for results that come in any order.
//
// A generation ends when `population` results of trials that began in it have come. Two other kinds
// of results take part as injected ones (Hansen 2011): those of trials that were drawn in earlier
// generations and end late, because many run at a time, and those of trials that were not drawn
// (imports, once the search has begun, only if they are the best of all). If one tell() has more
// results than the generation lacks, the generation is larger. A failed trial counts as the worst.
// A trial that never ends delays nothing, because others are drawn.
//
// Results that are there before the first proposal are a warm start
// (math/cma_es/cma_es_warm_start.h).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/saved_numbers.h"
#include "math/cma_es/cma_es.h"
#include "math/cma_es/cma_es_categories.h"
#include "math/cma_es/cma_es_history.h"
#include "math/cma_es/cma_es_restarts.h"
#include "math/cma_es/cma_es_warm_start.h"
#include "space/dedup.h"
#include "tuners/parts/cma_es_encoding.h"
#include "tuners/parts/cma_es_trial.h"
#include "tuners/registry.h"

namespace attune {
namespace cma_es_tuner {
namespace {

// With more numeric dimensions than this, only the diagonal of the covariance matrix is adapted: a
// draw from a full one of 100 dimensions costs 0.2 ms, and its state is 100 kB.
constexpr std::size_t kFullDimensions = 100;

// Draws, at most, until one is a configuration that was not tried before and breaks no constraint.
constexpr int kDraws = 30;

// A warm start needs this many results. Fewer do not make a distribution; they take part in the
// first generation.
constexpr std::size_t kWarmResults = 10;

constexpr double kWorst = CmaKnown::kWorst;

struct Settings {
  double sigma = 0.2;
  std::optional<std::size_t> population;
  Restarts restarts = Restarts::bipop;
};

class CmaEsTuner final : public Tuner {
 public:
  CmaEsTuner(const Settings& settings, Rng rng) : settings_(settings), rng_(rng) {}

  Result<void> set_space(const Space& space) override;
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return propose(id); });
  }
  void withdraw(TrialId id) override { running_.erase(id); }
  void tell(std::span<const Outcome> outcomes) override;
  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    running_[id] = {{encoding_.coordinates(point), point, true}, generation_};
  }
  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Answer propose(TrialId id);
  CmaRunning draw();
  void hear(const Outcome& outcome);
  void begin();
  void warm_start();
  void start_run(CmaStart start);
  void start_anywhere();
  void end_generation();
  bool is_known(const Point& one) const { return dedup_.repeats(one) || corners_.contains(one); }
  bool is_diagonal() const { return encoding_.cells().size() > kFullDimensions; }
  std::size_t population() const { return schedule_.run().population; }

  Settings settings_;
  Rng rng_;
  Space space_;
  CmaEncoding encoding_{Space{}};
  Deduplicator dedup_{Space{}};
  // Proposed points with all reals at an end of their range: they can be drawn again.
  SeenPoints corners_{Space{}};
  RestartSchedule schedule_{Restarts::none, 4};
  std::optional<CmaEs> numbers_;  // none if the space has no numeric coordinates
  CmaCategories categories_{{}};
  CmaHistory history_{1, 4};
  bool begun_ = false;
  double best_ = kWorst;           // of all results
  std::int64_t generation_ = 0;    // counted over all runs
  std::int64_t run_begin_ = 0;     // the first generation of this run
  std::vector<CmaKnown> results_;  // of this generation; all before the first proposal
  std::size_t own_results_ = 0;    // how many of them are of trials that began in this generation
  std::map<TrialId, CmaRunning> running_;
};

Result<void> CmaEsTuner::set_space(const Space& space) {
  space_ = space;
  encoding_ = CmaEncoding(space);
  dedup_ = Deduplicator(space);
  corners_ = SeenPoints(space);
  schedule_ = RestartSchedule(
      settings_.restarts, settings_.population.value_or(cma_population(encoding_.dimensions())));
  begun_ = false;
  best_ = kWorst;
  generation_ = 0;
  running_.clear();
  start_run({std::vector<double>(encoding_.cells().size(), 0.5), settings_.sigma});
  return {};
}

void CmaEsTuner::start_run(CmaStart start) {
  start.diagonal = is_diagonal();
  start.population = population();
  numbers_.reset();
  if (!start.mean.empty()) numbers_.emplace(start, encoding_.cells());
  categories_ = CmaCategories(encoding_.groups());
  history_ = CmaHistory(std::max<std::size_t>(encoding_.dimensions(), 1), population());
  results_.clear();
  own_results_ = 0;
  run_begin_ = ++generation_;
}

// Starts a run at a random place, with the population and the step size that the schedule gives to
// this run.
void CmaEsTuner::start_anywhere() {
  CmaStart start{{}, settings_.sigma * schedule_.run().sigma_factor};
  for (std::size_t i = 0; i < encoding_.cells().size(); ++i) start.mean.push_back(rng_.uniform());
  start_run(std::move(start));
}

Answer CmaEsTuner::propose(TrialId id) {
  begin();
  running_.erase(id);
  CmaRunning next = draw();
  // All that the distribution is likely to draw was tried already: the search continues elsewhere.
  if (is_known(next.point) && settings_.restarts != Restarts::none) {
    start_anywhere();
    next = draw();
  }
  const bool repeats = dedup_.repeats(next.point);
  auto fresh = dedup_(std::move(next.point));
  if (!fresh) return Exhausted{};
  next.point = *fresh;
  if (encoding_.is_cut_off(next.x, next.point)) corners_.insert(next.point);
  // dedup_ replaced the point by one of the grid, which the distribution did not draw.
  if (repeats) {
    next.x = encoding_.coordinates(next.point);
    next.injected = true;
  }
  running_.emplace(id, std::move(next));
  return Proposal{.point = *std::move(fresh)};
}

CmaRunning CmaEsTuner::draw() {
  CmaRunning drawn;
  drawn.generation = generation_;
  for (int i = 0; i < kDraws; ++i) {
    if (numbers_) drawn.x = numbers_->sample(rng_);
    drawn.point = encoding_.decode(drawn.x, categories_.sample(rng_));
    if (!is_known(drawn.point) && space_.feasible(drawn.point)) break;
  }
  return drawn;
}

void CmaEsTuner::tell(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    dedup_.add(outcome.point);
    hear(outcome);
  }
  if (own_results_ >= population()) end_generation();
}

void CmaEsTuner::hear(const Outcome& outcome) {
  CmaKnown known{{{}, outcome.point, true}, outcome.usable() ? *outcome.loss : kWorst};
  const bool improves = known.loss < best_;
  best_ = std::min(best_, known.loss);

  const auto found = outcome.end == End::imported ? running_.end() : running_.find(outcome.trial);
  if (found == running_.end()) {
    // In the middle of a search, a foreign result counts only if it is the best of all.
    if (!outcome.usable() || (begun_ && !improves)) return;
    known.x = encoding_.coordinates(outcome.point);
    results_.push_back(std::move(known));
    return;
  }
  CmaRunning ended = std::move(found->second);
  running_.erase(found);
  // A trial of an earlier run says nothing about the present distribution, unless it is the best of
  // all.
  if (ended.generation < run_begin_ && !improves) return;
  known.x = std::move(ended.x);
  known.point = std::move(ended.point);
  const bool late = ended.generation != generation_;
  if (!late) ++own_results_;
  known.injected = ended.injected || late;
  results_.push_back(std::move(known));
}

void CmaEsTuner::begin() {
  if (begun_) return;
  begun_ = true;
  if (results_.size() >= kWarmResults) warm_start();
}

void CmaEsTuner::warm_start() {
  std::ranges::stable_sort(results_, {}, &CmaKnown::loss);
  const auto count =
      static_cast<std::size_t>(std::ceil(kWarmShare * static_cast<double>(results_.size())));
  std::vector<CmaResult> best;
  std::vector<CategoryResult> categories;
  for (CmaKnown& known : std::span(results_).first(count)) {
    best.push_back({std::move(known.x), encoding_.active_coordinates(known.point), true});
    categories.push_back(encoding_.categories(known.point));
  }
  start_run(cma_warm_start(best, settings_.sigma, is_diagonal()));
  const auto evidence = static_cast<double>(count);
  categories_.learn(categories, evidence / (evidence + 2));
}

void CmaEsTuner::end_generation() {
  std::ranges::stable_sort(results_, {}, &CmaKnown::loss);
  schedule_.count(results_.size());
  std::vector<double> losses;
  std::vector<CmaResult> ranked;
  std::vector<CategoryResult> best;
  const CmaRates rates =
      cma_rates(std::max<std::size_t>(encoding_.dimensions(), 1), results_.size(), is_diagonal());
  for (CmaKnown& known : results_) {
    if (known.loss < kWorst) losses.push_back(known.loss);
    if (best.size() < rates.parents) best.push_back(encoding_.categories(known.point));
    auto active = encoding_.active_coordinates(known.point);
    for (std::size_t i = 0; known.injected && i < active.size(); ++i) {
      if (!active[i]) known.x[i] = numbers_->mean()[i];
    }
    ranked.push_back({std::move(known.x), std::move(active), known.injected});
  }
  results_.clear();
  own_results_ = 0;
  if (losses.empty()) return;  // all failed: there is nothing to rank

  // Without restarts an exhausted distribution is kept but not updated: its numbers would leave
  // their range.
  if (numbers_ && !numbers_->is_exhausted()) {
    numbers_->update(ranked);
    numbers_->bound_mean(0, 1);
  }
  categories_.update(best, std::span(rates.weights).first(best.size()), rates.effective);
  history_.add(losses);
  ++generation_;
  if (settings_.restarts == Restarts::none) return;
  if (history_.is_stalled() || (numbers_ && numbers_->is_exhausted())) {
    schedule_.next(rng_);
    start_anywhere();
  }
}

json CmaEsTuner::save() const {
  return {{"rng", to_json(rng_)},
          {"seen", dedup_.save()},
          {"corners", corners_.save()},
          {"begun", begun_ ? 1 : 0},
          {"best", save_numbers(std::vector{best_})},
          {"generation", generation_},
          {"run_begin", run_begin_},
          {"schedule", schedule_.save()},
          {"numbers", numbers_ ? numbers_->save() : json::object()},
          {"categories", categories_.save()},
          {"history", history_.save()},
          {"own_results", own_results_},
          {"results", save_known(results_)},
          {"running", save_running(running_)}};
}

Result<void> CmaEsTuner::load(const json& state) {
  CmaEsTuner loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  TRY(loaded.corners_.load(TRY(array_at(state, "corners"))));
  const std::int64_t begun = TRY(integer_at(state, "begun"));
  const auto best = TRY(numbers_at(state, "best"));
  loaded.generation_ = TRY(integer_at(state, "generation"));
  loaded.run_begin_ = TRY(integer_at(state, "run_begin"));
  if (begun < 0 || begun > 1 || best.size() != 1 || std::isnan(best[0]) || best[0] == -kWorst ||
      loaded.run_begin_ < 0 || loaded.generation_ < loaded.run_begin_ ||
      !is_whole(static_cast<double>(loaded.generation_))) {
    return fail("saved state: impossible numbers of results or generations");
  }
  loaded.begun_ = begun == 1;
  loaded.best_ = best[0];
  TRY(loaded.schedule_.load(TRY(object_at(state, "schedule"))));
  const std::size_t dimensions = std::max<std::size_t>(encoding_.dimensions(), 1);
  loaded.history_ = CmaHistory(dimensions, loaded.population());
  TRY(loaded.history_.load(TRY(object_at(state, "history"))));
  TRY(loaded.categories_.load(TRY(value_at(state, "categories"))));
  const json numbers = TRY(object_at(state, "numbers"));
  if (numbers_) {
    loaded.numbers_ =
        TRY(CmaEs::load(numbers, encoding_.cells(), is_diagonal(), loaded.population()));
  }

  const std::size_t coordinates = encoding_.cells().size();
  loaded.running_ = TRY(load_running(TRY(array_at(state, "running")), space_, coordinates));
  loaded.results_ = TRY(load_known(TRY(array_at(state, "results")), space_, coordinates));
  const auto own = TRY(integer_at(state, "own_results"));
  const std::size_t most = std::min(loaded.results_.size(), loaded.population() - 1);
  if (own < 0 || own > static_cast<std::int64_t>(most)) {
    return fail("saved state: impossible number of own results");
  }
  loaded.own_results_ = static_cast<std::size_t>(own);
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context&, Rng rng) {
  const std::string restarts = args["restarts"];
  Settings settings;
  settings.sigma = args["sigma"];
  if (!args["population_size"].is_null()) {
    settings.population = args["population_size"].get<std::size_t>();
  }
  settings.restarts = restarts == "none"   ? Restarts::none
                      : restarts == "ipop" ? Restarts::ipop
                                           : Restarts::bipop;
  return std::make_unique<CmaEsTuner>(settings, rng);
}

}  // namespace
}  // namespace cma_es_tuner

extern const TunerEntry cma_es_entry = {
    .name = "CMA-ES",
    .aliases = {"CMAES", "CmaEs"},
    .summary = "covariance matrix adaptation: a normal distribution that follows good results",
    .arguments = {{.name = "sigma",
                   .type = Argument::Type::number,
                   .fallback = 0.2,
                   .help = "first standard deviation, as a share of each parameter's range",
                   .low = 1e-6,
                   .high = 10},
                  {.name = "population_size",
                   .type = Argument::Type::integer,
                   .fallback = nullptr,
                   .help = "results in a generation; null: 4 + 3 ln(parameters)",
                   .low = 4,
                   .high = 10000},
                  {.name = "restarts",
                   .type = Argument::Type::choice,
                   .fallback = "bipop",
                   .help = "what follows convergence: nothing, ever larger populations (ipop), or "
                           "large and small ones in turn",
                   .choices = {"none", "ipop", "bipop"}}},
    .maximizes = false,
    .make = cma_es_tuner::make};

}  // namespace attune
