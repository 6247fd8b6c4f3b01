// What trials do: where they stand, their results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "manager/trials/trial_runner.h"
#include "protocol/codec.h"

namespace attune {
namespace {

// The same result as `metric`, as the trial's final one.
std::string final_text(ReportMetricData metric) {
  metric.type = ReportMetricData::Type::final;
  metric.sequence = 0;
  return encode(metric).payload;
}

// What the decider hears of an intermediate result, as that of a step.
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

const std::string& job_of(const TrialEvent& event) {
  return std::visit([](const auto& e) -> const std::string& { return e.job_id; }, event);
}

}  // namespace

bool TrialRunner::fetch() {
  if (!inbox_.empty()) return true;
  // Unread metrics wait with the trials until the decider can take more. At the end of the
  // experiment there is nothing to hold back: reports of stopped trials do not count.
  if (!woken_ || (!over_ && decider_.congested())) return false;
  woken_ = false;
  for (TrialEvent& event : backend_.fetch_status_results()) inbox_.push_back(std::move(event));
  return !inbox_.empty();
}

// Whether it only carries out what was decided before: that is no step of its own.
bool TrialRunner::is_settling(const TrialEvent& event) {
  if (std::holds_alternative<CheckpointStored>(event)) return true;
  if (std::holds_alternative<TrialProblem>(event)) return true;
  if (std::holds_alternative<TrialPlace>(event)) return true;
  if (const auto* end = std::get_if<TrialFinished>(&event);
      end && end->how == Ending::restore_failed)
    return true;
  const LiveTrial* trial = table_.find(job_of(event));
  return trial == nullptr || trial->asked.has_value();
}

void TrialRunner::settle() {
  while (fetch() && is_settling(inbox_.front())) handle_next();
}

bool TrialRunner::process_event() {
  if (!fetch()) return false;
  handle_next();
  return true;
}

void TrialRunner::handle_next() {
  const TrialEvent event = std::move(inbox_.front());
  inbox_.pop_front();
  handle_event(event);
}

void TrialRunner::handle_event(const TrialEvent& event) {
  if (const auto* saved = std::get_if<CheckpointStored>(&event)) return handle(*saved);
  LiveTrial* trial = table_.find(job_of(event));
  if (const auto* problem = std::get_if<TrialProblem>(&event)) {
    warn(fmt::format("trial {}: {}", problem->job_id, problem->text), problem->job_id);
  } else if (trial == nullptr || trial->record.status != TrialStatus::running) {
    log_.debug("trial={} has an event after its end", job_of(event));
  } else if (const auto* place = std::get_if<TrialPlace>(&event)) {
    handle(*trial, *place);
  } else if (const auto* report = std::get_if<TrialReport>(&event)) {
    handle(*trial, *report);
  } else {
    handle(*trial, std::get<TrialFinished>(event));
  }
}

// Time in which it waits is none of its own.
void TrialRunner::handle(LiveTrial& trial, const TrialPlace& place) {
  const bool waits = !place.waits_for.empty();
  // Where its end was asked for already the attempt must not begin behind that: a later manager
  // would take the request for that of another one.
  const double began = trial.asked || waits ? 0 : clock_.wall() - place.ran;
  table_.set_waits(trial, waits);
  trial.record.reason = place.waits_for;
  if (!waits) {
    trial.time.last = std::max(trial.time.last, began);
    if (trial.record.attempts == 1)
      trial.record.start_time = std::max(trial.record.start_time, began);
  }
  if (options_.max_trial_seconds && !trial.asked) {
    const double left = std::max(*options_.max_trial_seconds - place.ran, 1e-3);
    table_.set_deadline(trial, waits ? 0 : clock_.now() + left);
  }
  if (!place.worker.empty()) {
    log_.info("trial={} attempt={} runs on worker={} host={}", trial.record.job_id,
              trial.record.attempts - 1, place.worker, place.host);
    store_.set_place(trial.record, place, began);
  }
  tell_change(trial.record);
  update_tally();
}

// ---- results

void TrialRunner::handle(LiveTrial& trial, const TrialReport& report) {
  using Type = ReportMetricData::Type;
  TrialRecord& record = trial.record;
  const ReportMetricData& metric = report.metric;
  const auto ignore = [&](const std::string& why) {
    store_.add_report(record, report, {.counts = false, .why = why});
  };
  const bool final = metric.type == Type::final;
  // It has done that step, whether it counts or not, and may have saved it.
  const bool known = std::ranges::find(trial.ids, metric.parameter_id) != trial.ids.end();
  const Metrics metrics = metrics_of(metric.value);
  const bool is_step = known && metric.type == Type::periodical;
  const std::int64_t step = is_step ? trial.steps.next(metric.sequence, metrics) : 0;
  if (decider_lost_ && !final) return ignore("the decider has gone");
  if (trial.asked) {
    // Whether it counts its end decides, where nobody has decided anything about its results.
    using Kind = EndAsked::Kind;
    const Kind kind = trial.asked->kind;
    const bool last_word =
        final && (kind == Kind::by_user || kind == Kind::interrupt || kind == Kind::pause);
    if (!last_word) return ignore("after the decision: " + trial.asked->reason);
  } else if (report.late) {
    return ignore("after the trial was stopped");
  }
  if (metric.type == Type::request_parameter) {
    // It asks because of them: it is done with that configuration, whatever comes later.
    if (!trial.finals.empty()) {
      tell_results(trial);
      tell_change(record);
    }
    store_.add_report(record, report, {});
    decider_.on_result(record.job_id, report.text);
    return;
  }
  if (!known) {
    // It would be taken for the result of another configuration.
    const std::string why = fmt::format(
        "a metric with parameter_id {} was ignored: copy \"parameter_id\" from parameter.cfg, "
        "where it is {}",
        to_text(metric.parameter_id), to_text(record.proposed.parameter_id));
    warn(fmt::format("trial {}: {}", record.job_id, why), record.job_id);
    return ignore(why);
  }
  if (final) return hold(trial, report);
  count(trial, metrics, report.time, report.ran);
  judge(trial, report, metrics, step);
}

void TrialRunner::count(LiveTrial& trial, const Metrics& metrics, double time,
                        std::optional<double> ran) {
  const double since = trial.time.advance(time, ran);
  status_.on_report(trial.record.job_id, metrics,
                    value_of(metrics, "time_this_iter_s").value_or(since));
}

// Why it is no score; empty: it is one.
std::string TrialRunner::flaw_of(const Metrics& metrics) const {
  const auto number = value_of(metrics, options_.objective().metric);
  if (number && std::isfinite(*number)) return "";
  return fmt::format("it has no finite \"{}\"", options_.objective().metric);
}

// The attempt may still fail, and another one report something else.
void TrialRunner::hold(LiveTrial& trial, TrialReport report) {
  const ReportMetricData& metric = report.metric;
  const bool second = std::ranges::find(trial.told, metric.parameter_id) != trial.told.end() ||
                      std::ranges::find(trial.finals, metric.parameter_id,
                                        &HeldResult::parameter_id) != trial.finals.end();
  if (second)
    return store_.add_report(trial.record, report,
                             {.counts = false, .why = "the trial has had its final result before"});
  const std::string lack = lack_text(metric.value, options_.objectives);
  if (!lack.empty())
    warn(fmt::format("trial {}: the final metric {}", trial.record.job_id, lack),
         trial.record.job_id);
  if (trial.asked) report.late = true;  // it may have been on its way
  store_.add_report(trial.record, report, {.why = flaw_of(metrics_of(metric.value))});
  trial.finals.push_back({metric.parameter_id, report.text, metric.value, report.time, report.ran});
}

void TrialRunner::tell_results(LiveTrial& trial) {
  for (HeldResult& result : std::exchange(trial.finals, {})) {
    count(trial, metrics_of(result.value), result.time, result.ran);
    trial.told.push_back(result.parameter_id);
    trial.record.final_metric = std::move(result.value);
    if (!decider_lost_) decider_.on_result(trial.record.job_id, result.text);
  }
}

void TrialRunner::judge(LiveTrial& trial, const TrialReport& report, const Metrics& metrics,
                        std::int64_t step) {
  TrialRecord& record = trial.record;
  const auto met = meets_criterion(*trial.rules, metrics);
  if (!met) {
    store_.add_report(record, report, {.counts = false, .why = met.error().message});
    ask_end(trial, EndAsked::Kind::fail, met.error().message, "runner");
    return;
  }
  ++record.reports;
  record.last_metric = report.metric.value;
  const std::string flaw = flaw_of(metrics);
  // The trial, with this result. What the experiment was for is not thrown away with its end.
  const bool complete =
      *met || (flaw.empty() && reaches_goal(*value_of(metrics, options_.objective().metric)));
  if (complete) {  // however it ends now
    record.final_metric = report.metric.value;
    trial.told.push_back(report.metric.parameter_id);
    trial.finals.clear();
  }
  store_.add_report(record, report, {.why = flaw});
  const Action action = complete ? decider_.on_result(record.job_id, final_text(report.metric))
                                 : tell(trial, report, step);
  tell_change(record);
  const bool stop = complete || action == Action::stop;
  const bool due = saves_after(trial, metrics, stop);
  if (stop) {
    trial.save_at_end = due;
    if (complete) ask_end(trial, EndAsked::Kind::complete, "its own criterion", "runner");
    if (!complete) ask_end(trial, EndAsked::Kind::early_stop, "the decider said so", "decider");
  } else if (action == Action::pause) {
    ask_end(trial, EndAsked::Kind::pause, "the decider said so", "decider");
  } else if (due || action == Action::checkpoint) {
    save(trial);
  }
}

// An iteration that the trial saved, and did not report in time, is nowhere: the decider would wait
// for it, and hears of the next one in its place.
Action TrialRunner::tell(LiveTrial& trial, const TrialReport& report, std::int64_t step) {
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

// Whether a checkpoint is due after a result; `stop`: the trial ends with it.
bool TrialRunner::saves_after(const LiveTrial& trial, const Metrics& metrics, bool stop) {
  const std::int64_t iteration = iteration_of(metrics).value_or(trial.record.reports);
  const std::int64_t frequency = trial.rules->checkpoint_frequency;
  return (stop && trial.rules->checkpoint_at_end) || (frequency > 0 && iteration % frequency == 0);
}

// After Ray Tune's should_stop(): `done`, or any threshold that is reached, whatever the direction.
Result<bool> TrialRunner::meets_criterion(const TrialRules& rules, const Metrics& metrics) const {
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

bool TrialRunner::reaches_goal(double value) const {
  const Objective& objective = options_.objective();
  const auto& goals = objective.maximize ? options_.stop.reach_up : options_.stop.reach_down;
  const auto goal = goals.find(objective.metric);
  if (goal == goals.end()) return false;
  return objective.maximize ? value >= goal->second : value <= goal->second;
}

}  // namespace attune
