#include "dispatcher/dispatcher.h"

#include <algorithm>
#include <utility>

#include "dispatcher/journal_frames.h"
#include "dispatcher/message_size.h"
#include "protocol/codec.h"

namespace attune {
namespace {

// Bytes that a queued message counts beside its payload.
constexpr std::size_t kMessageOverhead = 256;
constexpr std::size_t kWarnLength = 20;

End end_of(TrialEnd::Event event) {
  switch (event) {
    case TrialEnd::Event::succeeded:
      return End::completed;
    case TrialEnd::Event::failed:
    case TrialEnd::Event::unknown:
      return End::failed;
    default:
      return End::stopped;
  }
}

}  // namespace

Dispatcher::Dispatcher(DispatcherOptions options, Queues& queues, Log log)
    : options_(options), queues_(queues), log_(std::move(log)), quotas_(options.limits) {}

void Dispatcher::attach(Sink& sink, Journal& journal) {
  sink_ = &sink;
  journal_ = &journal;
}

bool Dispatcher::accept(Frame frame) {
  if (frame.code != code_of(Initialize{})) ++commands_;
  // Counted and recorded even if it is bad, because the manager counts it, too.
  auto command = decode(frame, options_.limits);
  log_.debug("received {} of {} bytes", frame.code, frame.payload.size());
  text_bytes_ = frame.payload.size();
  journal_->append({RecordKind::command, frame_payload(frame)});
  if (!command) {
    // Without a space the daemon can do nothing, and the manager waits for the answer to this one.
    if (!initialized_ && frame.code == code_of(Initialize{})) {
      answer(Failed{kExitConfiguration, command.error().message});
    } else {
      log_.error("command {} ignored: {}", commands_, command.error().message);
    }
    return true;
  }
  bytes_ = text_bytes_ + memory_of(*command) + kMessageOverhead;
  std::visit([this](auto& c) { route(c); }, *command);
  warn_if_long();
  return !blocked();
}

bool Dispatcher::resume() {
  if (parked_tune_ && queues_.try_push(*parked_tune_, bytes_)) parked_tune_.reset();
  if (parked_assess_ && queues_.try_push(*parked_assess_, bytes_)) parked_assess_.reset();
  return !blocked();
}

void Dispatcher::to_tuner(TuneMessage message) {
  if (!queues_.try_push(message, bytes_)) parked_tune_ = std::move(message);
}

void Dispatcher::to_assessor(AssessMessage message) {
  if (!queues_.try_push(message, bytes_)) parked_assess_ = std::move(message);
}

void Dispatcher::warn_if_long() {
  const std::size_t length = std::max(queues_.tune_size(), queues_.assess_size());
  if (length >= warn_at_) {
    log_.warning("default queue length: {}, assessor queue length: {}", queues_.tune_size(),
                 queues_.assess_size());
    warn_at_ *= 2;
  } else if (length < kWarnLength / 2) {
    warn_at_ = kWarnLength;
  }
}

// ---- commands

void Dispatcher::route(const Initialize& c) {
  initialized_ = true;
  to_tuner(SetSpace{c.search_space, true, c.earlier});
}

void Dispatcher::route(const UpdateSearchSpace& c) { to_tuner(SetSpace{c.search_space, false}); }

void Dispatcher::route(const RequestTrialJobs& c) {
  if (c.count <= 0) return;
  const std::int64_t count = quotas_.room_for_trials(c.count);
  const TrialId request = jobs_.take_ids(count);
  quotas_.asked(request, count);
  if (count == c.count) return to_tuner(AskTrials{request, request, count});
  if (count > 0) push_own(AskTrials{request, request, count});
  refuse_trials(c.count, c.count - count);
}

void Dispatcher::route(ReportMetricData& c) {
  using Type = ReportMetricData::Type;
  if (c.type == Type::request_parameter) {
    if (jobs_.has_ended(c.trial_job_id)) {
      log_.warning("REQUEST_PARAMETER of {} ignored: it has ended", c.trial_job_id);
      return;
    }
    if (!admit_job(c.trial_job_id, c.parameter_id)) return;
    if (quotas_.room_for_trials(1) == 0) {
      log_.error(
          "REQUEST_PARAMETER of {} gets nothing: {} trials have not ended "
          "(--max-outstanding)",
          c.trial_job_id, options_.limits.outstanding);
      return to_tuner(
          Refuse{ParameterForJob{jobs_.take_ids(1), c.trial_job_id, c.parameter_index, nullptr}});
    }
    const TrialId id = jobs_.take_ids(1);
    quotas_.asked(id, 1);
    jobs_.bind_metric(c.trial_job_id, ParameterId(id));
    to_tuner(AskForJob{id, c.trial_job_id, c.parameter_index});
    return;
  }
  if (!admit_job(c.trial_job_id, c.parameter_id)) return;
  if (c.trial_job_id.empty() && !jobs_.ours(c.parameter_id)) {
    // Without a job no decision on it could be sent, and no TrialEnd would ever end it.
    log_.warning("metric ignored: it has neither a job nor a parameter id of ours");
    return;
  }
  const auto [trial, ended, revived] = jobs_.bind_metric(c.trial_job_id, c.parameter_id);
  if (revived) {
    quotas_.revived(trial);
    log_.warning("trial {} runs as {}: a TrialEnd that named it meant another one", trial,
                 c.trial_job_id);
    push_own(ReviveTrial{trial});
  }
  if (ended && c.type == Type::periodical) {
    log_.debug("intermediate result of {} ignored: it has ended", c.trial_job_id);
    return;
  }
  if (c.type == Type::final) {
    to_tuner(FinalResult{trial, std::move(c.value)});
  } else if ((options_.wants_reports || options_.has_assessor) &&
             !admit_report(trial, c.sequence)) {
    return;
  } else {
    // Both may judge it. Whichever stops the trial first decides.
    if (options_.wants_reports && options_.has_assessor) {
      to_tuner(IntermediateResult{trial, c.sequence, c.value});
    } else if (options_.wants_reports) {
      to_tuner(IntermediateResult{trial, c.sequence, std::move(c.value)});
    }
    if (options_.has_assessor) {
      to_assessor(IntermediateResult{trial, c.sequence, std::move(c.value)});
    }
  }
  // The job of the trial is known now: decisions that waited for it can be sent.
  for (const Decision& decision : jobs_.released(trial)) carry_out(decision);
}

void Dispatcher::route(ImportData& c) {
  ImportResults message;
  std::size_t known = 0, index = 0, refused = 0;
  for (auto& record : c.records) {
    Session::Imported imported{std::move(record.parameter), std::move(record.value)};
    imported.index = index++;
    if (!record.trial_job_id.empty() && admit_job(record.trial_job_id, {})) {
      const auto job = jobs_.import(record.trial_job_id);
      if (job.known) {
        ++known;
        continue;
      }
      imported.has_job = true;
      imported.trial = job.trial;
      if (job.trial) quotas_.ended(*job.trial);
    }
    if (!quotas_.take_import()) {
      ++refused;
      continue;
    }
    message.records.push_back(std::move(imported));
  }
  if (refused > 0) {
    log_.error("{} imported results left out: {} were imported already (--max-imports)", refused,
               options_.limits.imports);
  }
  if (known > 0) log_.info("{} results of jobs that were imported before are left out", known);
  if (!message.records.empty()) to_tuner(std::move(message));
}

// NNI up to 2.8 names one trial, which takes the next id. Later ones send, after a resume, a list
// of trials that run again under their old ids; trials of the manager's own have none.
void Dispatcher::route(AddCustomizedTrialJob& c) {
  for (auto& trial : c.trials) {
    AdoptTrial message{0, std::move(trial.parameters)};
    if (!c.resumed) {
      if (!admit_trial(jobs_.next_id())) continue;
      message.trial = jobs_.take_ids(1);
    } else if (const auto* old = std::get_if<std::int64_t>(&trial.parameter_id);
               old && *old >= 0 && *old <= kLargestId) {
      if (!admit_trial(jobs_.trial_of(*old))) continue;
      message.unknown = jobs_.reserve_through(*old);
      message.trial = jobs_.trial_of(*old);
      if (!trial.trial_job_id.empty()) {
        if (!admit_job(trial.trial_job_id, trial.parameter_id)) continue;
        message.paused = trial.paused && options_.capabilities.pause;
        message.trial = jobs_.adopt(trial.trial_job_id, *old, message.paused);
        if (!trial.checkpoint.empty()) remember(message.trial, trial.checkpoint);
      }
    } else {
      // A trial of the manager's own has none.
      const bool odd = !std::holds_alternative<std::monostate>(trial.parameter_id);
      if (odd)
        log_.warning("resumed trial {} ignored: not an id of ours", to_text(trial.parameter_id));
      continue;
    }
    const std::size_t bytes = memory_of(message.parameters) + kMessageOverhead;
    push_own(std::move(message), bytes);
  }
}

void Dispatcher::route(TrialEnd& c) {
  using Event = TrialEnd::Event;
  if (!admit_job(c.trial_job_id, c.parameter_id)) return;
  const bool pause = c.event == Event::paused || c.event == Event::pause_failed;
  if (pause && options_.capabilities.pause) return on_pause(c);
  if (c.event == Event::unknown) {
    log_.warning("TrialEnd of {}: unknown event, taken as FAILED", c.trial_job_id);
  }
  const auto ended = jobs_.end(c.trial_job_id, c.parameter_id, c.event);
  if (!ended) {
    log_.debug("TrialEnd of {} ignored: it had ended before", c.trial_job_id);
    return;
  }
  if (ended->misnamed) {
    end_trials({{ended->misnamed->first}, end_of(ended->misnamed->second)});
  }
  if (ended->trials.empty()) return;
  if (ended->paused) {
    to_tuner(TrialsPaused{ended->trials, /*failed=*/false, /*decided=*/true});
  } else {
    for (const TrialId trial : ended->trials) quotas_.ended(trial);
    const bool declined = ended->unheard && c.event == Event::user_canceled;
    TrialsEnded message{ended->trials, end_of(c.event), declined};
    if (options_.has_assessor) to_assessor(message);
    to_tuner(std::move(message));
  }
  for (const TrialId trial : ended->trials) release_offers(trial);
}

// Ends trials that no TrialEnd of their own has ended.
void Dispatcher::end_trials(const TrialsEnded& ended) {
  for (const TrialId trial : ended.trials) quotas_.ended(trial);
  push_own(AssessMessage(ended));
  push_own(TuneMessage(ended));
}

void Dispatcher::route(const Terminate&) { sink_->terminate(); }

void Dispatcher::route(const Ping& c) {
  if (c.token.empty() || !options_.capabilities.sync) return;
  // One barrier in each queue. PO follows when both workers have reached theirs.
  const std::uint64_t number = ++barriers_;
  echoes_.emplace(number, Echo{c.token});
  to_tuner(Barrier{number});
  to_assessor(Barrier{number});
}

void Dispatcher::route(const Received& c) { acknowledged_ = std::max(acknowledged_, c.answers); }

template <class Other>
void Dispatcher::route(const Other& c) {
  log_.error("command {} ignored: {} is not for the daemon", commands_, name_of(code_of(c)));
}

// Called before any message of our own is queued, so that it does not overtake a command that is
// held back. In a replay nothing is held back: the order there would be another one.
void Dispatcher::release() {
  if (parked_tune_) queues_.push_over_limit(*std::exchange(parked_tune_, {}), bytes_);
  if (parked_assess_) queues_.push_over_limit(*std::exchange(parked_assess_, {}), bytes_);
}

void Dispatcher::push_own(TuneMessage message, std::size_t bytes) {
  release();
  note_follower();
  queues_.push_over_limit(std::move(message), bytes);
}

void Dispatcher::push_own(AssessMessage message) {
  release();
  note_follower();
  queues_.push_over_limit(std::move(message), kOwnBytes);
}

// The message may follow from what came before a barrier, and stands behind it.
void Dispatcher::note_follower() {
  if (options_.revision < 1) return;
  for (auto& [number, echo] : echoes_) echo.followed = true;
}

// ---- what the workers say

void Dispatcher::on_worker(WorkerName from, WorkerMessage message) {
  // The other kinds do not change the state. A failure is not recorded either: a daemon that
  // resumes from the journal tries again.
  const bool counts = !std::holds_alternative<TunerState>(message) &&
                      !std::holds_alternative<AssessorState>(message) &&
                      !std::holds_alternative<Failed>(message) &&
                      !std::holds_alternative<Finished>(message);
  if (counts) {
    const bool tune = from == WorkerName::tune;
    const auto* noted = std::get_if<Noted>(&message);
    journal_->append({tune ? RecordKind::tune : RecordKind::assess, noted ? noted->notes : ""});
    if (saving_) note_in_flight(from, message);
  }
  std::visit([this](auto& m) { answer(m); }, message);
}

void Dispatcher::answer(const SpaceSet&) { send(Initialized{}); }

void Dispatcher::answer(const NoMore& m) {
  quotas_.no_more(m.asked);
  log_.info("no more trials: {}", m.reason);
  send(NoMoreTrialJobs{ParameterId(m.asked), options_.capabilities.reason ? m.reason : ""});
}

void Dispatcher::answer(ParameterForJob& m) {
  if (m.parameters.is_null()) {
    quotas_.no_more(m.id);
  } else {
    quotas_.answered_job(m.id);
  }
  send(SendTrialJobParameter{ParameterId(m.id), std::move(m.parameters), m.trial_job_id,
                             m.parameter_index});
}

// Tuner and assessor may both stop a trial. The first one decides whether it is complete.
void Dispatcher::answer(Decided& m) {
  if (m.decision.action == Action::stop && jobs_.stop_decided(m.decision.trial)) return;
  end_early(m);
  carry_out(m.decision);
}

// A trial that is complete has its last report for its final result, and so has any stopped trial
// if NNI says so. Of another one the tuner may be told what to assume. Queues that before the kill
// is sent, so that the tuner hears it before the end that the kill causes.
void Dispatcher::end_early(const Decided& m) {
  const TrialId trial = m.decision.trial;
  if (m.decision.action != Action::stop || m.last_value.is_null()) return;
  if (trial < 0) return;  // the manager's own: no tuner knows it
  if (m.decision.complete || options_.include_intermediate) {
    push_own(FinalResult{trial, m.last_value});
  } else if (!m.expected.is_null()) {
    push_own(StoppedEarly{trial, m.last_value, m.expected});
  }
}

void Dispatcher::answer(const Passed& m) {
  const auto found = echoes_.find(m.number);
  if (found == echoes_.end() || --found->second.missing > 0) return;
  Echo& echo = found->second;
  if (echo.followed) {  // once more, behind what followed
    echo = Echo{std::move(echo.token)};
    release();
    queues_.push_over_limit(TuneMessage(Barrier{m.number}), kOwnBytes);
    queues_.push_over_limit(AssessMessage(Barrier{m.number}), kOwnBytes);
    return;
  }
  // An earlier one that goes once more is through, too: its followers stood before this barrier.
  while (!echoes_.empty() && echoes_.begin()->first <= m.number) {
    send(Pong{echoes_.begin()->second.token});
    echoes_.erase(echoes_.begin());
  }
}

void Dispatcher::answer(const Failed& m) {
  if (options_.capabilities.error) sink_->send(encode(DaemonError{m.message}));
  sink_->fatal(static_cast<ExitCode>(m.exit_code), m.message);
}

void Dispatcher::send(const Command& command) {
  Frame frame = encode(command);
  if (!std::holds_alternative<Initialized>(command)) ++answers_;
  log_.debug("answered {} of {} bytes", frame.code, frame.payload.size());
  // The record comes first: the server holds the answer back until this record is safe.
  journal_->append({RecordKind::answer, frame_payload(frame)});
  sink_->send(std::move(frame));
}

}  // namespace attune
