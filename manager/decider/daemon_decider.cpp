#include "manager/decider/daemon_decider.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "os/private_file.h"
#include "protocol/codec.h"

namespace attune {
namespace {

// Congestion begins above kCongested bytes that are not written to the daemon's pipe yet, and ends
// below kRoom. The gap keeps it from changing with every command.
constexpr std::size_t kCongested = 1 << 20;
constexpr std::size_t kRoom = 256 << 10;
constexpr std::ptrdiff_t kRecordsAtOnce = 1000;

}  // namespace

// In pieces, because the daemon ignores a command above its limits, with all results in it.
std::vector<Frame> import_commands(const std::vector<ImportData::Record>& records) {
  std::vector<Frame> commands;
  for (auto first = records.begin(); first != records.end();) {
    const auto last = first + std::min(records.end() - first, kRecordsAtOnce);
    commands.push_back(encode(ImportData{{first, last}}));
    first = last;
  }
  return commands;
}

DaemonDecider::DaemonDecider(boost::asio::io_context& io, DaemonOptions options, Log log)
    : io_(io), options_(std::move(options)), log_(std::move(log)), ping_timer_(io) {
  if (options_.outbox == nullptr) return;
  conversation_.emplace(*options_.outbox, std::exchange(options_.left, {}));
  options_.outbox->on_commit([this] { on_kept(); });
}

DaemonDecider::~DaemonDecider() {
  if (options_.outbox != nullptr) options_.outbox->on_commit(nullptr);
}

Result<void> DaemonDecider::start(Listener& listener) {
  listener_ = &listener;
  TRY(make_directories(options_.directory / "log"));
  TRY(make_directories(options_.directory / "checkpoint"));
  return launch();
}

Result<void> DaemonDecider::launch() {
  json parameters = options_.parameters;
  const auto shared = conversation_ ? conversation_->shared() : std::nullopt;
  exact_ = options_.resume && shared;
  if (exact_) {
    parameters["resume"] = {{"received", shared->answers},
                            {"acknowledged", shared->acknowledged},
                            {"sent", shared->commands}};
  }
  if (conversation_) conversation_->begin_life();
  DaemonLink::Launch launch;
  launch.log_directory = options_.directory / "log";
  launch.exit_grace = options_.exit_grace;
  launch.arguments = {options_.program.string(), "--exp_params",
                      base64_encode(dump_json(parameters))};
  launch.environment =
      child_environment(options_.environment,
                        {{"SDK_PROCESS", "dispatcher"},
                         {"NNI_MODE", options_.resume ? "resume" : "start"},
                         {"NNI_CHECKPOINT_DIRECTORY", (options_.directory / "checkpoint").string()},
                         {"NNI_LOG_DIRECTORY", launch.log_directory.string()},
                         {"NNI_LOG_LEVEL", options_.log_level},
                         {"NNI_INCLUDE_INTERMEDIATE_RESULTS",
                          options_.include_intermediate_results ? "true" : "false"},
                         {"CUDA_VISIBLE_DEVICES", ""}});
  DaemonLink::Events events;
  events.frame = [this](const Frame& frame) { handle(frame); };
  events.written = [this] { look_at_room(); };
  events.end = [this](DaemonEnd end) { on_end(std::move(end)); };
  link_ = TRY(DaemonLink::start(io_, std::move(launch), std::move(events), log_));
  // Not through the conversation: Initialize has no number, and is sent to every daemon.
  link_->send(encode(Initialize{options_.search_space, options_.earlier}));
  return {};
}

// ---- commands to the daemon

void DaemonDecider::next(int count) { send(encode(RequestTrialJobs{count})); }

void DaemonDecider::on_add(const std::string& job_id, const ProposedTrial& trial) {
  const bool customized = std::holds_alternative<std::monostate>(trial.parameter_id);
  running_[job_id] = {trial.text, customized, customized ? trial.parameters : json()};
}

Action DaemonDecider::on_result(const std::string& /*job_id*/, const std::string& metric_text) {
  send(Frame{"ME", metric_text});
  return Action::keep_going;
}

void DaemonDecider::on_complete(const std::string& job_id, const json& result) {
  const Running trial = take(job_id);
  send_event(job_id, trial.text, TrialEnd::Event::succeeded);
  // The daemon ignores the final result of a trial that it has not proposed, so the result is
  // imported, too. The end was sent before it, for the assessor.
  if (trial.customized && !result.is_null()) {
    send(encode(ImportData{{{trial.parameters, result, job_id}}}));
  }
}

void DaemonDecider::on_error(const std::string& job_id) {
  send_event(job_id, take(job_id).text, TrialEnd::Event::failed);
}

void DaemonDecider::on_remove(const std::string& job_id, TrialEnd::Event event) {
  send_event(job_id, take(job_id).text, event);
}

void DaemonDecider::on_paused(const std::string& job_id, const std::string& checkpoint) {
  send_event(job_id, running_.at(job_id).text, TrialEnd::Event::paused, checkpoint);
}

void DaemonDecider::on_pause_failed(const std::string& job_id) {
  // If the trial has ended meanwhile, the daemon has been told its end instead.
  if (const auto found = running_.find(job_id); found != running_.end()) {
    send_event(job_id, found->second.text, TrialEnd::Event::pause_failed);
  }
}

void DaemonDecider::on_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  send(encode(CheckpointSaved{job_id, checkpoint}));
}

void DaemonDecider::import(const std::vector<ImportData::Record>& records) {
  for (Frame& command : import_commands(records)) send(std::move(command));
}

void DaemonDecider::readopt(const std::vector<Resumed>& trials) {
  AddCustomizedTrialJob command{.trials = {}, .resumed = true};
  recall(trials);
  for (const auto& [job_id, trial, paused, checkpoint, result] : trials) {
    command.trials.push_back(
        {trial.parameter_id, "resumed", trial.parameters, job_id, paused, checkpoint});
  }
  send(encode(command));
}

void DaemonDecider::recall(const std::vector<Resumed>& trials) {
  for (const Resumed& resumed : trials) on_add(resumed.job_id, resumed.trial);
}

void DaemonDecider::update_search_space(const json& search_space) {
  options_.search_space = search_space;  // for the Initialize of the next daemon
  send(encode(UpdateSearchSpace{search_space}));
}

void DaemonDecider::sync(const std::string& token) { send(encode(Ping{token})); }

DaemonDecider::Running DaemonDecider::take(const std::string& job_id) {
  auto node = running_.extract(job_id);
  ATTUNE_CHECK(node);
  return std::move(node.mapped());
}

// Not encode(TrialEnd): hyper_params must be the very text that the daemon sent.
void DaemonDecider::send_event(const std::string& job_id, const std::string& text,
                               TrialEnd::Event event, const std::string& checkpoint) {
  json payload = {{"trial_job_id", job_id}, {"event", to_text(event)}, {"hyper_params", text}};
  if (!checkpoint.empty()) payload["checkpoint"] = checkpoint;
  send(Frame{"EN", dump_json(payload)});
}

void DaemonDecider::send(Frame frame) {
  if (closing_) return;
  if (conversation_) {
    conversation_->say(std::move(frame));
    ping_later();
  } else if (link_ && !ended_) {
    link_->send(frame);
  }
  const std::size_t unsent =
      (link_ ? link_->unsent() : 0) + (conversation_ ? conversation_->untaken_bytes() : 0);
  congested_ = congested_ || unsent > kCongested;
}

void DaemonDecider::on_kept() {
  conversation_->kept();
  if (std::exchange(relaunching_, false)) relaunch();
  pass_on();
}

void DaemonDecider::pass_on() {
  if (!link_ || ended_) return;
  while (const auto command = conversation_->take()) link_->send(*command);
}

void DaemonDecider::look_at_room() {
  const std::size_t unsent = link_->unsent() + (conversation_ ? conversation_->untaken_bytes() : 0);
  if (unsent < kRoom) congested_ = false;
}

void DaemonDecider::ping_later() {
  if (ping_armed_ || closing_ || !conversation_->is_open() || !conversation_->wants_ping()) return;
  ping_armed_ = true;
  ping_timer_.expires_after(options_.ping_every);
  ping_timer_.async_wait(
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (error || alive.expired()) return;
        ping_armed_ = false;
        // The ping is sent after the next commit.
        if (!closing_ && !ended_ && conversation_->is_open()) conversation_->ping();
      });
}

// ---- answers of the daemon

void DaemonDecider::handle(const Frame& frame) {
  const auto command = decode(frame);
  if (!command) {
    link_->break_off(fmt::format("it sent {} that cannot be understood: {}", printable(frame.code),
                                 command.error().message));
    return;
  }
  handle(*command, frame.payload);
}

void DaemonDecider::handle(const Command& command, const std::string& payload) {
  if (const auto* error = std::get_if<DaemonError>(&command)) {
    link_->break_off("it reported an error", error->text);
    return;
  }
  // After a Terminate answers are not counted, so that the next daemon sends them to the next
  // manager (docs/protocol.md).
  if (conversation_ && closing_) return;
  if (const auto* initialized = std::get_if<Initialized>(&command)) return begin(*initialized);
  const auto* none = std::get_if<NoMoreTrialJobs>(&command);
  if (none && none->transient) return listener_->on_postponed(none->reason);
  // Counted before the listener acts on it: if the listener commits at once, that commit must store
  // the count together with what follows from the answer.
  if (conversation_) conversation_->heard();
  if (const auto* trial = std::get_if<NewTrialJob>(&command)) {
    listener_->on_proposal({trial->parameter_id, trial->parameters, payload,
                            trial->resume_trial_job_id, trial->checkpoint_from, trial->reason});
  } else if (const auto* kill = std::get_if<KillTrialJob>(&command)) {
    if (kill->complete) {
      listener_->on_used_up(kill->trial_job_id, kill->reason);
    } else {
      listener_->on_stop(kill->trial_job_id, kill->reason);
    }
  } else if (const auto* pause = std::get_if<PauseTrialJob>(&command)) {
    listener_->on_pause(pause->trial_job_id, pause->reason);
  } else if (const auto* save = std::get_if<SaveCheckpoint>(&command)) {
    listener_->on_save(save->trial_job_id);
  } else if (const auto* drop = std::get_if<DropCheckpoint>(&command)) {
    listener_->on_drop(drop->checkpoint);
  } else if (const auto* more = std::get_if<SendTrialJobParameter>(&command)) {
    std::optional<ProposedTrial> proposal;
    if (!more->parameters.is_null()) proposal = {more->parameter_id, more->parameters, payload};
    listener_->on_parameter(more->trial_job_id, more->parameter_index, std::move(proposal));
  } else if (none) {
    listener_->on_exhausted(none->reason);
  } else if (const auto* pong = std::get_if<Pong>(&command)) {
    if (conversation_ && conversation_->acknowledged(*pong)) return ping_later();
    listener_->on_synced(pong->token);
  } else {
    link_->break_off(
        fmt::format("it sent {}, which this manager did not ask for", name_of(code_of(command))));
  }
}

void DaemonDecider::begin(const Initialized& initialized) {
  const bool again = std::exchange(begun_, true);
  if (!conversation_) return listener_->on_ready();
  const auto begun = conversation_->begin(initialized, exact_);
  if (!begun) {
    link_->break_off(begun.error().message, begun.error().message);
    return;
  }
  ping_later();
  if (*begun == Conversation::Begun::exactly) {
    pass_on();
    if (!again) listener_->on_resumed();
    return;
  }
  if (exact_) {
    const std::string& reason = initialized.reason;
    listener_->on_warning(
        "attuned could not go on where it was, and begins afresh with the results that there are: "
        "what it proposes from now on is not what it would have proposed (" +
        (reason.empty() ? "log/dispatcher.log says why)" : reason + ")"));
  }
  listener_->on_ready();  // the listener tells everything again, now or when the store is writable
}

// ---- the end of the daemon

void DaemonDecider::on_end(DaemonEnd end) {
  if (ended_) return;
  if (end.asked) {
    ended_ = true;
    return listener_->on_closed();
  }
  const bool shared = conversation_ && conversation_->shared() && (options_.resume || begun_);
  if (end.died && shared && may_restart()) {
    listener_->on_warning(end.text + "; it is started again, and goes on where it was");
    options_.resume = true;
    // The next daemon is given the counts of what is committed. If there is more, it starts after
    // the next commit.
    relaunching_ = !conversation_->all_kept();
    if (!relaunching_) relaunch();
    return;
  }
  ended_ = true;
  listener_->on_failure(Error{std::move(end.text)});
}

bool DaemonDecider::may_restart() {
  const double now = clock_.now();
  while (!restarts_.empty() && restarts_.front() <= now - options_.restart_seconds)
    restarts_.pop_front();
  if (std::ssize(restarts_) >= options_.most_restarts) return false;
  restarts_.push_back(now);
  return true;
}

void DaemonDecider::relaunch() {
  former_ = std::move(link_);
  if (auto launched = launch(); !launched) {
    ended_ = true;
    listener_->on_failure(std::move(launched.error()));
  }
}

void DaemonDecider::close() {
  if (ended_ || closing_) return;
  // A daemon that has not sent its ID gets no commands; the end of its input makes it end.
  const bool listens = !conversation_ || conversation_->is_open();
  if (listens) send(encode(Terminate{}));
  closing_ = true;
  if (link_ && !std::exchange(relaunching_, false)) return link_->end(!listens);
  ended_ = true;
  listener_->on_closed();
}

void DaemonDecider::kill() {
  ended_ = true;
  relaunching_ = false;
  if (link_) link_->kill();
}

}  // namespace attune
