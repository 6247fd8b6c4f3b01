#include "manager/trials/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/codec.h"

namespace attune {

namespace {

constexpr const char* kExperimentEnded = "the experiment ended";

Resources capacity_of(const TrialBackend& backend, const Resources& said) {
  Resources all = backend.capacity();
  if (said.cpu > 0) all.cpu = said.cpu;
  if (said.gpu > 0) all.gpu = said.gpu;
  if (said.memory > 0) all.memory = said.memory;
  for (const auto& [name, amount] : said.custom) all.custom[name] = amount;
  return all;
}

}  // namespace

TrialRunner::TrialRunner(RunnerOptions options, Decider& decider, TrialBackend& backend,
                         const Clock& clock, TrialStore& store, TrialObserver& observer, Log log)
    : options_(std::move(options)),
      rules_(std::make_shared<const TrialRules>(options_.trial)),
      decider_(decider),
      backend_(backend),
      clock_(clock),
      store_(store),
      observer_(observer),
      log_(std::move(log)),
      announcer_(store, observer, log_),
      guard_(clock, options_.memory_retry_seconds, options_.memory_patience_seconds),
      proposals_(options_.proposal_seconds),
      checkpoints_(
          {options_.checkpoint, options_.start_retry_seconds, options_.memory_patience_seconds},
          backend, store, announcer_, clock),
      reports_(options_, decider, store, announcer_, status_),
      results_(options_.objectives, options_.result_place),
      table_(clock, ResourcePool(capacity_of(backend, options_.capacity), options_.queue_trials),
             options_.concurrency) {}

void TrialRunner::start() {
  started_at_ = clock_.now();
  if (auto started = decider_.start(*this); !started) on_failure(started.error());
}

void TrialRunner::pump() {
  // While the store is stalled, nothing happens but the next try to commit.
  if (guard_.stalled() && !over_) {
    if (!guard_.may_try() || (!keep() && !over_)) return;
  }
  // Before act_on_time(), which could stop a trial that was taken over for its time, although an
  // event says that it has only waited for the backend.
  if (phase_ == Phase::running && !over_ && !guard_.stalled()) settle();
  while (phase_ == Phase::running && !over_ && !guard_.stalled()) {
    act_on_time();
    if (over_) break;
    const auto stepped = step();
    if (!stepped) {
      stop_experiment({ExperimentEnd::Kind::failed, stepped.error().message});
    } else if (*stepped == Step::waiting) {
      break;
    }
  }
  if (over_) wind_down();
  if (phase_ != Phase::done && guard_.may_try()) keep();
  // A stalled store delays the end, unless the trials were left or the user has interrupted.
  const bool waits = guard_.stalled() && !detached_ && !interrupted_;
  if (phase_ == Phase::closing && closed_ && !waits) finish();
}

// ---- commits

void TrialRunner::tell_state() {
  if (!begun_) return;  // the store still has the state of the earlier manager, to be taken over
  RunnerState state;
  proposals_.save(state);
  checkpoints_.save_state(state);
  state.best = status_.best();
  state.since_best = status_.scores_since_best();
  if (stored_ == state) return;
  store_.set_state(state);
  stored_ = std::move(state);
}

bool TrialRunner::keep() {
  tell_state();
  return note(store_.commit());
}

// Handles the answer of a commit. Returns whether everything is committed; then does what has
// waited for that: deletes dropped checkpoints, stops trials, tells a decider without memory.
bool TrialRunner::note(const Result<Kept>& answer) {
  if (answer && !answer->notice.empty()) announcer_.warn(answer->notice);
  switch (guard_.note(answer)) {
    case StoreGuard::Change::lost:
      leave_trials(answer ? answer->trouble : answer.error().message);
      return false;
    case StoreGuard::Change::stalled:
      announcer_.warn(
          fmt::format("nothing is started until this can be written: {}", answer->trouble));
      return false;
    case StoreGuard::Change::resumed:
      announcer_.notice("the store can be written again; the experiment goes on");
      break;
    case StoreGuard::Change::none:
      if (guard_.stalled()) return false;
  }
  checkpoints_.delete_dropped();
  carry_out_ends();
  if (std::exchange(tells_again_, false)) tell_again();
  return true;
}

// Ends the experiment without stopping its running trials. What they report meanwhile stays in
// their own folders, where a later manager finds it.
void TrialRunner::leave_trials(const std::string& why) {
  if (std::exchange(detached_, true)) return;
  const std::string reason =
      why + "; no trial was stopped for it: they run on, and attune resume takes them over";
  if (over_) {
    over_->reason += "; " + reason;
  } else {
    stop_experiment({ExperimentEnd::Kind::failed, reason});
  }
}

Result<TrialRunner::Step> TrialRunner::step() {
  if (over_) return fail("step() was called after all trials had finished");
  if (phase_ == Phase::starting || guard_.stalled()) return Step::waiting;
  settle();
  replenish();
  Step done = Step::progressed;
  if (!start_one() && !process_event()) done = TRY(nothing_to_do());
  settle();
  check_over();
  return over_ ? Step::waiting : done;
}

// ---- what to try

std::int64_t TrialRunner::wanted() const {
  const auto busy = static_cast<std::int64_t>(table_.running() + table_.pending());
  std::int64_t count = table_.concurrency() - busy - proposals_.unanswered();
  if (options_.max_trials) {
    // No new trial is left to ask for; but one open request lets the tuner resume a paused trial.
    const std::int64_t left = *options_.max_trials - tally_.added() - proposals_.unanswered();
    count = std::min(count, std::max<std::int64_t>(left, !proposals_.open() && tally_.paused > 0));
  }
  return count;
}

bool TrialRunner::all_added() const {
  return options_.max_trials && tally_.added() >= *options_.max_trials;
}

void TrialRunner::replenish() {
  if (phase_ != Phase::running || proposals_.is_exhausted() || over_) return;
  const auto count = static_cast<int>(wanted());
  if (count <= 0) return;
  proposals_.asked(count);
  decider_.next(count);
}

bool TrialRunner::start_one() {
  const auto job_id = decider_.choose(table_);
  LiveTrial* trial = job_id ? table_.find(*job_id) : nullptr;
  if (trial == nullptr) return false;
  if (trial->record.status == TrialStatus::paused)
    checkpoints_.start_from(*trial, trial->resumes_from());
  start_trial(*trial);
  return true;
}

void TrialRunner::start_trial(LiveTrial& trial) {
  TrialRecord& record = trial.record;
  const int attempt = record.attempts++;
  if (record.start_time == 0) record.start_time = clock_.wall();
  trial.asked.reset();
  trial.time = {.ran = 0, .last = clock_.wall()};
  trial.finals.clear();
  // steps_saved is that of record.checkpoint; from another checkpoint the steps begin with 0.
  const bool goes_on = !trial.start_from.empty() && trial.start_from == record.checkpoint;
  trial.steps.begin(goes_on ? std::optional(trial.steps_saved) : std::nullopt);
  set_status(trial, TrialStatus::running);
  tell_state();
  // Committed before the backend starts it: after a crash a later manager must know of an attempt
  // that may run. If the commit fails, the trial waits again.
  const auto kept = store_.begin_attempt(record, trial.start_from);
  observer_.on_attempt(record);
  if (!note(kept)) {
    --record.attempts;
    set_status(trial, TrialStatus::pending, kept ? kept->trouble : kept.error().message);
    return;
  }
  const auto started =
      backend_.start({record.job_id, record.sequence, attempt, record.proposed.text,
                      trial.rules->resources, trial.start_from});
  if (!started) {
    start_failed(trial, started.error().message);
    return;
  }
  log_.info("trial={} starts attempt={} parameter_id={} parameters={}{}{}", record.job_id, attempt,
            to_text(record.proposed.parameter_id), dump_json(record.proposed.parameters),
            trial.start_from.empty() ? "" : " from checkpoint ", trial.start_from);
  trial.start_failing_since.reset();
  if (options_.max_trial_seconds)
    table_.set_deadline(trial, clock_.now() + *options_.max_trial_seconds);
}

// A full disk or too many processes may pass, and nothing of the trial has run. So the runner tries
// the same attempt again every start_retry_seconds. Only when it gives up, the start counts as a
// failure of the trial.
void TrialRunner::start_failed(LiveTrial& trial, const std::string& why) {
  const double now = clock_.now();
  const bool first = !trial.start_failing_since;
  if (first) trial.start_failing_since = now;
  const bool given_up = now >= *trial.start_failing_since + options_.memory_patience_seconds;
  if (given_up) ++trial.record.failures;
  TrialFinished finished;
  finished.job_id = trial.record.job_id;
  finished.how = Ending::failed;
  finished.detail = fmt::format("it could not be started: {}", why);
  finished.time = clock_.wall();
  store_.end_attempt(trial.record, finished);
  if (given_up) {
    conclude(trial, TrialStatus::failed, finished.detail);
    return;
  }
  --trial.record.attempts;
  if (first) {
    announcer_.warn(
        fmt::format("trial {} could not be started, and is tried again every {:g} s: {}",
                    trial.record.job_id, options_.start_retry_seconds, why),
        trial.record.job_id);
  }
  set_status(trial, TrialStatus::pending, finished.detail);
  table_.set_deadline(trial, now + options_.start_retry_seconds);
}

// ---- when nothing moves

Result<TrialRunner::Step> TrialRunner::nothing_to_do() {
  bool busy = table_.running() > 0 || checkpoints_.busy();
  if (!busy) {
    for (const auto& [sequence, trial] : table_.in(TrialStatus::pending)) {
      busy = true;
      if (trial->deadline > clock_.now() || table_.pool().possible(trial->rules->resources)) break;
      // No trial runs that could free resources, and the pool is too small even when it is idle.
      return fail(fmt::format(
          "trial {} can never be started: {}; lower `resources`, or set queueTrials: true where "
          "resources appear on demand",
          trial->record.job_id, table_.why_waits(*trial)));
    }
  }
  proposals_.wait(!busy, clock_.now());
  // Once all trials are added, that is why there is no more: check_over() says so.
  const bool no_more = !proposals_.open() && proposals_.is_exhausted() && !all_added();
  if (!busy && no_more && table_.paused() > 0) {
    stop_experiment({ExperimentEnd::Kind::completed,
                     "the tuner has no more configurations, and goes on with no paused trial"});
  }
  return Step::waiting;
}

std::optional<double> TrialRunner::next_deadline() const {
  if (guard_.stalled() && phase_ != Phase::done) return guard_.retry_at();
  if (phase_ != Phase::running || over_) return std::nullopt;
  std::optional<double> next = table_.next_deadline();
  const auto consider = [&](double time) { next = std::min(next.value_or(time), time); };
  if (options_.max_seconds) consider(started_at_ + *options_.max_seconds - earlier_seconds_);
  if (const auto silence = proposals_.deadline()) consider(*silence);
  if (const auto retry = checkpoints_.next_retry()) consider(*retry);
  return next;
}

void TrialRunner::act_on_time() {
  const double now = clock_.now();
  if (options_.max_seconds && elapsed() >= *options_.max_seconds) {
    stop_experiment({ExperimentEnd::Kind::completed, "maxExperimentDuration is over"});
    return;
  }
  if (const auto silence = proposals_.deadline(); silence && now >= *silence) {
    stop_experiment({ExperimentEnd::Kind::failed,
                     fmt::format("the tuner has proposed nothing for {:g} s, and nothing runs",
                                 proposals_.patience_seconds())});
    return;
  }
  checkpoints_.retry(now);
  for (LiveTrial* trial : table_.overdue(now)) {
    const bool runs = trial->record.status == TrialStatus::running;
    table_.set_deadline(*trial, 0);
    if (runs) ask_end(*trial, {EndAsked::Kind::early_stop, "maxTrialDuration is over"}, "limit");
  }
}

// ---- the end

void TrialRunner::check_over() {
  if (over_ || phase_ != Phase::running) return;
  if (const auto met = options_.stop.met(status_)) {
    over_ = {ExperimentEnd::Kind::completed, "stop: " + *met};
    return;
  }
  if (proposals_.open() || checkpoints_.busy()) return;
  const bool no_new = all_added();
  // Paused trials that the tuner will not resume do not delay the end.
  const bool idle = table_.running() == 0 && table_.pending() == 0 &&
                    (table_.paused() == 0 || (no_new && proposals_.is_exhausted()));
  if (!idle) return;
  if (!no_new) replenish();
  if (no_new) over_ = {ExperimentEnd::Kind::completed, "maxTrialNumber is reached"};
  if (proposals_.is_exhausted() && !over_)
    over_ = {ExperimentEnd::Kind::completed, "the tuner has no more configurations"};
}

void TrialRunner::stop_experiment(ExperimentEnd outcome) {
  if (!over_) over_ = std::move(outcome);
}

// `completed`: the experiment cannot be resumed, so that its pending and paused trials end, too.
// Otherwise they keep their status for a later manager.
void TrialRunner::stop_trials(bool completed) {
  const auto running = detached_ ? TrialTable::Order() : table_.in(TrialStatus::running);
  for (const auto& [sequence, trial] : running) {
    // A pause that is under way stays: it ends the attempt as well. The decider waits for its
    // answer, and will not ask a later manager for it again.
    const bool pauses = trial->asked && trial->asked->kind == EndAsked::Kind::pause;
    if (pauses && !completed) continue;
    ask_end(*trial, {EndAsked::Kind::interrupt, kExperimentEnded}, "runner");
  }
  if (!completed) return;
  for (const auto& [sequence, trial] : TrialTable::Order(table_.in(TrialStatus::pending)))
    conclude(*trial, TrialStatus::user_canceled, kExperimentEnded);
  for (const auto& [sequence, trial] : TrialTable::Order(table_.in(TrialStatus::paused))) {
    conclude(*trial, TrialStatus::early_stopped, "paused, and the tuner did not go on with it");
  }
}

void TrialRunner::wind_down() {
  if (phase_ <= Phase::running) {
    phase_ = Phase::stopping;
    log_.info("the experiment stops: {}", over_->reason);
    if (guard_.stalled()) leave_trials("what happens cannot be written");
    stop_trials(over_->kind == ExperimentEnd::Kind::completed);
  }
  // Events are fetched only while the decider can still hear of them. Those that stay with the
  // backend are told by a later manager.
  while (phase_ == Phase::stopping && !detached_ && fetch()) handle_next();
  const bool idle = table_.running() == 0 && checkpoints_.only_waits_for_room();
  if (phase_ == Phase::stopping && (idle || detached_)) {
    phase_ = Phase::closing;
    keep();
    if (!closed_) decider_.close();
  }
}

void TrialRunner::interrupt(const std::string& reason) {
  if (phase_ == Phase::done) return;
  if (!std::exchange(interrupted_, true)) {
    announcer_.event({EventKind::interrupted, reason});
    stop_experiment({ExperimentEnd::Kind::interrupted, reason});
    return;
  }
  killed_ = true;
  backend_.kill_all();
  decider_.kill();
  decider_lost_ = !decider_.remembers();
  closed_ = true;
}

void TrialRunner::finish() {
  phase_ = Phase::done;
  if (over_->kind == ExperimentEnd::Kind::completed && !results_.any_result()) {
    std::string why = fmt::format(
        "{}, but no trial has a result ({} succeeded, {} failed, {} stopped)", over_->reason,
        tally_.succeeded, tally_.failed, tally_.early_stopped + tally_.user_canceled);
    if (tally_.succeeded > 0) why += ": " + results_.wanted_result();
    over_ = {ExperimentEnd::Kind::failed, std::move(why)};
  }
  store_.end(*over_);
  observer_.on_done(*over_);
  // If the drop is not committed, a later manager still expects these files.
  if (!detached_ && !guard_.stalled()) checkpoints_.delete_dropped();
}

void TrialRunner::on_failure(Error error) {
  decider_lost_ = !decider_.remembers();
  closed_ = true;
  stop_experiment({ExperimentEnd::Kind::failed, std::move(error.message)});
}

void TrialRunner::on_closed() { closed_ = true; }

}  // namespace attune
