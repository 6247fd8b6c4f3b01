// Trains many configurations a little and few of them in full: trials are paused at levels of
// training, and a model of all learning curves decides which one goes on, or that a new one starts.
//
// After Swersky, Snoek, Adams, "Freeze-Thaw Bayesian Optimization" (2014). The model is
// tuners/parts/curve_model.h; when trials pause, and how they go on, tuners/parts/curve_ledger.h.
// What is worth most for its cost is done next: the knowledge gradient (Frazier, Powell, Dayanik,
// "The Knowledge-Gradient Policy for Correlated Normal Beliefs", INFORMS 2009; Wu et al.,
// "Practical Multi-Fidelity Bayesian Optimization for Hyperparameter Tuning", UAI 2019) of training
// a trial up to its next level, that is by how much the lowest expected loss of a full training is
// expected to fall once the result there is known. A level that says nothing about the end is worth
// nothing, so trials pass it at once.
//
// Of several objectives each decision draws the weights by which they become one number
// (tuners/parts/curve_tradeoff.h), so that all trade-offs have their turns. A trial that breaks a
// limit which others keep at its level does not go on.
//
// Once the experiment has begun all its trials (maxTrialNumber), the others go on until the one
// that is expected to end best has been trained in full; of several objectives, until those have
// been that no other is expected to dominate.
//
// What measurements decided (docs/early-stopping.md): the power of the cost, the share of turns of
// the best trial, the size of the initial design.
#include "tuners/parts/freeze_thaw.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "rungs/resource.h"
#include "space/sample.h"
#include "tuners/registry.h"

namespace attune {
namespace {

// In so many turns the trial that is expected to end best goes on, whatever its gain: full
// trainings teach the model what early results mean, and they are what the user wants.
constexpr double kTurnsOfBest = 0.3;
// The initial design costs this share of a full training at most. But it has at least one trial for
// each dimension and one more, and at most four times as many. Where nobody knows what a full
// training costs, it has twice as many.
constexpr double kDesignCost = 0.6;
constexpr std::size_t kLargestDesign = 4, kUnknownDesign = 2;
// Trials whose ends are predicted for a decision, and those whose gain is computed.
constexpr std::size_t kMostPredicted = 300, kMostOptions = 40;
// With each kPatience configurations, drawn ones not counted, that are newer than the one that is
// expected to end best, the deviations of the model count once more, up to kMostDoubt times: where
// it was surest, there was nothing better.
constexpr double kPatience = 10, kMostDoubt = 3;
// The best trials, around which a new configuration is looked for.
constexpr std::size_t kMostNear = 10;
// Levels at which a new trial may pause for the first time.
constexpr std::size_t kFirstLevels = 2;
constexpr double kLeastCost = 0.1;  // of the first level

// " ranks 2 of 9", or of several objectives " ranks 2 of 9 with the weights (0.25, 0.75)"
std::string rank_of(std::size_t number, const CurveEnds& ends, std::span<const double> weights) {
  const auto found = std::ranges::find(ends, number, &CurveEnds::value_type::second);
  std::string text = fmt::format(" ranks {} of {}", found - ends.begin() + 1, ends.size());
  if (!weights.empty()) text += fmt::format(" with the weights ({:.2f})", fmt::join(weights, ", "));
  return text;
}

}  // namespace

std::size_t FreezeThaw::design_size() const {
  const std::size_t least = ledger_.features().size() + 1;
  if (ledger_.levels().learns()) return kUnknownDesign * least;
  const auto affordable = static_cast<std::size_t>(kDesignCost * ledger_.levels().end());
  return std::clamp(affordable, least, kLargestDesign * least);
}

// Another trial that starts from a checkpoint is one more for the manager.
bool FreezeThaw::can_go_on(std::size_t number) const {
  if (model().is_hopeless(number)) return false;
  const Curve::State state = trials()[number].state;
  return state == Curve::State::paused || (state == Curve::State::ended && !all_begun());
}

// Nothing if all points of the space were tried.
std::optional<Proposal> FreezeThaw::start(TrialId id, const Point& point, std::size_t until) {
  if (const auto fresh = dedup_(point)) return ledger_.start(id, *fresh, until);
  all_tried_ = true;
  return std::nullopt;
}

// There is nothing to do now. Only a running trial can change that.
Answer FreezeThaw::wait() {
  if (!trials().running().empty()) return NotYet{};
  exhausted_ = all_tried_;  // trials that are adopted later make it no less true
  return Exhausted{};
}

// Of very many running trials the newest.
void FreezeThaw::await_running() {
  const std::set<std::size_t>& running = trials().running();
  auto next = running.begin();
  if (running.size() > kMostOptions) next = std::prev(running.end(), kMostOptions);
  std::vector<CurveModel::Awaited> awaited;
  for (; next != running.end(); ++next) {
    const std::size_t until = std::min(trials()[*next].until, ledger_.levels().last());
    awaited.push_back({*next, until});
  }
  ledger_.model().await(awaited);
}

// Of very many configurations those whose last losses promise most, and those that can go on, so
// that none of these waits for ever.
CurveEnds FreezeThaw::expected_ends() const {
  CurveEnds ends = model().promising(kMostPredicted);
  if (ends.size() == kMostPredicted) {
    std::set<std::size_t> listed;
    for (const auto& [end, number] : ends) listed.insert(number);
    for (const std::size_t number : trials().waiting()) {
      if (ends.size() == kMostPredicted + 2 * CurveLedger::kMostWaiting) break;
      if (can_go_on(number) && !listed.contains(number)) ends.emplace_back(0, number);
    }
  }
  return expected_ends_of(model(), std::move(ends));
}

// Of several objectives, drawn evenly from all that sum to 1. Else none.
std::vector<double> FreezeThaw::draw_weights() {
  std::vector<double> weights;
  const std::size_t count = model().results().shape().objectives;
  if (count == 1) return weights;
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    weights.push_back(-std::log1p(-rng_.uniform()));
    sum += weights.back();
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 1 / static_cast<double>(count);
  return weights;
}

// Nothing if all that the search finds were tried.
std::optional<Point> FreezeThaw::new_point(const CurveEnds& ends) {
  std::vector<Point> good;
  for (const auto& [end, number] : std::span(ends).first(std::min(ends.size(), kMostNear))) {
    good.push_back(trials()[number].point);
  }
  const auto [best, its_number] = ends.front();
  const std::size_t last = model().size() - 1, from = std::max(its_number, design_size());
  const auto since = static_cast<double>(last - std::min(from, last));
  const CurveSearch sought{good, best, std::min(1 + since / kPatience, kMostDoubt)};
  for (Found& found : new_curves(model(), space_, ledger_.features(), sought, rng_)) {
    if (!dedup_.repeats(found.point)) return std::move(found.point);
  }
  return std::nullopt;
}

// Those that go on to their next levels.
std::vector<CurveOption> FreezeThaw::options_of(const CurveEnds& ends) const {
  std::vector<CurveOption> options;
  for (const auto& [end, number] : ends) {
    if (options.size() == kMostOptions) break;
    if (!can_go_on(number)) continue;
    const double reached = trials()[number].reached;
    const std::size_t until = ledger_.levels().after(reached);
    // Where the end was learnt, a trial that has got there may still wait.
    const double cost = std::max(ledger_.levels().all()[until] - reached, kLeastCost);
    options.push_back({number, {}, until, cost});
  }
  return options;
}

Answer FreezeThaw::answer(TrialId id) {
  withdraw(id);  // the dispatcher did not carry out what the id was for, if it was for a trial
  if (exhausted_) return Exhausted{};
  const auto& levels = ledger_.levels().all();
  const bool no_dimensions = ledger_.features().size() == 0;
  const bool designs = ledger_.proposed() < design_size() || model().usable() == 0 || no_dimensions;
  if (wanted_ && may_begin()) {
    const Point point = *std::exchange(wanted_, std::nullopt);
    if (const auto first = start(id, point, no_dimensions ? Curve::kToItsEnd : 0)) return *first;
  }
  if (designs && may_begin()) {
    const auto first = start(id, sample(space_, rng_), no_dimensions ? Curve::kToItsEnd : 0);
    if (first) return *first;
  }
  if (model().usable() == 0 || (!may_begin() && trials().waiting().empty())) return wait();
  const std::vector<double> weights = draw_weights();
  ledger_.model().update(weights);
  await_running();
  const CurveEnds ends = expected_ends();
  if (all_begun() && is_settled(ends)) return wait();
  const std::size_t best = ends.front().second;
  if (rng_.uniform() < kTurnsOfBest && can_go_on(best)) {
    return ledger_.go_on(id, best, "its expected end" + rank_of(best, ends, weights));
  }

  std::vector<CurveOption> options = options_of(ends);
  const std::size_t waiting = options.size();
  const auto fresh = may_begin() ? new_point(ends) : std::nullopt;
  for (std::size_t level = 0; fresh && level < std::min(kFirstLevels, levels.size()); ++level) {
    options.push_back({std::nullopt, ledger_.features().encode(*fresh), level, levels[level]});
  }
  std::vector<double> worth;
  if (!options.empty()) worth = gains(model(), options, ends);
  const auto highest = [&]() -> const CurveOption& {
    return options[static_cast<std::size_t>(std::ranges::max_element(worth) - worth.begin())];
  };
  if (fresh && !highest().number) {
    if (const auto first = start(id, *fresh, highest().until)) return *first;
    worth.resize(waiting);  // the space has no point left after all
  }
  if (waiting > 0) {
    const CurveOption& chosen = highest();
    return ledger_.go_on(
        id, *chosen.number,
        fmt::format("its expected end{}, and of {} choices it teaches most about the best end for "
                    "its cost, {:.6g}",
                    rank_of(*chosen.number, ends, weights), worth.size(), chosen.cost));
  }
  if (may_begin()) {
    if (const auto first = start(id, sample(space_, rng_), 0)) return *first;
  }
  return wait();
}

json FreezeThaw::save() const {
  json state = {{"rng", to_json(rng_)},
                {"seen", dedup_.save()},
                {"ledger", ledger_.save()},
                {"all_tried", all_tried_},
                {"exhausted", exhausted_}};
  if (wanted_) state["wanted"] = save_point(*wanted_);
  return state;
}

Result<void> FreezeThaw::load(const json& state) {
  const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
  FreezeThaw loaded(ledger_.renewed(space_), most_trials_, rng);
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  TRY(loaded.ledger_.load(space_, TRY(object_at(state, "ledger"))));
  loaded.all_tried_ = TRY(boolean_at(state, "all_tried"));
  loaded.exhausted_ = TRY(boolean_at(state, "exhausted"));
  if (state.contains("wanted")) loaded.wanted_ = TRY(load_point(space_, state["wanted"]));
  *this = std::move(loaded);
  return {};
}

namespace freeze_thaw_tuner {
namespace {

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  CurveMetrics metrics(args["resource_attr"], context.objectives);
  const CurveLevels levels(args["max_t"].get<std::int64_t>(),
                           args["reduction_factor"].get<double>());
  return std::make_unique<FreezeThaw>(CurveLedger(std::move(metrics), levels, {}),
                                      context.max_trials, rng);
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
