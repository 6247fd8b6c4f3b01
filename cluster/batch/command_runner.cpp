#include "cluster/batch/command_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <tuple>

namespace attune {
namespace {

namespace asio = boost::asio;

// The input as a file in memory. A pipe would need somebody to write into it while the program
// runs.
Result<UniqueFd> file_with(const std::string& text) {
  UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) return fail(fmt::format("cannot make a file in memory: {}", strerror(errno)));
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + at, text.size() - at);
    if (written <= 0) return fail(fmt::format("cannot write to memory: {}", strerror(errno)));
    at += static_cast<std::size_t>(written);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace

// One program. Handlers that Asio has queued share it, and check whether it still has an owner.
class CommandRunner::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(CommandRunner& owner, OnEnd done)
      : owner_(&owner),
        done_(std::move(done)),
        limit_(owner.io_),
        output_(owner.io_),
        errors_(owner.io_) {}

  void start(const CommandLine& command) {
    if (const auto started = spawn(command); !started) {
      exited_ = true;
      trouble_ = started.error().message;
      asio::post(owner_->io_, [self = shared_from_this()] { self->step(); });
      return;
    }
    limit_.expires_after(command.limit);
    limit_.async_wait([self = shared_from_this(), command](const boost::system::error_code& error) {
      if (error || !self->owner_) return;
      self->kill(fmt::format("{} does not answer within {} s", command.arguments[0],
                             static_cast<double>(command.limit.count()) / 1000));
    });
  }

  void abandon() {
    owner_ = nullptr;
    process_.reset();
    boost::system::error_code ignored;
    limit_.cancel(ignored);
    for (Stream* stream : {&output_, &errors_}) close(*stream);
  }

 private:
  struct Stream {
    explicit Stream(asio::io_context& io) : pipe(io) {}
    asio::posix::stream_descriptor pipe;
    std::array<char, 4096> buffer = {};
    std::string text;
  };

  Result<void> spawn(const CommandLine& command) {
    const UniqueFd input = TRY(file_with(command.input));
    const UniqueFd output = TRY(open(output_));
    const UniqueFd errors = TRY(open(errors_));
    ProcessSpec spec;
    spec.arguments = command.arguments;
    spec.environment = owner_->environment_;
    spec.directory = "/";
    spec.descriptors = {{0, input.get()}, {1, output.get()}, {2, errors.get()}};
    process_ = TRY(ChildProcess::spawn(owner_->io_, spec, [this](ExitStatus status) {
      status_ = status;
      exited_ = true;
      step();
    }));
    for (Stream* stream : {&output_, &errors_}) read(*stream);
    return {};
  }

  static Result<UniqueFd> open(Stream& stream) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0)
      return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
    stream.pipe.assign(fds[0]);
    return UniqueFd(fds[1]);
  }

  static void close(Stream& stream) {
    boost::system::error_code ignored;
    std::ignore = stream.pipe.close(ignored);
  }

  void read(Stream& stream) {
    stream.pipe.async_read_some(asio::buffer(stream.buffer),
                                [self = shared_from_this(), &stream](
                                    const boost::system::error_code& error, std::size_t size) {
                                  if (self->owner_) self->on_read(stream, error, size);
                                });
  }

  void on_read(Stream& stream, const boost::system::error_code& error, std::size_t size) {
    if (!stream.pipe.is_open()) return;
    stream.text.append(stream.buffer.data(), size);
    if (stream.text.size() > owner_->output_bound_) {
      kill(fmt::format("{} bytes of output are too many", stream.text.size()));
    } else if (error) {
      close(stream);
      step();
    } else {
      read(stream);
    }
  }

  // Reports the end at once. The program's place stays taken until it has really ended.
  void kill(std::string trouble) {
    trouble_ = std::move(trouble);
    for (Stream* stream : {&output_, &errors_}) close(*stream);
    if (process_) process_->kill();
    step();
  }

  // Reports the end once the program has ended and both of its outputs are read, or at once if it
  // was killed.
  void step() {
    if (!owner_) return;
    const auto self = shared_from_this();
    const bool complete = exited_ && !output_.pipe.is_open() && !errors_.pipe.is_open();
    if (done_ && (complete || !trouble_.empty())) {
      limit_.cancel();
      std::exchange(done_,
                    nullptr)({status_, std::move(output_.text), std::move(errors_.text), trouble_});
    }
    if (exited_ && !done_ && owner_) owner_->let_go(this);
  }

  CommandRunner* owner_;
  OnEnd done_;
  ExitStatus status_;
  bool exited_ = false;
  std::string trouble_;
  std::unique_ptr<ChildProcess> process_;
  asio::steady_timer limit_;
  Stream output_, errors_;
};

CommandRunner::CommandRunner(asio::io_context& io, std::vector<std::string> environment,
                             int at_once, std::size_t output_bound)
    : io_(io),
      environment_(std::move(environment)),
      at_once_(static_cast<std::size_t>(at_once)),
      output_bound_(output_bound) {}

CommandRunner::~CommandRunner() {
  for (const auto& running : running_) running->abandon();
}

void CommandRunner::run(CommandLine command, OnEnd done) {
  waiting_.push_back({std::move(command), std::move(done)});
  start_next();
}

void CommandRunner::start_next() {
  while (!waiting_.empty() && running_.size() < at_once_) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    running_.push_back(std::make_shared<Running>(*this, std::move(next.done)));
    running_.back()->start(next.command);
  }
}

void CommandRunner::let_go(const Running* ended) {
  std::erase_if(running_, [ended](const auto& each) { return each.get() == ended; });
  start_next();
}

}  // namespace attune
