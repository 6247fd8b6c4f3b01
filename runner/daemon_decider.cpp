#include "runner/daemon_decider.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "backends/unique_fd.h"
#include "base/base64.h"
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
                                        {"NNI_MODE", "start"},
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
  texts_[job_id] = trial.text;
}

void DaemonDecider::on_result(const std::string&, const std::string& metric_text) {
  send(Frame{"ME", metric_text});
}

void DaemonDecider::on_complete(const std::string& job_id) {
  send_end(job_id, TrialEnd::Event::succeeded);
}

void DaemonDecider::on_error(const std::string& job_id) {
  send_end(job_id, TrialEnd::Event::failed);
}

void DaemonDecider::on_remove(const std::string& job_id, TrialEnd::Event event) {
  send_end(job_id, event);
}

// Not encode(TrialEnd): hyper_params must be the very text that the daemon sent.
void DaemonDecider::send_end(const std::string& job_id, TrialEnd::Event event) {
  const auto text = texts_.extract(job_id);
  send(Frame{"EN", dump_json({{"trial_job_id", job_id},
                              {"event", to_text(event)},
                              {"hyper_params", text.mapped()}})});
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
    listener_->on_proposal({trial->parameter_id, trial->parameters, payload});
  } else if (const auto* kill = std::get_if<KillTrialJob>(&command)) {
    listener_->on_stop(kill->trial_job_id, kill->reason);
  } else if (const auto* none = std::get_if<NoMoreTrialJobs>(&command)) {
    listener_->on_exhausted(none->reason);
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
