// BOHB: the brackets of Hyperband, whose new configurations come from kernel densities of what was
// good and what was not.
//
// Source: Falkner, Klein, Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization at Scale"
// (ICML 2018). Arguments and numbers are those of NNI: tuners/parts/bohb_brackets.h has the rounds,
// tuners/parts/bohb_density.h the model. What is not as in NNI:
// * The model learns from the largest budget with enough results. NNI's takes the number of the
//   final report, which is always 0, for the budget, and so mixes the results of all budgets.
// * A configuration is drawn when it is asked for, not when its bracket begins. So it profits from
//   the trials of its own round.
// * A trial that fails is one of the bad ones in the model, as in the authors' program, and is not
//   promoted. In NNI, a round with too few results is an error that ends the experiment.
// * Under a manager that pauses trials, a trial that ignores TRIAL_BUDGET is stopped when it has
//   used its budget, and a trial of a later round starts from the checkpoint of the round before.
//
// The value of a trial is that of its final result. If it has none, its last report counts, unless
// it failed or its final result was no number. A trial that was stopped (by an assessor, by the
// user) has not used its budget: it can be promoted, but for the model it was not good.
//
// Trials that were not proposed here (imported, or run by the user) belong to no bracket. The model
// learns from them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/reason_text.h"
#include "rungs/resource.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/bohb_brackets.h"
#include "tuners/parts/bohb_density.h"
#include "tuners/parts/feasible_suggestion.h"
#include "tuners/registry.h"

namespace attune {
namespace bohb_tuner {
namespace {

// Suggestions that may repeat a known point of a finite space before a random point is drawn.
constexpr int kRetries = 10;

struct Settings {
  BohbBudgets budgets;
  BohbModelSettings model;
  double random_fraction = 1.0 / 3;
  std::string time_attr;
};

class Bohb final : public Tuner {
 public:
  Bohb(const Settings& settings, const Context& context, Rng rng)
      : settings_(settings),
        all_(context.objectives),
        first_(context.objectives.at(0)),
        objectives_(context),
        pauses_(context.pauses),
        rng_(rng),
        brackets_(settings.budgets, objectives_.size(), objectives_.limits()) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    groups_ = TpeGroups(space);
    dedup_ = Deduplicator(space);
    histories_.clear();
    origins_.clear();
    unneeded_.clear();
    wanted_.reset();
    brackets_ = {settings_.budgets, objectives_.size(), objectives_.limits()};
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  bool begin_with(const Point& point) override {
    wanted_ = point;
    return true;
  }
  void withdraw(TrialId id) override { brackets_.withdraw(id); }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) hear(outcome);
  }
  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    brackets_.revive(id);
  }
  std::vector<Decision> on_report(const Report& report) override;

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Answer answer(TrialId id);
  std::vector<Decision> judge(const Report& report);
  std::optional<Point> new_point();
  Point draw();
  Point suggest(std::size_t candidates);
  std::optional<BohbDensity> model(std::size_t group);
  void hear(const Outcome& outcome);
  std::string result(std::span<const double> values) const;
  TpeHistory& history(double budget) {
    return histories_.try_emplace(budget, space_, objectives_).first->second;
  }

  Settings settings_;
  std::vector<Objective> all_;  // objectives and limits
  Objective first_;
  Objectives objectives_;
  bool pauses_;  // the manager does
  Rng rng_;
  Space space_;
  TpeGroups groups_;
  Deduplicator dedup_{Space{}};
  std::map<double, TpeHistory> histories_;  // of each budget
  BohbBrackets brackets_;
  std::map<TrialId, TrialId> origins_;  // of a running trial: from whose checkpoint it started
  std::set<TrialId> unneeded_;          // their checkpoints are dropped with the next report
  std::optional<Point> wanted_;         // to be tried first
};

Answer Bohb::answer(TrialId id) {
  for (;;) {
    if (auto promoted = brackets_.take_promoted()) {
      brackets_.start_promoted(id, promoted->point);
      origins_[id] = promoted->from;
      return Proposal{
          .point = std::move(promoted->point),
          .budget = brackets_.budget(),
          .checkpoint_from = promoted->from,
          .reason = fmt::format("{}: goes on to {:g}", promoted->why, brackets_.budget())};
    }
    if (brackets_.fresh() > 0) {
      if (auto point = new_point()) {
        brackets_.start_fresh(id, *point);
        return Proposal{.point = *std::move(point), .budget = brackets_.budget()};
      }
      brackets_.no_more_fresh();
    }
    if (brackets_.anybody_runs()) return NotYet{};
    // The bracket before is over, and this one found nothing new in a finite space.
    if (brackets_.is_empty()) return Exhausted{};
    unneeded_.merge(brackets_.advance([this](auto values) { return result(values); }));
  }
}

std::optional<Point> Bohb::new_point() {
  if (wanted_) return dedup_(*std::exchange(wanted_, std::nullopt));
  Point point = draw();
  for (int i = 0; i < kRetries && dedup_.repeats(point); ++i) point = draw();
  if (dedup_.repeats(point)) point = sample(space_, rng_);
  return feasible_and_new(space_, dedup_, std::move(point));
}

Point Bohb::draw() {
  const bool random = rng_.uniform() < settings_.random_fraction;
  return feasible_suggestion(space_, settings_.model.samples, rng_, [&](std::size_t candidates) {
    return random ? sample(space_, rng_) : suggest(candidates);
  });
}

// Group by group, parents first. What has no model yet is drawn at random.
Point Bohb::suggest(std::size_t candidates) {
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    if (point.active(i) || !is_active(space_, point, i)) continue;
    const std::size_t g = groups_.group_of(i);
    const auto density = g == TpeGroups::kConstant ? std::nullopt : model(g);
    if (!density) {
      point.values[i] = sample(space_.params[i].domain, rng_);
      continue;
    }
    const TpeGroups::Group& group = groups_.groups()[g];
    const std::vector<double> best = density->suggest(candidates, rng_);
    for (std::size_t a = 0; a < group.size(); ++a) {
      for (const std::size_t k : groups_.variables()[group[a]].params) {
        if (is_active(space_, point, k)) point.values[k] = groups_.value(group[a], best[a]);
      }
    }
  }
  return point;
}

// Of the largest budget that has enough results in which the group is active.
std::optional<BohbDensity> Bohb::model(std::size_t group) {
  for (auto at = histories_.rbegin(); at != histories_.rend(); ++at) {
    TpeHistory& results = at->second;
    const auto split = bohb_split(results.by_loss(group).size(), results.usable(group),
                                  results.groups().groups()[group].size(), settings_.model);
    if (!split) continue;
    results.rank();
    return BohbDensity(results, group, *split, settings_.model);
  }
  return std::nullopt;
}

void Bohb::hear(const Outcome& outcome) {
  dedup_.add(outcome.point);
  auto values = objectives_(outcome);
  const bool has_budget = outcome.budget && std::isfinite(*outcome.budget) && *outcome.budget > 0;
  double budget = has_budget ? *outcome.budget : settings_.budgets.most;
  const bool stopped = outcome.end == End::stopped;
  bool complete = !stopped;
  const bool own = outcome.end != End::imported;
  if (auto* member = own ? brackets_.running(outcome.trial) : nullptr) {
    complete = complete || member->full;
    const bool counts = outcome.end == End::completed || stopped;
    if (!values && counts && !member->values.empty()) values = member->values;
    budget = brackets_.budget();
    if (const auto origin = origins_.extract(outcome.trial)) unneeded_.insert(origin.mapped());
    brackets_.end(outcome.trial, values.value_or(std::vector<double>{}));
  }
  if (values && complete) {
    history(budget).add(outcome.point, *values);
  } else {
    history(budget).add_failed(outcome.point);
  }
}

// As the user sees it.
std::string Bohb::result(std::span<const double> values) const {
  const double broken = violation(values, objectives_.size());
  return broken > 0 ? over_limits_text(broken) : results_text(all_, values);
}

std::vector<Decision> Bohb::on_report(const Report& report) {
  std::vector<Decision> decisions = judge(report);
  for (const TrialId trial : std::exchange(unneeded_, {})) {
    decisions.push_back({trial, Action::drop_checkpoint, "no trial starts from it any more"});
  }
  return decisions;
}

std::vector<Decision> Bohb::judge(const Report& report) {
  auto* const member = brackets_.running(report.trial);
  if (!member) return {};
  Outcome so_far{.trial = report.trial, .metrics = report.metrics};
  so_far.loss = loss_in(report.metrics, first_);
  if (auto values = objectives_(so_far)) member->values = *std::move(values);

  const auto resource = resource_of(report, settings_.time_attr);
  if (!resource || *resource < brackets_.budget()) return {};
  member->full = true;
  if (!pauses_) return {};
  std::vector<Decision> decisions;
  if (brackets_.round() < brackets_.bracket()) {
    decisions.push_back({report.trial, Action::checkpoint, "its successor may start from here"});
  }
  // Also if it was told to stop before: it may have been started anew since.
  decisions.push_back(
      {.trial = report.trial,
       .action = Action::stop,
       .reason = used_up_text(settings_.time_attr, *resource, brackets_.budget(),
                              member->values.empty() ? result_text(NAN) : result(member->values)),
       .complete = true});
  return decisions;
}

json Bohb::save() const {
  std::vector<double> budgets;
  json results = json::array();
  for (const auto& [budget, history] : histories_) {
    budgets.push_back(budget);
    results.push_back(history.save());
  }
  json origins = json::array();
  for (const auto& [trial, origin] : origins_) origins.push_back({trial, origin});
  json state = {{"rng", to_json(rng_)},
                {"seen", dedup_.save()},
                {"budgets", save_numbers(budgets)},
                {"results", std::move(results)},
                {"brackets", brackets_.save()},
                {"origins", std::move(origins)},
                {"unneeded", unneeded_}};
  if (wanted_) state["wanted"] = save_point(*wanted_);
  return state;
}

Result<void> Bohb::load(const json& state) {
  const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
  Deduplicator dedup(space_);
  TRY(dedup.load(TRY(object_at(state, "seen"))));
  const auto budgets = TRY(numbers_at(state, "budgets"));
  const json results = TRY(array_at(state, "results"));
  if (budgets.size() != results.size()) return fail("saved state: a budget without its results");
  std::map<double, TpeHistory> histories;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    if (!std::isfinite(budgets[i]) || budgets[i] <= 0 || histories.contains(budgets[i])) {
      return fail("saved state: an impossible budget");
    }
    TpeHistory& history = histories.try_emplace(budgets[i], space_, objectives_).first->second;
    TRY(history.load(space_, results[i]));
  }
  std::map<TrialId, TrialId> origins;
  for (const json& pair : TRY(array_at(state, "origins"))) {
    const bool well_formed = pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() &&
                             pair[1].is_number_integer();
    if (!well_formed) return fail("saved state: an impossible origin");
    origins[pair[0].get<TrialId>()] = pair[1].get<TrialId>();
  }
  auto unneeded = TRY(trials_at(state, "unneeded"));
  std::optional<Point> wanted;
  if (state.contains("wanted")) wanted = TRY(load_point(space_, state["wanted"]));
  TRY(brackets_.load(space_, TRY(object_at(state, "brackets"))));
  rng_ = rng;
  origins_ = std::move(origins);
  unneeded_ = std::move(unneeded);
  wanted_ = std::move(wanted);
  dedup_ = std::move(dedup);
  histories_ = std::move(histories);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  if (!args["config_space"].is_null()) {
    return fail(
        "BOHB.config_space: not supported, because the parameters are those of the experiment's "
        "own search space; leave it out, and write there what the file declares");
  }
  Settings settings;
  settings.budgets = {args["min_budget"], args["max_budget"], args["eta"]};
  if (settings.budgets.least > settings.budgets.most) {
    return fail(fmt::format("BOHB.max_budget: {} is below min_budget {}", settings.budgets.most,
                            settings.budgets.least));
  }
  if (!args["min_points_in_model"].is_null()) {
    settings.model.min_points = args["min_points_in_model"];
  }
  settings.model.top_percent = args["top_n_percent"];
  settings.model.samples = args["num_samples"];
  settings.model.bandwidth_factor = args["bandwidth_factor"];
  settings.model.min_bandwidth = args["min_bandwidth"];
  settings.random_fraction = args["random_fraction"];
  settings.time_attr = args["time_attr"];
  return std::make_unique<Bohb>(settings, context, rng);
}

Argument ranged(const char* name, const json& fallback, double low, double high, const char* help,
                Argument::Type type = Argument::Type::number) {
  return {.name = name, .type = type, .fallback = fallback, .help = help, .low = low, .high = high};
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  return {
      ranged("min_budget", 1, 1, 1e9, "the smallest resource that a trial is given", integer),
      ranged("max_budget", 3, 1, 1e9, "the largest resource that a trial is given", integer),
      ranged("eta", 3, 2, 1e9,
             "of the trials of a round one in so many goes on, with so much more budget", integer),
      ranged("min_points_in_model", nullptr, 0, 1e9,
             "good results that a model needs; null, or too few: parameters + 1", integer),
      ranged("top_n_percent", 15, 1, 99, "the percentage of the results that are good", integer),
      ranged("num_samples", 64, 1, 1e5, "candidates drawn for each suggestion", integer),
      ranged("random_fraction", 1.0 / 3, 0, 1,
             "the share of new configurations that are drawn without the model"),
      ranged("bandwidth_factor", 3.0, 1e-3, 9999,
             "by which candidates spread more than the density of the good results"),
      ranged("min_bandwidth", 1e-3, 1e-6, 9999,
             "the smallest bandwidth of a kernel, as a part of the parameter's range"),
      {.name = "time_attr",
       .type = text,
       .fallback = kTrainingIteration,
       .help = "the metric that says how much resource a trial has used"},
      {.name = "config_space",
       .type = text,
       .fallback = nullptr,
       .help = "not supported: the parameters are those of the experiment's search space"}};
}

}  // namespace
}  // namespace bohb_tuner

extern const TunerEntry bohb_entry = {
    .name = "BOHB",
    .aliases = {},
    .summary = "Hyperband's brackets, whose new configurations come from a kernel density model",
    .arguments = bohb_tuner::arguments(),
    .maximizes = true,
    .wants_reports = true,
    .make = bohb_tuner::make};

}  // namespace attune
