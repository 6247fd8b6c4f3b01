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
// A paused trial goes on under its own id. A program that reads TRIAL_BUDGET ends by itself
// instead: then a new trial starts from its checkpoint. One that could not be paused runs on, and
// is asked again at the next level. A trial that reports seldom has at a level what it reported
// next.
//
// Once the experiment has begun all its trials (maxTrialNumber), the others go on until the one
// that is expected to end best has been trained in full.
//
// What measurements decided (docs/early-stopping.md): the power of the cost, the share of turns of
// the best trial, the size of the initial design.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "rungs/levels.h"
#include "rungs/resource.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "tuners/parts/curve_choice.h"
#include "tuners/parts/curve_model.h"
#include "tuners/parts/curve_trials.h"
#include "tuners/registry.h"

namespace attune {
namespace freeze_thaw_tuner {
namespace {

// In so many turns the trial that is expected to end best goes on, whatever its gain: full
// trainings teach the model what early results mean, and they are what the user wants.
constexpr double kTurnsOfBest = 0.3;
// The initial design costs this share of a full training at most, but has a trial for each
// dimension and one more.
constexpr double kDesignCost = 0.6;
// Trials whose ends are predicted for a decision, and those whose gain is computed.
constexpr std::size_t kMostPredicted = 300, kMostOptions = 40;
// With twice as many waiting trials, the worse half is given up: each holds a checkpoint.
constexpr std::size_t kMostWaiting = 64;
// The best trials, around which a new configuration is looked for.
constexpr std::size_t kMostNear = 10;
// Levels at which a new trial may pause for the first time.
constexpr std::size_t kFirstLevels = 2;
struct Settings {
  std::string attribute = kTrainingIteration;
  std::int64_t most = 100;
  double factor = 3;
  std::optional<int> most_trials = {};  // of the experiment
};

// Small factors give some levels twice, once rounded.
std::vector<double> levels_of(const Settings& settings) {
  std::vector<double> levels;
  for (const auto level : syne_levels(1, settings.factor, settings.most)) {
    levels.push_back(static_cast<double>(level));
  }
  levels.push_back(static_cast<double>(settings.most));
  const auto [first, end] = std::ranges::unique(levels);
  levels.erase(first, end);
  return levels;
}

class FreezeThaw final : public Tuner {
 public:
  FreezeThaw(Settings settings, Objective objective, Rng rng)
      : settings_(std::move(settings)),
        objective_(std::move(objective)),
        rng_(rng),
        levels_(levels_of(settings_)) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    features_ = Features(space);
    dedup_ = Deduplicator(space, Deduplicator::Remember::always);
    model_ = CurveModel(features_, levels_);
    trials_ = {};
    unneeded_.clear();
    proposed_ = begun_ = 0;
    all_tried_ = exhausted_ = false;
    return {};
  }

  bool wants_reports() const override { return true; }
  bool pauses_at_budget() const override { return true; }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  void withdraw(TrialId id) override;
  // It runs to its own end, but not beyond a full training.
  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    add(point, id, last());
  }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) tell(outcome);
  }
  std::vector<Decision> on_report(const Report& report) override;

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  std::size_t add(const Point& point, TrialId trial, std::size_t until,
                  Curve::State state = Curve::State::running) {
    model_.add(features_.encode(point));
    return trials_.add({.point = point, .trial = trial, .state = state, .until = until});
  }
  std::size_t last() const { return levels_.size() - 1; }
  // How many levels a resource reaches.
  std::size_t levels_within(double resource) const {
    const auto above = std::ranges::upper_bound(levels_, resource);
    return static_cast<std::size_t>(above - levels_.begin());
  }
  // The first level above a resource; the last one if there is none.
  std::size_t level_after(double resource) const {
    return std::min(levels_within(resource), last());
  }
  std::size_t design_size() const;
  bool all_begun() const {
    return settings_.most_trials && begun_ >= static_cast<std::size_t>(*settings_.most_trials);
  }
  bool may_begin() const { return !all_tried_ && !all_begun(); }
  bool can_go_on(std::size_t number) const;

  void tell(const Outcome& outcome);
  void learn(const Outcome& outcome);
  void fail_at_next(std::size_t number);
  enum class Checkpoint { kept, dropped };
  void finish(std::size_t number, Checkpoint checkpoint);
  void release_origin(std::size_t number);

  Answer answer(TrialId id);
  std::optional<Proposal> start(TrialId id, const Point& point, std::size_t until);
  Proposal go_on(TrialId id, std::size_t number);
  Answer wait();
  void await_running();
  CurveEnds expected_ends() const;
  bool is_settled(const CurveEnds& ends) const;
  std::optional<Point> new_point(const CurveEnds& ends);
  std::vector<Decision> judge(const Report& report);
  std::vector<Decision> give_up();

  Settings settings_;
  Objective objective_;
  Rng rng_;
  std::vector<double> levels_;
  Space space_;
  Features features_{Space{}};
  Deduplicator dedup_{Space{}};
  CurveModel model_{features_, std::array{1.0}};
  CurveTrials trials_;
  std::set<TrialId> unneeded_;  // their checkpoints are dropped with the next report
  std::size_t proposed_ = 0;    // new configurations
  std::size_t begun_ = 0;       // trials that were proposed
  bool all_tried_ = false;      // no point of the space is left
  bool exhausted_ = false;      // so it was answered
};

std::size_t FreezeThaw::design_size() const {
  const std::size_t least = features_.size() + 1;
  const auto affordable = static_cast<std::size_t>(kDesignCost * levels_.back() / levels_.front());
  return std::clamp(affordable, least, 4 * least);
}

// Another trial that starts from a checkpoint is one more for the manager.
bool FreezeThaw::can_go_on(std::size_t number) const {
  const Curve::State state = trials_[number].state;
  return state == Curve::State::paused || (state == Curve::State::ended && !all_begun());
}

// ---- what happens to trials

// No such trial runs. Its configuration is not tried again.
void FreezeThaw::withdraw(TrialId id) {
  const auto number = trials_.find(id);
  if (!number || trials_[*number].state != Curve::State::running) return;
  const bool is_new = trials_[*number].from == Curve::kNoTrial;
  if (is_new && proposed_ > 0) --proposed_;
  if (begun_ > 0) --begun_;
  finish(*number, Checkpoint::kept);
}

void FreezeThaw::tell(const Outcome& outcome) {
  const auto number = outcome.end == End::imported ? std::nullopt : trials_.find(outcome.trial);
  if (!number) return learn(outcome);
  const Curve& curve = trials_[*number];
  if (!curve.lives()) return;
  if (outcome.end != End::completed) {
    if (outcome.end != End::stopped) fail_at_next(*number);
    return finish(*number, curve.waits() ? Checkpoint::dropped : Checkpoint::kept);
  }
  // It ended by itself. At its budget: it may go on in another trial. Elsewhere: this was all.
  const double budget = outcome.budget.value_or(levels_.back());
  const auto found = std::ranges::find(levels_, budget);
  const bool at_budget =
      found != levels_.end() && budget < levels_.back() && curve.reached <= budget;
  const std::size_t level = at_budget ? static_cast<std::size_t>(found - levels_.begin()) : last();
  model_.observe(*number, level, outcome.usable() ? *outcome.loss : NAN);
  if (!at_budget || !std::isfinite(model_.loss(*number, level))) {
    return finish(*number, Checkpoint::kept);
  }
  release_origin(*number);
  trials_.end(*number, budget, level_after(budget));
}

// A result from elsewhere, or of the search space before.
void FreezeThaw::learn(const Outcome& outcome) {
  if (!outcome.usable()) return;
  dedup_.add(outcome.point);
  const std::size_t levels = levels_within(outcome.budget.value_or(levels_.back()));
  if (levels == 0) return;
  const std::size_t number = add(outcome.point, Curve::kNoTrial, last(), Curve::State::over);
  model_.observe(number, levels - 1, *outcome.loss);
}

// It has failed on the way to the next level.
void FreezeThaw::fail_at_next(std::size_t number) {
  const auto found = std::ranges::lower_bound(levels_, trials_[number].reached);
  auto level = std::min(static_cast<std::size_t>(found - levels_.begin()), last());
  while (level < last() && !std::isnan(model_.loss(number, level))) ++level;
  model_.observe(number, level, NAN);
}

void FreezeThaw::finish(std::size_t number, Checkpoint checkpoint) {
  release_origin(number);
  if (checkpoint == Checkpoint::dropped) unneeded_.insert(trials_[number].trial);
  trials_.finish(number);
}

// The trial has a checkpoint of its own now, or needs none.
void FreezeThaw::release_origin(std::size_t number) {
  const TrialId origin = trials_.release_origin(number);
  if (origin != Curve::kNoTrial) unneeded_.insert(origin);
}

std::vector<Decision> FreezeThaw::on_report(const Report& report) {
  std::vector<Decision> decisions = judge(report);
  for (const TrialId trial : std::exchange(unneeded_, {})) {
    decisions.push_back({trial, Action::drop_checkpoint, "no trial will go on from it"});
  }
  return decisions;
}

std::vector<Decision> FreezeThaw::judge(const Report& report) {
  const auto number = trials_.find(report.trial);
  const auto resource = resource_of(report, settings_.attribute);
  const auto metric =
      std::ranges::find(report.metrics, objective_.metric, &Metrics::value_type::first);
  if (!number || !resource || metric == report.metrics.end()) return {};
  const Curve& curve = trials_[*number];
  if (!curve.lives()) return {};
  // A trial that goes on from an older checkpoint, or begins again, passes levels that are known.
  trials_.reach(*number, *resource);
  const double value = metric->second;
  if (!std::isfinite(value)) {
    fail_at_next(*number);
    finish(*number, Checkpoint::dropped);
    return {{report.trial, Action::stop,
             fmt::format("its result at {:.6g} is not a finite number", *resource)}};
  }
  if (const std::size_t levels = levels_within(*resource); levels > 0) {
    model_.observe(*number, levels - 1, objective_.maximize ? -value : value);
  }
  if (*resource >= levels_.back()) {
    finish(*number, Checkpoint::kept);
    return {{report.trial, Action::stop, fmt::format("trained in full: {:.6g}", *resource), true}};
  }
  if (*resource < levels_[curve.until]) return {};
  // A trial that could not be paused runs on, and is asked again at each level.
  release_origin(*number);
  trials_.pause(*number, level_after(*resource));
  std::vector<Decision> decisions = give_up();
  if (curve.waits()) {
    decisions.insert(
        decisions.begin(),
        {report.trial, Action::pause,
         fmt::format("{:.6g} at {:.6g} of {}: waits while another trial may be worth more", value,
                     *resource, settings_.most)});
  }
  return decisions;
}

// Stops the waiting trials that promise least once there are too many.
std::vector<Decision> FreezeThaw::give_up() {
  std::vector<Decision> decisions;
  if (trials_.waiting().size() <= 2 * kMostWaiting) return decisions;
  std::vector<std::pair<double, std::size_t>> waiting;
  for (const std::size_t number : trials_.waiting()) {
    waiting.emplace_back(model_.rough_end(number).value_or(HUGE_VAL), number);
  }
  std::ranges::sort(waiting);
  for (const auto& [end, number] : std::span(waiting).subspan(kMostWaiting)) {
    const Curve& curve = trials_[number];
    if (curve.state == Curve::State::paused) {
      decisions.push_back(
          {curve.trial, Action::stop,
           fmt::format("after {:.6g} of {} it promises less than {} trials that wait",
                       curve.reached, settings_.most, kMostWaiting)});
    }
    finish(number, Checkpoint::dropped);
  }
  return decisions;
}

// ---- what is done next

// Nothing if all points of the space were tried.
std::optional<Proposal> FreezeThaw::start(TrialId id, const Point& point, std::size_t until) {
  auto fresh = dedup_(point);
  if (!fresh) {
    all_tried_ = true;
    return std::nullopt;
  }
  add(*fresh, id, until);
  ++proposed_;
  ++begun_;
  return Proposal{.point = *std::move(fresh), .budget = levels_[until]};
}

Proposal FreezeThaw::go_on(TrialId id, std::size_t number) {
  const Curve& curve = trials_[number];
  const std::size_t until = level_after(curve.reached);
  Proposal proposal{.point = curve.point, .budget = levels_[until]};
  if (curve.state == Curve::State::paused) {
    proposal.resume = curve.trial;
  } else {
    proposal.checkpoint_from = curve.trial;
    trials_.hand_over(number, id);
    ++begun_;
  }
  trials_.run(number, until);
  return proposal;
}

// There is nothing to do now. Only a running trial can change that.
Answer FreezeThaw::wait() {
  if (!trials_.running().empty()) return NotYet{};
  exhausted_ = all_tried_;  // trials that are adopted later make it no less true
  return Exhausted{};
}

// Of very many running trials the newest.
void FreezeThaw::await_running() {
  const std::set<std::size_t>& running = trials_.running();
  auto next = running.begin();
  if (running.size() > kMostOptions) next = std::prev(running.end(), kMostOptions);
  std::vector<CurveModel::Awaited> awaited;
  for (; next != running.end(); ++next) {
    awaited.push_back({model_.row(*next), trials_[*next].until});
  }
  model_.await(awaited);
}

// Of very many configurations those whose last losses promise most, and those that can go on, so
// that none of these waits for ever.
CurveEnds FreezeThaw::expected_ends() const {
  CurveEnds ends = model_.promising(kMostPredicted);
  if (ends.size() == kMostPredicted) {
    std::set<std::size_t> listed;
    for (const auto& [end, number] : ends) listed.insert(number);
    for (const std::size_t number : trials_.waiting()) {
      if (ends.size() == kMostPredicted + 2 * kMostWaiting) break;
      if (can_go_on(number) && !listed.contains(number)) ends.emplace_back(0, number);
    }
  }
  return expected_ends_of(model_, std::move(ends));
}

// Whether the best has been trained in full. Those that have failed, or were stopped, do not count.
bool FreezeThaw::is_settled(const CurveEnds& ends) const {
  for (const auto& [end, number] : ends) {
    if (std::isfinite(model_.loss(number, last()))) return true;
    if (trials_[number].state == Curve::State::running || can_go_on(number)) return false;
  }
  return true;
}

// Around the best points, too.
std::optional<Point> FreezeThaw::new_point(const CurveEnds& ends) {
  std::vector<Point> good;
  for (const auto& [end, number] : std::span(ends).first(std::min(ends.size(), kMostNear))) {
    good.push_back(trials_[number].point);
  }
  const double best = ends.front().first;
  for (Found& found : new_curves(model_, space_, features_, good, best, rng_)) {
    if (!dedup_.repeats(found.point)) return std::move(found.point);
  }
  return std::nullopt;
}

Answer FreezeThaw::answer(TrialId id) {
  withdraw(id);  // the dispatcher did not carry out what the id was for, if it was for a trial
  if (exhausted_) return Exhausted{};
  const bool no_dimensions = features_.size() == 0;
  const bool designs = proposed_ < design_size() || model_.usable() == 0 || no_dimensions;
  if (designs && may_begin()) {
    const auto first = start(id, sample(space_, rng_), no_dimensions ? last() : 0);
    if (first) return *first;
  }
  if (model_.usable() == 0 || (!may_begin() && trials_.waiting().empty())) return wait();
  model_.update();
  await_running();
  const CurveEnds ends = expected_ends();
  if (all_begun() && is_settled(ends)) return wait();
  const std::size_t best = ends.front().second;
  if (rng_.uniform() < kTurnsOfBest && can_go_on(best)) return go_on(id, best);

  std::vector<CurveOption> options;
  for (const auto& [end, number] : ends) {
    if (options.size() == kMostOptions) break;
    if (!can_go_on(number)) continue;
    const double reached = trials_[number].reached;
    const std::size_t until = level_after(reached);
    options.push_back({number, model_.row(number), until, levels_[until] - reached});
  }
  const std::size_t old = options.size();
  const auto fresh = may_begin() ? new_point(ends) : std::nullopt;
  for (std::size_t level = 0; fresh && level < std::min(kFirstLevels, levels_.size()); ++level) {
    options.push_back({std::nullopt, features_.encode(*fresh), level, levels_[level]});
  }
  std::vector<double> worth = gains(model_, options, ends);
  const auto highest = [&] { return std::ranges::max_element(worth) - worth.begin(); };
  if (fresh) {
    const CurveOption& option = options[static_cast<std::size_t>(highest())];
    if (option.number) return go_on(id, *option.number);
    if (const auto first = start(id, *fresh, option.until)) return *first;
    worth.resize(old);
  }
  if (old > 0) return go_on(id, *options[static_cast<std::size_t>(highest())].number);
  if (may_begin()) {
    if (const auto first = start(id, sample(space_, rng_), 0)) return *first;
  }
  return wait();
}

json FreezeThaw::save() const {
  return {{"rng", to_json(rng_)},     {"seen", dedup_.save()},   {"model", model_.save()},
          {"trials", trials_.save()}, {"unneeded", unneeded_},   {"proposed", proposed_},
          {"begun", begun_},          {"all_tried", all_tried_}, {"exhausted", exhausted_}};
}

Result<void> FreezeThaw::load(const json& state) {
  const auto damaged = [] { return fail("saved state: an impossible trial"); };
  const auto count_at = [&](std::string_view key) -> Result<std::size_t> {
    const auto count = TRY(integer_at(state, key));
    if (count < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(count);
  };
  const auto flag_at = [&](std::string_view key) -> Result<bool> {
    const json flag = TRY(value_at(state, key));
    if (!flag.is_boolean()) return fail("saved state: " + std::string(key) + " must be a flag");
    return flag.get<bool>();
  };
  FreezeThaw loaded(settings_, objective_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  loaded.trials_ = TRY(CurveTrials::load(space_, TRY(object_at(state, "trials")), levels_.size()));
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < loaded.trials_.size(); ++i) {
    rows.push_back(features_.encode(loaded.trials_[i].point));
  }
  TRY(loaded.model_.load(TRY(object_at(state, "model")), rows));
  for (const std::size_t number : loaded.trials_.waiting()) {
    const bool can_wait = loaded.trials_[number].reached < levels_.back();
    if (!can_wait || !loaded.model_.rough_end(number)) return damaged();
  }
  loaded.unneeded_ = TRY(trials_at(state, "unneeded"));
  loaded.proposed_ = TRY(count_at("proposed"));
  loaded.begun_ = TRY(count_at("begun"));
  loaded.all_tried_ = TRY(flag_at("all_tried"));
  loaded.exhausted_ = TRY(flag_at("exhausted"));
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  Settings settings{args["resource_attr"], args["max_t"], args["reduction_factor"],
                    context.max_trials};
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
