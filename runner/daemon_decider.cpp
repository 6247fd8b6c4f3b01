#include "runner/daemon_decider.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "base/base64.h"
#include "base/check.h"
#include "base/unique_fd.h"
#include "protocol/codec.h"
#include "runner/files.h"

namespace attune {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kCongested = 1 << 20;  // bytes not yet taken by the daemon
constexpr std::size_t kRoom = 256 << 10;
// How long the exit status may lag behind the end of the stream, and the other way round.
constexpr auto kSettleTime = std::chrono::seconds(2);

struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// What waits on it is aborted. close() itself can fail, which helps nobody here.
void hang_up(asio::posix::stream_descriptor& pipe) { const UniqueFd closed(pipe.release()); }

}  // namespace

DaemonDecider::DaemonDecider(asio::io_context& io, DaemonOptions options, Log log)
    : io_(io),
      options_(std::move(options)),
      log_(std::move(log)),
      to_(io),
      from_(io),
      patience_(io),
      input_(64 << 10) {}

DaemonDecider::~DaemonDecider() = default;

Result<void> DaemonDecider::start(Listener& listener) {
  listener_ = &listener;
  const auto log_directory = options_.directory / "log";
  const auto checkpoint_directory = options_.directory / "checkpoint";
  TRY(make_directories(log_directory));
  TRY(make_directories(checkpoint_directory));
  Pipe commands = TRY(make_pipe());
  Pipe answers = TRY(make_pipe());
  const UniqueFd errors(
      ::open(stderr_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!errors)
    return fail(fmt::format("cannot open {}: {}", stderr_path().string(), strerror(errno)));

  ProcessSpec spec;
  spec.arguments = {options_.program.string(), "--exp_params",
                    base64_encode(dump_json(options_.parameters))};
  spec.environment = child_environment(options_.environment,
                                       {{"SDK_PROCESS", "dispatcher"},
                                        {"NNI_MODE", options_.resume ? "resume" : "start"},
                                        {"NNI_CHECKPOINT_DIRECTORY", checkpoint_directory.string()},
                                        {"NNI_LOG_DIRECTORY", log_directory.string()},
                                        {"NNI_LOG_LEVEL", options_.log_level},
                                        {"NNI_INCLUDE_INTERMEDIATE_RESULTS",
                                         options_.include_intermediate_results ? "true" : "false"},
                                        {"CUDA_VISIBLE_DEVICES", ""}});
  spec.directory = log_directory;
  spec.descriptors = {
      {1, errors.get()}, {2, errors.get()}, {3, commands.read.get()}, {4, answers.write.get()}};
  process_ = TRY(ChildProcess::spawn(io_, spec, [this](ExitStatus status) {
    exit_ = status;
    lost("");
  }));
  to_.assign(commands.write.release());
  from_.assign(answers.read.release());
  to_.non_blocking(true);
  from_.non_blocking(true);
  read_more();
  send(encode(Initialize{options_.search_space}));
  return {};
}

void DaemonDecider::next(int count) { send(encode(RequestTrialJobs{count})); }

void DaemonDecider::on_add(const std::string& job_id, const ProposedTrial& trial) {
  const bool customized = std::holds_alternative<std::monostate>(trial.parameter_id);
  running_[job_id] = {trial.text, customized, customized ? trial.parameters : json(), json()};
}

Action DaemonDecider::on_result(const std::string& job_id, const std::string& metric_text) {
  Frame frame{"ME", metric_text};
  if (const auto found = running_.find(job_id);
      found != running_.end() && found->second.customized && found->second.result.is_null()) {
    const auto command = decode(frame);
    const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
    if (metric && metric->type == ReportMetricData::Type::final) {
      found->second.result = metric->value;
    }
  }
  send(frame);
  return Action::keep_going;
}

void DaemonDecider::on_complete(const std::string& job_id) {
  const Running trial = take(job_id);
  send_event(job_id, trial.text, TrialEnd::Event::succeeded);
  // After its end, so that the assessor hears of that; the daemon itself ignores the final result
  // of a trial that it has not proposed.
  if (!trial.result.is_null()) {
    send(encode(ImportData{{{trial.parameters, trial.result, job_id}}}));
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
  // It may have ended meanwhile, of which the daemon knows then.
  if (const auto found = running_.find(job_id); found != running_.end()) {
    send_event(job_id, found->second.text, TrialEnd::Event::pause_failed);
  }
}

void DaemonDecider::on_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  send(encode(CheckpointSaved{job_id, checkpoint}));
}

void DaemonDecider::import(const std::vector<ImportData::Record>& records) {
  send(encode(ImportData{records}));
}

void DaemonDecider::readopt(const std::vector<Resumed>& trials) {
  AddCustomizedTrialJob command{.trials = {}, .resumed = true};
  for (const auto& [job_id, trial, paused, checkpoint, result] : trials) {
    on_add(job_id, trial);
    if (running_[job_id].customized) running_[job_id].result = result;
    command.trials.push_back(
        {trial.parameter_id, "resumed", trial.parameters, job_id, paused, checkpoint});
  }
  send(encode(command));
}

void DaemonDecider::update_search_space(const json& search_space) {
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

void DaemonDecider::send(const Frame& frame) {
  if (!lost_.empty() || stream_ended_ || input_closed_ || exit_ || settled_) return;
  log_.trace("> {} {}", frame.code, frame.payload);
  if (auto encoded = encode_frame(frame, Framing{}, queued_); !encoded) {
    lost(encoded.error().message);
    return;
  }
  congested_ = congested_ || queued_.size() > kCongested;
  if (writing_.empty()) write_more();
}

void DaemonDecider::write_more() {
  writing_.swap(queued_);
  if (writing_.empty()) return;
  asio::async_write(
      to_, asio::buffer(writing_),
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error, std::size_t) {
        if (alive.expired() || error == asio::error::operation_aborted) return;
        writing_.clear();
        if (error) {  // it is dying; what it still says is worth waiting for
          input_closed_ = true;
          lost("");
          return;
        }
        const bool room = congested_ && queued_.size() < kRoom;
        if (room) congested_ = false;
        write_more();
        if (room && !settled_) listener_->on_room();
      });
}

void DaemonDecider::read_more() {
  from_.async_read_some(
      asio::buffer(input_), [this, alive = std::weak_ptr(alive_)](
                                const boost::system::error_code& error, std::size_t size) {
        if (alive.expired() || error == asio::error::operation_aborted || settled_) return;
        if (error) {
          stream_ended_ = true;
          lost("");
          return;
        }
        decoder_.feed(std::string_view(input_.data(), size));
        while (lost_.empty() && !settled_) {
          auto frame = decoder_.next();
          if (!frame) {
            lost(frame.error().message);
          } else if (!*frame) {
            break;
          } else {
            handle(**frame);
          }
          if (alive.expired()) return;  // the listener may end everything
        }
        if (!settled_) read_more();
      });
}

void DaemonDecider::handle(const Frame& frame) {
  log_.trace("< {} {}", frame.code, frame.payload);
  const auto command = decode(frame);
  if (!command) {
    lost(fmt::format("it sent {} that cannot be understood: {}", printable(frame.code),
                     command.error().message));
    return;
  }
  handle(*command, frame.payload);
}

void DaemonDecider::handle(const Command& command, const std::string& payload) {
  if (const auto* trial = std::get_if<NewTrialJob>(&command)) {
    listener_->on_proposal({trial->parameter_id, trial->parameters, payload,
                            trial->resume_trial_job_id, trial->checkpoint_from});
  } else if (const auto* kill = std::get_if<KillTrialJob>(&command)) {
    listener_->on_stop(kill->trial_job_id, kill->reason);
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
  } else if (const auto* none = std::get_if<NoMoreTrialJobs>(&command)) {
    listener_->on_exhausted(none->reason);
  } else if (const auto* pong = std::get_if<Pong>(&command)) {
    listener_->on_synced(pong->token);
  } else if (std::holds_alternative<Initialized>(command)) {
    listener_->on_ready();
  } else if (const auto* error = std::get_if<DaemonError>(&command)) {
    error_text_ = error->text;
    lost("it reported an error");
  } else {
    lost(fmt::format("it sent {}, which this manager did not ask for", name_of(code_of(command))));
  }
}

void DaemonDecider::lost(std::string what) {
  if (settled_) return;
  if (lost_.empty()) lost_ = std::move(what);
  // Whoever hears nothing more from us ends by itself: its input ends here.
  if (!lost_.empty() || stream_ended_ || input_closed_) hang_up(to_);
  if (exit_ && (stream_ended_ || !lost_.empty())) {
    settle();
    return;
  }
  patience_.expires_after(closing_ ? options_.exit_grace : kSettleTime);
  patience_.async_wait(
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (!error && !alive.expired()) settle();
      });
}

void DaemonDecider::settle() {
  if (std::exchange(settled_, true)) return;
  hang_up(to_);
  hang_up(from_);
  patience_.cancel();
  process_->kill();
  if (closing_) {
    if (!exit_) log_.warning("{} did not end in time and was killed", options_.program.string());
    listener_->on_closed();
    return;
  }
  std::string message = options_.program.filename().string();
  if (exit_) {
    message += " ended early (" + to_text(*exit_) + ")";
  } else if (lost_.empty()) {
    message += " closed its pipe";
  } else {
    message += " failed";
  }
  if (!lost_.empty() && error_text_.empty()) message += ": " + lost_;
  const std::string words = last_words();
  message += words.empty() ? "; it left no message, see " + (options_.directory / "log").string()
                           : ": " + words;
  listener_->on_failure(Error{std::move(message)});
}

std::string DaemonDecider::last_words() const {
  return error_text_.empty() ? last_lines(stderr_path(), 5) : error_text_;
}

void DaemonDecider::close() {
  if (settled_ || std::exchange(closing_, true)) return;
  send(encode(Terminate{}));
  lost("");
}

void DaemonDecider::kill() {
  settled_ = true;
  if (process_) process_->kill();
}

}  // namespace attune
