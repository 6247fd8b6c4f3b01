// Hyperband that pauses its trials: HyperBandScheduler and HyperBandForBOHB of Ray Tune. The rule
// and its sources are in rungs/band.h. Trials pause at a milestone until the whole bracket is
// there; the best go on from where they paused. NNI's tuner Hyperband is another one: it starts all
// trials of a round from scratch.
//
// HyperBandForBOHB fills the largest bracket of a band first, and its searcher is by default a
// model, which learns from each milestone.
//
// In Ray trials join a bracket before they run. Here a trial joins when it is proposed, and the
// bracket keeps its places for those to come. It is judged without them when the searcher has no
// more, or the experiment has had its trials (maxTrialNumber).
//
// A trial that ends by itself, perhaps because it reads TRIAL_BUDGET, has reached its milestone
// with its final result. If it is among the best, a new trial with the same configuration goes on
// from its checkpoint. One that ends in any other way counts as the worst. One that could not be
// paused runs on, and is judged again at its next report. No trial waits for ever, whatever the
// milestones are: rungs/band.h says where that differs from Ray.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "rungs/band.h"
#include "rungs/band_trials.h"
#include "rungs/reason_text.h"
#include "rungs/resource.h"
#include "tuners/parts/searcher.h"
#include "tuners/registry.h"

namespace attune {
namespace hyperband_scheduler_tuner {
namespace {

using Call = Bands::Call;
using Ruling = Bands::Ruling;
using State = Bands::State;

struct Options {
  std::string time_attr;
  BandRule rule;
  Objective objective;
  std::optional<int> max_trials;
};

// A trial that is stopped early will never go on from its checkpoint.
std::vector<Decision> stops(TrialId trial, const std::string& reason, bool complete) {
  std::vector<Decision> decisions = {{trial, Action::stop, reason, complete}};
  if (!complete) decisions.push_back({trial, Action::drop_checkpoint});
  return decisions;
}

// In the bands and in the searcher a configuration has the id of its first trial.
class HyperBandScheduler final : public Tuner {
 public:
  HyperBandScheduler(Options options, Searcher searcher)
      : options_(std::move(options)),
        searcher_(std::move(searcher)),
        bands_(options_.rule),
        trials_(TrialQuota(options_.max_trials)) {}

  Result<void> set_space(const Space& space) override {
    TRY(searcher_.set_space(space));
    bands_ = Bands(options_.rule);
    trials_ = BandTrials(trials_.quota());
    return {};
  }

  bool pauses_at_budget() const override { return true; }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  bool set_priors(const Space& space) override { return searcher_.set_priors(space); }
  bool begin_with(const Point& point) override {
    searcher_.begin_with(point);
    return true;
  }
  void withdraw(TrialId id) override;
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) tell(outcome);
  }
  // It runs outside of the brackets, to its own end. If it has ended and another trial runs its
  // configuration, nothing is to be done.
  void adopt(TrialId id, const Point& point) override {
    if (!trials_.runners().contains(id)) searcher_.adopt(id, point);
  }
  std::vector<Decision> on_report(const Report& report) override;

  void skip_ahead() override { searcher_.skip_ahead(); }
  std::string take_notes() override { return searcher_.take_notes(); }
  void replay_notes(const std::string& notes) override { searcher_.replay_notes(notes); }
  void end_replay() override { searcher_.end_replay(); }
  json save() const override {
    return {{"searcher", searcher_.save()}, {"bands", bands_.save()}, {"trials", trials_.save()}};
  }
  Result<void> load(const json& state) override;

 private:
  Answer answer(TrialId id);
  Answer go_on(TrialId id, TrialId configuration);
  void tell(const Outcome& outcome);
  void complete(TrialId configuration, const Outcome& outcome);
  void end(TrialId configuration);
  std::vector<Decision> carry_out(const Ruling& ruling);
  void carry_out_later(const std::vector<Ruling>& rulings);
  std::string reason(const Ruling& ruling) const;

  Options options_;
  Searcher searcher_;
  Bands bands_;
  BandTrials trials_;
};

// Trials that go on come before new ones. If there is neither, open places will not be taken: their
// brackets are judged, and a trial of them may go on.
Answer HyperBandScheduler::answer(TrialId id) {
  bool later = false;
  for (const bool judged : {false, true}) {
    if (const auto configuration = bands_.choose()) return go_on(id, *configuration);
    // The manager declines further trials, and goes on with paused ones only.
    const bool full = trials_.quota().used_up() && !trials_.runners().empty();
    if (!full) {
      Answer fresh = searcher_.ask(id);
      if (auto* const proposal = std::get_if<Proposal>(&fresh)) {
        bands_.add(id);
        proposal->budget = bands_.milestone(id);
        trials_.begin(id, *proposal->budget);
        return fresh;
      }
      later = std::holds_alternative<NotYet>(fresh);
      if (later && bands_.running() > 0) return NotYet{};
    }
    if (!judged) carry_out_later(bands_.proceed());
  }
  // A trial is stopped by the answer to a report. If nothing else reports, it goes on for one.
  if (bands_.running() == 0) {
    if (const auto stop = trials_.resume_stop()) {
      return Proposal{.point = *searcher_.point_of(stop->second.configuration),
                      .budget = stop->second.budget,
                      .resume = stop->first,
                      .reason = stop->second.reason + ": goes on for a report, which stops it"};
    }
  }
  const bool over = !later && trials_.runners().empty() && trials_.stops().empty();
  return over ? Answer(Exhausted{}) : Answer(NotYet{});
}

Answer HyperBandScheduler::go_on(TrialId id, TrialId configuration) {
  const double budget = bands_.milestone(configuration);
  const auto former = trials_.go_on(configuration, id, budget);
  bands_.set_state(configuration, State::running);
  Proposal proposal{.point = *searcher_.point_of(configuration), .budget = budget};
  (former.ended ? proposal.checkpoint_from : proposal.resume) = former.trial;
  proposal.reason = former.reason.empty() ? "" : former.reason + ": ";
  proposal.reason += fmt::format("goes on to {:g}", budget);
  return proposal;
}

void HyperBandScheduler::withdraw(TrialId id) {
  const auto configuration = trials_.run_by(id);
  if (!configuration) return;
  trials_.withdraw(id);
  if (*configuration == id) {
    searcher_.withdraw(id);
    bands_.withdraw(id);
  } else {  // it was to go on with the configuration of a trial that has ended
    carry_out_later(bands_.remove(*configuration));
    end(*configuration);
  }
}

std::vector<Decision> HyperBandScheduler::on_report(const Report& report) {
  std::vector<Decision> decisions;
  const auto add = [&](std::vector<Decision> more) {
    std::ranges::move(more, std::back_inserter(decisions));
  };
  for (const auto& [trial, one] : trials_.take_stops()) {
    add(stops(trial, one.reason, one.complete));
  }
  const auto configuration = trials_.run_by(report.trial);
  const auto now = progress_of(report, options_.time_attr, options_.objective);
  if (!configuration || !now) return decisions;
  trials_.ran(report.trial);
  if (bands_.find(*configuration)->state == State::waiting) {
    // It is still to be paused. Its result is that of the milestone, as it is for the others.
    add(carry_out(bands_.pause(*configuration)));
    return decisions;
  }
  const double loss = std::isnan(now->loss) ? std::numeric_limits<double>::infinity() : now->loss;
  const double milestone = bands_.milestone(*configuration);
  if (now->resource >= milestone) {
    searcher_.observe(*configuration, milestone, loss, report.metrics);
  }
  const auto verdict = bands_.result(*configuration, now->resource, loss);
  add(carry_out(verdict.reporter));
  for (const Ruling& ruling : verdict.others) add(carry_out(ruling));
  return decisions;
}

std::vector<Decision> HyperBandScheduler::carry_out(const Ruling& ruling) {
  if (ruling.call == Call::go_on) {
    if (ruling.of > 0) trials_.may_go_on(ruling.trial, reason(ruling));
    return {};
  }
  const auto runner = trials_.runner(ruling.trial);
  if (ruling.call == Call::pause) return {{runner.trial, Action::pause, reason(ruling)}};
  end(ruling.trial);
  if (runner.ended) return {};
  return stops(runner.trial, reason(ruling), ruling.complete);
}

// Nothing was reported, so no decision can be made now.
void HyperBandScheduler::carry_out_later(const std::vector<Ruling>& rulings) {
  for (const Ruling& ruling : rulings) {
    if (ruling.call == Call::go_on) carry_out(ruling);
    if (ruling.call != Call::stop) continue;
    const auto runner = trials_.runner(ruling.trial);
    if (!runner.ended) {
      trials_.stop(runner.trial, {.configuration = ruling.trial,
                                  .budget = runner.budget,
                                  .reason = reason(ruling),
                                  .complete = ruling.complete});
    }
    end(ruling.trial);
  }
}

std::string HyperBandScheduler::reason(const Ruling& ruling) const {
  const std::string value = result_text(options_.objective, ruling.loss);
  if (ruling.complete) {
    return fmt::format("milestone {:g}: {}; it is the last milestone of the bracket",
                       ruling.milestone, value);
  }
  return rank_text("milestone", ruling.milestone, value, ruling.rank, ruling.of) +
         (ruling.call == Call::pause
              ? waits_text(ruling.missing)
              : kept_text(ruling.kept, result_text(options_.objective, ruling.cutoff)));
}

// The configuration is in no bracket any longer.
void HyperBandScheduler::end(TrialId configuration) {
  trials_.leave(configuration);
  searcher_.end(configuration);
}

void HyperBandScheduler::tell(const Outcome& outcome) {
  const double level = outcome.budget.value_or(options_.rule.max_t);
  if (outcome.end == End::imported) return searcher_.import(outcome, level);
  const auto running = trials_.run_by(outcome.trial);
  const TrialId configuration = trials_.configuration_of(outcome.trial);
  const bool declined = trials_.told(outcome.trial, outcome.end);
  if (declined && running == outcome.trial) {
    searcher_.put_back(outcome.trial);
    bands_.withdraw(outcome.trial);
    return trials_.leave(outcome.trial);
  }
  if (running) return complete(*running, outcome);
  if (searcher_.point_of(configuration)) {
    if (outcome.usable()) {
      searcher_.observe(configuration, level, outcome.loss, outcome.metrics);
    }
    searcher_.end(configuration);
  } else if (outcome.usable()) {
    searcher_.import(outcome, level);  // from before a change of the search space
  }
}

// The trial of a configuration in a bracket has ended.
void HyperBandScheduler::complete(TrialId configuration, const Outcome& outcome) {
  const Bands::Trial trial = *bands_.find(configuration);
  const double milestone = bands_.milestone(configuration);
  const double loss = outcome.usable() ? *outcome.loss : trial.loss;
  const double budget = outcome.budget.value_or(trials_.runner(configuration).budget);
  const bool at_end =
      bands_.at_last_milestone(configuration) && (budget >= milestone || trial.time >= milestone);
  if (outcome.end != End::completed || !std::isfinite(loss)) {
    carry_out_later(bands_.remove(configuration));
    end(configuration);
  } else if (trial.state == State::waiting) {
    trials_.end(configuration);  // its result is known
  } else if (at_end) {
    searcher_.observe(configuration, milestone, loss, outcome.metrics);
    carry_out_later(bands_.remove(configuration));
    end(configuration);
  } else if (trial.state == State::ready || budget < milestone) {
    // It was among the best, and ended before it knew.
    trials_.end(configuration);
    bands_.set_state(configuration, State::ready);
  } else {
    searcher_.observe(configuration, milestone, loss, outcome.metrics);
    trials_.end(configuration);
    const auto verdict = bands_.result(configuration, milestone, loss);
    if (verdict.reporter.call == Call::go_on) bands_.set_state(configuration, State::ready);
    carry_out_later({verdict.reporter});
    carry_out_later(verdict.others);
  }
}

Result<void> HyperBandScheduler::load(const json& state) {
  Bands bands(options_.rule);
  TRY(bands.load(TRY(object_at(state, "bands"))));
  BandTrials trials{TrialQuota(options_.max_trials)};
  TRY(trials.load(TRY(object_at(state, "trials")), bands));
  const json former = searcher_.save();
  TRY(searcher_.load(TRY(object_at(state, "searcher"))));
  if (!std::ranges::all_of(trials.configurations(),
                           [this](TrialId one) { return searcher_.point_of(one) != nullptr; })) {
    ATTUNE_CHECK(searcher_.load(former).has_value());
    return fail("saved state: a trial of a bracket has no configuration");
  }
  bands_ = std::move(bands);
  trials_ = std::move(trials);
  return {};
}

std::vector<Argument> arguments_of(const std::string& searcher) {
  return {{.name = "time_attr",
           .type = Argument::Type::text,
           .fallback = kTrainingIteration,
           .help = "the metric that says how much of its resource a trial has used"},
          {.name = "max_t",
           .type = Argument::Type::integer,
           .fallback = 81,
           .help = "the most of that resource for one trial",
           .low = 1,
           .high = 1e9},
          {.name = "reduction_factor",
           .type = Argument::Type::number,
           .fallback = 3,
           .help = "of this many trials one goes on at a milestone",
           .low = 2,
           .high = 1e3},
          {.name = "stop_last_trials",
           .type = Argument::Type::boolean,
           .fallback = true,
           .help = "stop trials at the last milestone; else they run to their own end"},
          {.name = "milestones",
           .type = Argument::Type::integer,
           .fallback = 2024,
           .help = "2024: 1, 3, 9, ... as in Ray Tune since 2023; 2018: 1, 4, 13, ... as before",
           .low = 2018,
           .high = 2024},
          Searcher::argument(searcher)};
}

Result<std::unique_ptr<Tuner>> make(const std::string& name, bool for_bohb, const json& args,
                                    const TunerContext& context, const Rng& rng) {
  const int milestones = args["milestones"];
  if (milestones != 2018 && milestones != 2024) {
    return fail(name + ".milestones: 2018 or 2024 expected");
  }
  const BandRule rule{.max_t = args["max_t"],
                      .factor = args["reduction_factor"],
                      .stop_last = args["stop_last_trials"],
                      .of_2018 = milestones == 2018,
                      .for_bohb = for_bohb};
  auto searcher = TRY(Searcher::make(name, args["searcher"], context, rng));
  return std::make_unique<HyperBandScheduler>(
      Options{args["time_attr"], rule, context.objectives.at(0), context.max_trials},
      std::move(searcher));
}

}  // namespace
}  // namespace hyperband_scheduler_tuner

extern const TunerEntry hyperband_scheduler_entry = {
    .name = "HyperBandScheduler",
    .aliases = {},
    .summary =
        "Hyperband of Ray Tune: pauses trials at milestones, and lets the best of them go on",
    .arguments = hyperband_scheduler_tuner::arguments_of("Random"),
    .maximizes = true,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context, Rng rng) {
      return hyperband_scheduler_tuner::make("HyperBandScheduler", false, args, context, rng);
    }};

extern const TunerEntry hyperband_for_bohb_entry = {
    .name = "HyperBandForBOHB",
    .aliases = {},
    .summary = "the same, the largest bracket first, with a model that proposes: BOHB",
    .arguments = hyperband_scheduler_tuner::arguments_of("TPE"),
    .maximizes = true,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context, Rng rng) {
      return hyperband_scheduler_tuner::make("HyperBandForBOHB", true, args, context, rng);
    }};

}  // namespace attune
