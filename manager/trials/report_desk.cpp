#include "manager/trials/report_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "protocol/codec.h"

namespace attune {
namespace {

// The text of an intermediate result turned into a FINAL.
std::string final_text(ReportMetricData metric) {
  metric.type = ReportMetricData::Type::final;
  metric.sequence = 0;
  return encode(metric).payload;
}

// The text of an intermediate result with `step` as its sequence. What the trial wrote is passed on
// unchanged where possible.
std::string intermediate_text(const TrialReport& report, std::int64_t step) {
  if (report.metric.sequence == step) return report.text;
  ReportMetricData metric = report.metric;
  metric.sequence = step;
  return encode(metric).payload;
}

std::optional<double> value_of(const Metrics& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &Metrics::value_type::first);
  if (found == metrics.end()) return std::nullopt;
  return found->second;
}

// After Ray Tune's should_stop(): `done`, or any threshold that is reached, whatever the direction.
Result<bool> meets_criterion(const TrialRules& rules, const Metrics& metrics) {
  if (value_of(metrics, "done").value_or(0) != 0) return true;
  bool met = false;
  for (const auto& [name, threshold] : rules.stop) {
    const auto value = value_of(metrics, name);
    if (!value)
      return fail(fmt::format("its result has no \"{}\", which stop.trial compares", name));
    met = met || *value >= threshold;
  }
  return met;
}

}  // namespace

bool checkpoint_due(const LiveTrial& trial, const Metrics& metrics, bool stop) {
  const std::int64_t iteration = iteration_of(metrics).value_or(trial.record.reports);
  const std::int64_t frequency = trial.rules->checkpoint_frequency;
  return (stop && trial.rules->checkpoint_at_end) || (frequency > 0 && iteration % frequency == 0);
}

ReportDesk::Outcome ReportDesk::take(LiveTrial& trial, const TrialReport& report,
                                     bool decider_lost) {
  using Type = ReportMetricData::Type;
  const ReportMetricData& metric = report.metric;
  const bool known = std::ranges::find(trial.ids, metric.parameter_id) != trial.ids.end();
  const Metrics metrics = metrics_of(metric.value, options_.objective().metric);
  // Before the report is judged: the trial has done this step, and may have saved it in a
  // checkpoint, even if the report does not count.
  const bool is_step = known && metric.type == Type::periodical;
  const std::int64_t step =
      is_step ? trial.steps.next(metric.sequence, iteration_of(metrics, options_.fidelity)) : 0;
  if (const std::string why = why_ignored(trial, report, known, decider_lost); !why.empty()) {
    store_.add_report(trial.record, report, {.counts = false, .why = why});
    return {};
  }
  if (metric.type == Type::request_parameter) {
    // The trial asks for another configuration because it is done with this one. So its result
    // counts now, whatever becomes of the attempt.
    if (!trial.finals.empty()) {
      tell_results(trial, decider_lost);
      announcer_.changed(trial.record);
    }
    store_.add_report(trial.record, report, {});
    decider_.on_result(trial.record.job_id, report.text);
    return {};
  }
  if (metric.type == Type::final) {
    hold(trial, report);
    return {};
  }
  count(trial, metrics, report.time, report.ran);
  return judge(trial, report, metrics, step);
}

// Why the report does not count; empty: it does.
std::string ReportDesk::why_ignored(const LiveTrial& trial, const TrialReport& report, bool known,
                                    bool decider_lost) const {
  const bool final = report.metric.type == ReportMetricData::Type::final;
  if (decider_lost && !final) return "the decider has gone";
  if (trial.asked) {
    // These ends were not asked for because of the trial's results. So a FINAL is held, and counts
    // if the attempt ends well.
    using Kind = EndAsked::Kind;
    const Kind kind = trial.asked->kind;
    const bool last_word =
        final && (kind == Kind::by_user || kind == Kind::interrupt || kind == Kind::pause);
    if (!last_word) return "after the decision: " + trial.asked->reason;
  } else if (report.late) {
    return "after the trial was stopped";
  }
  if (known || report.metric.type == ReportMetricData::Type::request_parameter) return "";
  // The decider would take it for the result of another configuration.
  std::string why = fmt::format(
      "a metric with parameter_id {} was ignored: copy \"parameter_id\" from parameter.cfg, where "
      "it is {}",
      to_text(report.metric.parameter_id), to_text(trial.record.proposed.parameter_id));
  announcer_.warn(fmt::format("trial {}: {}", trial.record.job_id, why), trial.record.job_id);
  return why;
}

void ReportDesk::count(LiveTrial& trial, const Metrics& metrics, double time,
                       std::optional<double> ran) {
  const double since = trial.time.advance(time, ran);
  status_.on_report(trial.record.job_id, metrics,
                    value_of(metrics, "time_this_iter_s").value_or(since));
}

// Why the metrics hold no score; empty: they do.
std::string ReportDesk::flaw_of(const Metrics& metrics) const {
  const auto number = value_of(metrics, options_.objective().metric);
  if (number && std::isfinite(*number)) return "";
  return fmt::format("it has no finite \"{}\"", options_.objective().metric);
}

void ReportDesk::hold(LiveTrial& trial, TrialReport report) {
  const ReportMetricData& metric = report.metric;
  const bool second = std::ranges::find(trial.told, metric.parameter_id) != trial.told.end() ||
                      std::ranges::find(trial.finals, metric.parameter_id,
                                        &HeldResult::parameter_id) != trial.finals.end();
  if (second) {
    return store_.add_report(trial.record, report,
                             {.counts = false, .why = "the trial has had its final result before"});
  }
  const std::string lack = lack_text(metric.value, options_.objectives);
  if (!lack.empty()) {
    announcer_.warn(fmt::format("trial {}: the final metric {}", trial.record.job_id, lack),
                    trial.record.job_id);
  }
  // Even if the backend has not marked it: it may have been on its way when the end was asked for.
  if (trial.asked) report.late = true;
  store_.add_report(trial.record, report,
                    {.why = flaw_of(metrics_of(metric.value, options_.objective().metric))});
  trial.finals.push_back({metric.parameter_id, report.text, metric.value, report.time, report.ran});
}

void ReportDesk::tell_results(LiveTrial& trial, bool decider_lost) {
  for (HeldResult& result : std::exchange(trial.finals, {})) {
    count(trial, metrics_of(result.value, options_.objective().metric), result.time, result.ran);
    trial.told.push_back(result.parameter_id);
    trial.record.final_metric = std::move(result.value);
    if (!decider_lost)
      decider_.on_final(trial.record.job_id, result.text, trial.record.final_metric);
  }
}

ReportDesk::Outcome ReportDesk::judge(LiveTrial& trial, const TrialReport& report,
                                      const Metrics& metrics, std::int64_t step) {
  using Kind = EndAsked::Kind;
  TrialRecord& record = trial.record;
  const auto met = meets_criterion(*trial.rules, metrics);
  if (!met) {
    store_.add_report(record, report, {.counts = false, .why = met.error().message});
    return {.end = EndAsked{Kind::fail, met.error().message}, .by = "runner"};
  }
  ++record.reports;
  record.last_metric = report.metric.value;
  const std::string flaw = flaw_of(metrics);
  // A result that reaches the goal of the experiment completes the trial, too. Otherwise the end of
  // the experiment would cancel this trial, and lose the very result that was searched for.
  const bool complete =
      *met || (flaw.empty() && reaches_goal(*value_of(metrics, options_.objective().metric)));
  if (complete) {  // the result counts however the attempt ends
    record.final_metric = report.metric.value;
    trial.told.push_back(report.metric.parameter_id);
    trial.finals.clear();
  }
  store_.add_report(record, report, {.why = flaw});
  const Action action =
      complete ? decider_.on_final(record.job_id, final_text(report.metric), report.metric.value)
               : tell(trial, report, step);
  announcer_.changed(record);
  const bool stop = complete || action == Action::stop;
  const bool due = checkpoint_due(trial, metrics, stop);
  if (stop) trial.save_at_end = due;
  if (complete) return {.end = EndAsked{Kind::complete, "its own criterion"}, .by = "runner"};
  const std::string said = "the decider said so";
  if (stop) return {.end = EndAsked{Kind::early_stop, said}, .by = "decider"};
  if (action == Action::pause) return {.end = EndAsked{Kind::pause, said}, .by = "decider"};
  return {.save = due || action == Action::checkpoint};
}

// The decider compares trials step by step, and waits for a missing step. An attempt that was lost
// may have saved steps without reporting them, and nobody will report them now. So the first result
// of the next attempt is told in place of each of them, too.
Action ReportDesk::tell(LiveTrial& trial, const TrialReport& report, std::int64_t step) {
  Action action = Action::keep_going;
  const std::string& job_id = trial.record.job_id;
  for (std::int64_t lost = trial.steps.untold(); lost < trial.steps.first(); ++lost) {
    const Action early = decider_.on_result(job_id, intermediate_text(report, lost));
    if (early != Action::keep_going) action = early;
  }
  const Action last = decider_.on_result(job_id, intermediate_text(report, step));
  trial.steps.told(step);
  return last == Action::keep_going ? action : last;
}

// Whether the value meets the experiment's `stop` rule for its first objective.
bool ReportDesk::reaches_goal(double value) const {
  const Objective& objective = options_.objective();
  const auto& goals = objective.maximize ? options_.stop.reach_up : options_.stop.reach_down;
  const auto goal = goals.find(objective.metric);
  if (goal == goals.end()) return false;
  return objective.maximize ? value >= goal->second : value <= goal->second;
}

}  // namespace attune
