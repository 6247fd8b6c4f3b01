#include "study/core.h"

#include <algorithm>
#include <cmath>

#include "dispatcher/metrics.h"

namespace attune {
namespace {

// A damaged file must not keep the tuner busy for hours.
constexpr std::int64_t kMostAsked = 10'000;
constexpr std::size_t kStates = static_cast<std::size_t>(TrialState::stopped) + 1;

}  // namespace

StudyCore::StudyCore(MadeTuner made, std::vector<Objective> objectives,
                     std::unique_ptr<Assessor> assessor, Space space, std::optional<int> max_trials,
                     std::uint64_t seed)
    : tuner_(*made.tuner),
      session_(std::move(made.tuner), objectives.front(), Log()),
      assessor_(std::move(assessor)),
      space_(std::move(space)),
      seed_(seed),
      tuner_wants_reports_(made.wants_reports),
      max_trials_(max_trials),
      counts_(kStates, 0),
      objectives_(std::move(objectives)) {}

const StudyTrial* StudyCore::record(TrialId id) const {
  const auto found = trials_.find(id);
  return found == trials_.end() ? nullptr : &found->second.record;
}

std::vector<StudyTrial> StudyCore::records() const {
  std::vector<StudyTrial> all;
  all.reserve(trials_.size());
  for (const auto& [id, trial] : trials_) all.push_back(trial.record);
  return all;
}

std::vector<std::pair<Suggestion, int>> StudyCore::running() const {
  std::vector<std::pair<Suggestion, int>> all;
  if (count(TrialState::running) == 0) return all;
  for (const auto& [id, trial] : trials_) {
    if (trial.record.state != TrialState::running) continue;
    all.push_back({Suggestion{id, trial.record.parameters}, trial.slot});
  }
  return all;
}

Result<StudyCore::Trial*> StudyCore::live(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return fail("trial " + std::to_string(id) + " does not exist");
  Trial& trial = found->second;
  if (trial.record.state != TrialState::running) {
    return fail("trial " + std::to_string(id) + " is " + std::string(name_of(trial.record.state)) +
                " already");
  }
  return &trial;
}

Result<Asked> StudyCore::ask(std::int64_t count, int slot) {
  if (count < 1 || count > kMostAsked) {
    return fail("ask: from 1 to " + std::to_string(kMostAsked) +
                " trials can be asked for at once");
  }
  Asked asked;
  const auto missing = [&] { return count - std::ssize(asked.trials); };
  const auto exceeded = [&] { return max_trials_ && trial_count() >= *max_trials_; };
  while (missing() > 0 && !enqueued_.empty() && !exceeded()) {
    json parameters = std::move(enqueued_.front());
    enqueued_.pop_front();
    if (grows()) {
      asked.trials.push_back(give_wished(parameters, slot));
      continue;
    }
    const TrialId id = next_id_++;
    take(TRY(session_.adopt(id, parameters)).replies);
    asked.trials.push_back(give({id, std::move(parameters)}, slot));
  }
  // While no trial has declared a parameter the tuner has nothing to propose.
  while (grows() && declared_.empty() && missing() > 0 && !exceeded()) {
    asked.trials.push_back(give({next_id_++, json::object()}, slot));
  }
  const auto take_ready = [&] {
    while (missing() > 0 && !ready_.empty()) {
      asked.trials.push_back(give(std::move(ready_.front()), slot));
      ready_.pop_front();
    }
  };
  take_ready();
  // Earlier asks that wait will be answered for this call or a later one, so only the rest is
  // requested.
  std::int64_t more = missing() - waiting_;
  if (max_trials_) more = std::min(more, *max_trials_ - trial_count() - waiting_);
  const bool requests = more > 0 && !no_more_;
  if (requests) {
    const TrialId first = next_id_;
    next_id_ += more;
    waiting_ += more;
    take(session_.request(first, more));
    take_ready();
  }
  // All points that are known were tried, but trials may declare more: drawn ones.
  while (grows() && no_more_ && missing() > 0 && !exceeded()) {
    asked.trials.push_back(give_wished(json::object(), slot));
  }
  if (missing() > 0 && exceeded()) {
    asked.no_more = true;
    asked.reason = "the study has its " + std::to_string(*max_trials_) + " trials";
  } else if (missing() > 0 && no_more_) {
    asked.no_more = true;
    asked.reason = *no_more_;
  }
  // Nothing has changed: no event.
  if (!requests && asked.trials.empty()) return asked;
  json trials = json::array();
  for (const Suggestion& trial : asked.trials) trials.push_back(event_of(trial));
  add_event({.kind = Event::Kind::ask, .slot = slot, .count = count, .body = std::move(trials)});
  return asked;
}

json StudyCore::event_of(const Suggestion& given) const {
  if (!grows()) return {{"id", given.id}, {"parameters", given.parameters}};
  const Trial& trial = trials_.at(given.id);
  json event = {{"id", given.id}, {"parameters", trial.proposed}};
  if (!trial.wished.empty()) event["wished"] = trial.wished;
  return event;
}

Suggestion StudyCore::give(Suggestion suggestion, int slot) {
  auto [at, is_new] = trials_.try_emplace(suggestion.id);
  Trial& trial = at->second;
  if (is_new) {
    ++counts_[static_cast<std::size_t>(TrialState::running)];
  } else {
    // It was paused, and begins again: nothing of it was kept but what the tuner has learnt.
    if (assessor_ && !trial.record.reports.empty()) {
      assessor_->trial_end(suggestion.id, End::failed);
    }
    set_state(trial, TrialState::running);
    trial = Trial{};
  }
  trial.record.id = suggestion.id;
  trial.slot = slot;
  if (grows()) {
    // The trial gets what it will ask for; but a budget at once.
    trial.proposed = std::move(suggestion.parameters);
    suggestion.parameters = json::object();
    for (const auto& [name, value] : trial.proposed.items()) {
      if (!declared_.contains(name)) suggestion.parameters[name] = value;
    }
  }
  trial.record.parameters = suggestion.parameters;
  return suggestion;
}

void StudyCore::take(Replies replies) {
  for (Reply& reply : replies) {
    if (auto* offer = std::get_if<Offer>(&reply)) {
      --waiting_;
      ready_.push_back({offer->trial, std::move(offer->parameters)});
    } else {
      // NoMore does not say how many asks it answers. If some of them still wait, the session
      // answers them later all the same.
      waiting_ = 0;
      no_more_ = std::get<NoMore>(reply).reason;
    }
  }
  waiting_ = std::max<std::int64_t>(waiting_, 0);
}

void StudyCore::add_event(Event event) {
  if (event.kind != Event::Kind::ask && event.slot >= 0) last_slot_ = event.slot;
  events_.push_back(std::move(event));
}

void StudyCore::set_state(Trial& trial, TrialState state) {
  --counts_[static_cast<std::size_t>(trial.record.state)];
  ++counts_[static_cast<std::size_t>(state)];
  trial.record.state = state;
}

void StudyCore::end(Trial& trial, TrialState state, End end, Replies replies) {
  no_more_.reset();
  take(std::move(replies));
  if (assessor_ && !trial.record.reports.empty()) assessor_->trial_end(trial.record.id, end);
  set_state(trial, state);
  take(session_.trial_end(trial.record.id, end));
}

Result<StudyCore::Read> StudyCore::read(const json& value) const {
  const std::string& primary = session_.objective().metric;
  Read read;
  read.metrics = TRY(to_metrics(value, primary));
  read.stored = storable(value);
  TRY(check_readable(read.stored));
  // Keeps what a replay of the file would read: values that are not finite are dropped, but that of
  // the first objective is NaN.
  std::erase_if(read.metrics, [&](const auto& metric) {
    return metric.first != primary && !std::isfinite(metric.second);
  });
  if (!std::isfinite(read.metrics.front().second)) read.metrics.front().second = Point::kInactive;
  return read;
}

Result<StudyCore::Read> StudyCore::read(TrialId id, const json& value) const {
  auto known = read(value);
  if (!known) return fail("trial " + std::to_string(id) + ": " + known.error().message);
  return known;
}

std::optional<Standing> StudyCore::rank_of(const Metrics& metrics) const {
  std::vector<std::optional<double>> reported;
  for (const Objective& each : objectives_) reported.push_back(finite_metric(metrics, each.metric));
  return standing(objectives_, reported);
}

Result<void> StudyCore::check_tell(TrialId id, const json& value) {
  TRY(live(id));
  TRY(read(id, value));
  return {};
}

Result<void> StudyCore::tell(TrialId id, const json& given, int slot) {
  Trial& trial = *TRY(live(id));
  auto [value, metrics] = TRY(read(id, given));
  StudyTrial& record = trial.record;
  record.metrics = std::move(metrics);
  const auto result = finite_metric(record.metrics, session_.objective().metric);
  record.value = result;
  end(trial, result ? TrialState::completed : TrialState::diverged, End::completed,
      session_.final_result(id, value));
  if (auto rank = rank_of(record.metrics)) leaders_.offer(id, std::move(*rank));
  add_event({.kind = Event::Kind::tell, .slot = slot, .trial = id, .body = std::move(value)});
  return {};
}

Result<void> StudyCore::fail_trial(TrialId id, const std::string& reason, int slot) {
  Trial& trial = *TRY(live(id));
  trial.record.reason = reason;
  end(trial, TrialState::failed, End::failed, {});
  add_event({.kind = Event::Kind::fail, .slot = slot, .trial = id, .body = reason});
  return {};
}

Result<void> StudyCore::stop(TrialId id, int slot) {
  Trial& trial = *TRY(live(id));
  StudyTrial& record = trial.record;
  record.reason = trial.stop_reason;
  if (trial.to_pause) {
    set_state(trial, TrialState::paused);
    no_more_.reset();
    Effects effects = session_.paused(id);
    take(std::move(effects.replies));
    carry_out(effects.decisions);
  } else {
    Replies replies;
    if (!record.reports.empty()) {
      record.metrics = record.reports.back().metrics;
      record.value = finite_metric(record.metrics, session_.objective().metric);
      json told = json::object();
      for (const auto& [name, x] : record.metrics) told[name] = x;
      replies = session_.final_result(id, told);
    }
    end(trial, TrialState::stopped, End::stopped, std::move(replies));
  }
  add_event({.kind = Event::Kind::stop, .slot = slot, .trial = id});
  return {};
}

std::optional<Verdict> StudyCore::known_report(TrialId id, std::int64_t step,
                                               const json& value) const {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return std::nullopt;
  const Trial& trial = found->second;
  if (step < 0 || step >= std::ssize(trial.record.reports)) return std::nullopt;
  const auto now = read(value);
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first &&
           (a.second == b.second || (std::isnan(a.second) && std::isnan(b.second)));
  };
  const Metrics& known = trial.record.reports[static_cast<std::size_t>(step)].metrics;
  if (!now || !std::ranges::equal(now->metrics, known, same)) return std::nullopt;
  const bool stop = trial.stop_heard_at && step >= *trial.stop_heard_at;
  return Verdict{stop, stop ? trial.stop_reason : ""};
}

Result<Verdict> StudyCore::report(TrialId id, const json& given,
                                  std::optional<std::int64_t> given_step, int slot) {
  Trial& trial = *TRY(live(id));
  std::vector<Report>& reports = trial.record.reports;
  const std::int64_t step = given_step.value_or(std::ssize(reports));
  if (step < 0 || step > std::ssize(reports)) {
    return fail("trial " + std::to_string(id) + ": step " + std::to_string(step) +
                " reported, but the next one is " + std::to_string(reports.size()));
  }
  if (step < std::ssize(reports)) {
    if (auto known = known_report(id, step, given)) return *known;
  }
  auto [value, metrics] = TRY(read(id, given));
  Report report{id, step, std::move(metrics)};
  if (tuner_wants_reports_) {
    no_more_.reset();
    Effects effects = session_.report(report);
    take(std::move(effects.replies));
    carry_out(effects.decisions);
  }
  if (step == std::ssize(reports)) {
    reports.push_back(std::move(report));
  } else {
    reports[static_cast<std::size_t>(step)] = std::move(report);
  }
  if (assessor_ && trial.stop_reason.empty()) carry_out({assessor_->assess(id, reports)});
  Verdict verdict{!trial.stop_reason.empty(), trial.stop_reason};
  if (verdict.stop && !trial.stop_heard_at) trial.stop_heard_at = step;
  add_event({.kind = Event::Kind::report,
             .slot = slot,
             .trial = id,
             .step = step,
             .stop = verdict.stop,
             .body = std::move(value)});
  return verdict;
}

// A function cannot be halted in its middle: a pause ends it, and it begins again when it goes on.
void StudyCore::carry_out(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    if (decision.action != Action::stop && decision.action != Action::pause) continue;
    const auto found = trials_.find(decision.trial);
    if (found == trials_.end()) continue;
    Trial& trial = found->second;
    if (trial.record.state == TrialState::paused) {
      end(trial, TrialState::stopped, End::stopped, {});
    } else if (trial.record.state == TrialState::running && trial.stop_reason.empty()) {
      trial.stop_reason = decision.reason.empty() ? "stopped" : decision.reason;
      trial.to_pause = decision.action == Action::pause;
    }
  }
}

}  // namespace attune
