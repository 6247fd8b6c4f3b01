#include "tuners/parts/searcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/algorithm_failure.h"
#include "base/saved_numbers.h"
#include "rungs/resource.h"
#include "space/features.h"
#include "space/saved_point.h"

namespace attune {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// They write parameters of their own, or wait for rounds of whole trials.
constexpr std::string_view kOwnSchedules[] = {"Batch", "PBT"};
// To let these forget and learn anew would repeat their sequence of points.
constexpr std::string_view kLearnNothing[] = {"Random", "QMC", "GridSearch"};

// Results from elsewhere all have one id, so they get keys that no trial has. A double holds each.
constexpr TrialId kFirstImport = -(TrialId{1} << 53);
bool is_import(TrialId key) { return key < kFirstImport / 2; }

enum Flags { kEnded = 1, kTold = 2 };

bool can_search(const TunerEntry& entry) {
  return !entry.wants_reports && std::ranges::count(kOwnSchedules, entry.name) == 0;
}

}  // namespace

Argument Searcher::argument(const std::string& fallback) {
  return {.name = "searcher",
          .type = Argument::Type::text,
          .fallback = fallback,
          .help = "the tuner that proposes new configurations"};
}

Result<Searcher> Searcher::make(const std::string& owner, const std::string& name,
                                const TunerContext& context, const Rng& rng) {
  const TunerRegistry& registry = *context.tuners;
  const auto found = registry.find(name, "tuner");
  if (!found) return fail(owner + ".searcher: " + found.error().message);
  const TunerEntry& entry = **found;
  const auto declined = [&] {
    std::vector<std::string> names;
    for (const TunerEntry& one : registry.entries()) {
      if (can_search(one)) names.push_back(one.name);
    }
    return fail(
        fmt::format("{}.searcher: {} follows a schedule of its own; name a search algorithm: {}",
                    owner, entry.name, fmt::join(names, ", ")));
  };
  if (!can_search(entry)) return declined();
  TunerContext of_rule = context;
  of_rule.pauses = false;  // the rule pauses trials
  auto tuner = TRY(make_member(entry, of_rule, rng.fork("searcher " + entry.name)));
  if (!tuner) return declined();
  return Searcher(std::move(tuner), std::ranges::count(kLearnNothing, entry.name) == 0, context);
}

Searcher::Searcher(std::unique_ptr<Tuner> tuner, bool learns, const Context& context)
    : tuner_(std::move(tuner)), learns_(learns), next_import_(kFirstImport) {
  for (std::size_t i = 1; i < context.objectives.size(); ++i) {
    others_.push_back(context.objectives[i].metric);
  }
}

Result<void> Searcher::set_space(const Space& space) {
  TRY(tuner_->set_space(space));
  space_ = space;
  needed_ = Features(space).size() + 1;
  trials_.clear();
  next_import_ = kFirstImport;
  usable_.clear();
  level_.reset();
  spare_.reset();
  exhausted_ = false;
  return {};
}

bool Searcher::set_priors(const Space& space) {
  if (!tuner_->set_priors(space)) return false;
  space_ = space;
  return true;
}

Answer Searcher::ask(TrialId id) {
  if (spare_) {
    Proposal proposal{.point = *std::exchange(spare_, std::nullopt)};
    adopt(id, proposal.point);
    return proposal;
  }
  if (exhausted_) return Exhausted{};
  Answer answer = std::move(tuner_->ask(std::span(&id, 1)).front());
  if (const auto* proposal = std::get_if<Proposal>(&answer)) {
    check_is_new(*proposal, "the searcher");
    trials_.insert_or_assign(id, Trial{.point = proposal->point, .running = true});
  }
  exhausted_ = std::holds_alternative<Exhausted>(answer);
  return answer;
}

void Searcher::withdraw(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return;
  stop(id, found->second);
  trials_.erase(found);
}

void Searcher::put_back(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return;
  spare_ = found->second.point;
  withdraw(id);
}

void Searcher::adopt(TrialId id, const Point& point) {
  Trial& trial = trials_.try_emplace(id, Trial{.point = point}).first->second;
  trial.ended = false;
  std::erase_if(trial.reached, [](const Reached& reached) { return !reached.loss; });
  if (!known(trial)) trial.told = false;
  if (trial.reached.empty() && !trial.running) start(id, trial);
}

void Searcher::observe(TrialId id, double level, std::optional<double> loss,
                       const Metrics& metrics) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return;
  if (loss && !std::isfinite(*loss)) loss.reset();
  Reached reached{.level = level, .loss = loss};
  for (const std::string& metric : others_) {
    reached.others.push_back(metric_in(metrics, metric).value_or(kNone));
  }
  record(id, found->second, std::move(reached));
}

void Searcher::end(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end() || std::exchange(found->second.ended, true)) return;
  settle(id, found->second);
}

void Searcher::import(const Outcome& outcome, double level) {
  const TrialId key = next_import_++;
  Trial& trial = trials_[key];
  trial.point = outcome.point;
  trial.ended = true;
  start(key, trial);
  observe(key, level, outcome.usable() ? outcome.loss : std::nullopt, outcome.metrics);
}

// The tuner takes the trial for running, and knows its point from now on.
void Searcher::start(TrialId key, Trial& trial) {
  trial.running = true;
  tuner_->adopt(key, trial.point);
}

void Searcher::stop(TrialId key, Trial& trial) {
  if (std::exchange(trial.running, false)) tuner_->withdraw(key);
}

void Searcher::record(TrialId key, Trial& trial, Reached reached) {
  if (std::ranges::count(trial.reached, reached.level, &Reached::level) > 0) return;
  if (reached.loss) ++usable_[reached.level];
  trial.reached.push_back(std::move(reached));
  const auto before = std::exchange(level_, best_known_level());
  // Before there was a level, the tuner was told of failures only.
  if (before && before != level_ && learns_) return learn_anew();
  settle(key, trial);
}

// The result that the tuner is to know of the trial: that at level_, or else any failure.
const Searcher::Reached* Searcher::known(const Trial& trial) const {
  const Reached* failure = nullptr;
  for (const Reached& one : trial.reached) {
    if (one.level == level_) return &one;
    if (!one.loss) failure = &one;
  }
  return failure;
}

// Tells the tuner what is known of the trial, once.
void Searcher::settle(TrialId key, Trial& trial) {
  if (trial.told) return;
  if (const Reached* result = known(trial)) {
    tell(key, trial, *result);
  } else if (!trial.reached.empty()) {
    stop(key, trial);  // it is not what the tuner learns, and waits for no result
  } else if (trial.ended) {
    tell(key, trial, {});
  }
}

// Without a loss the trial is told as failed.
void Searcher::tell(TrialId key, Trial& trial, const Reached& result) {
  trial.told = true;
  if (is_import(key)) {
    stop(key, trial);
  } else if (!std::exchange(trial.running, false)) {
    tuner_->adopt(key, trial.point);
  }
  Outcome outcome{.trial = is_import(key) ? kImportedTrial : key,
                  .point = trial.point,
                  .loss = result.loss,
                  .end = is_import(key) ? End::imported
                         : result.loss  ? End::completed
                                        : End::failed};
  for (std::size_t i = 0; i < result.others.size(); ++i) {
    if (!std::isnan(result.others[i])) outcome.metrics.emplace_back(others_[i], result.others[i]);
  }
  tuner_->tell(std::span(&outcome, 1));
}

// The highest level with enough losses, else the lowest one with any.
std::optional<double> Searcher::best_known_level() const {
  std::optional<double> best;
  for (const auto& [level, count] : usable_) {
    if (!best || count >= needed_) best = level;
  }
  return best;
}

// The tuner forgets everything and is told what is known at level_.
void Searcher::learn_anew() {
  if (const auto set = tuner_->set_space(space_); !set) {
    throw AlgorithmFailure("a search space that it took before: " + set.error().message);
  }
  for (auto& [key, trial] : trials_) {
    trial.told = false;
    start(key, trial);
    settle(key, trial);
  }
}

const Point* Searcher::point_of(TrialId id) const {
  const auto found = trials_.find(id);
  return found == trials_.end() ? nullptr : &found->second.point;
}

// Columns of numbers: 10^5 trials as objects would take seconds.
json Searcher::save() const {
  std::vector<const Point*> points;
  std::vector<double> keys, flags, counts, results;
  for (const auto& [key, trial] : trials_) {
    points.push_back(&trial.point);
    keys.push_back(static_cast<double>(key));
    flags.push_back((trial.ended ? kEnded : 0) + (trial.told ? kTold : 0));
    counts.push_back(static_cast<double>(trial.reached.size()));
    for (const Reached& one : trial.reached) {
      results.push_back(one.level);
      results.push_back(one.loss.value_or(kNone));
      results.insert(results.end(), one.others.begin(), one.others.end());
    }
  }
  return {{"points", save_points(points)},
          {"trials", save_numbers(keys)},
          {"flags", save_numbers(flags)},
          {"counts", save_numbers(counts)},
          {"results", save_numbers(results)},
          {"exhausted", exhausted_},
          {"spare", spare_ ? json::array({save_point(*spare_)}) : json::array()},
          {"tuner", tuner_->save()}};
}

Result<void> Searcher::load(const json& state) {
  const auto keys = TRY(numbers_at(state, "trials"));
  const auto flags = TRY(numbers_at(state, "flags"));
  const auto counts = TRY(numbers_at(state, "counts"));
  const auto results = TRY(numbers_at(state, "results"));
  const json exhausted = TRY(value_at(state, "exhausted"));
  auto points = TRY(load_points(space_, TRY(value_at(state, "points")), keys.size()));
  std::optional<Point> spare;
  for (const json& point : TRY(array_at(state, "spare"))) spare = TRY(load_point(space_, point));
  const auto damaged = [] { return fail("saved state: the searcher has an impossible trial"); };
  if (flags.size() != keys.size() || counts.size() != keys.size() || !exhausted.is_boolean()) {
    return damaged();
  }

  Trials trials;
  std::map<double, std::size_t> usable;
  TrialId next_import = kFirstImport;
  const std::size_t width = 2 + others_.size();
  auto rest = std::span(results);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t rows = rest.size() / width;
    if (!is_whole(keys[i]) || !is_index(flags[i], 4) ||
        !is_index(counts[i], static_cast<double>(rows) + 1)) {
      return damaged();
    }
    const auto bits = static_cast<int>(flags[i]);
    Trial trial{
        .point = std::move(points[i]), .ended = (bits & kEnded) != 0, .told = (bits & kTold) != 0};
    for (auto left = static_cast<std::size_t>(counts[i]); left > 0; --left) {
      Reached one{.level = rest[0]};
      if (!std::isnan(rest[1])) one.loss = rest[1];
      one.others.assign(rest.begin() + 2, rest.begin() + static_cast<std::ptrdiff_t>(width));
      rest = rest.subspan(width);
      if (!std::isfinite(one.level) || (one.loss && !std::isfinite(*one.loss)) ||
          std::ranges::count(trial.reached, one.level, &Reached::level) > 0) {
        return damaged();
      }
      if (one.loss) ++usable[one.level];
      trial.reached.push_back(std::move(one));
    }
    trial.running = trial.reached.empty() && !trial.ended;
    const auto key = static_cast<TrialId>(keys[i]);
    if (is_import(key)) next_import = std::max(next_import, key + 1);
    if (!trials.emplace(key, std::move(trial)).second) return damaged();
  }
  if (!rest.empty()) return damaged();
  TRY(tuner_->load(TRY(object_at(state, "tuner"))));
  trials_ = std::move(trials);
  next_import_ = next_import;
  usable_ = std::move(usable);
  level_ = best_known_level();
  spare_ = std::move(spare);
  exhausted_ = exhausted;
  return {};
}

}  // namespace attune
