#include "plugins/process/stderr_log.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <iterator>

namespace attune {
namespace {

constexpr int kLinesASecond = 50;
constexpr std::size_t kLongestLine = 2000;
// Something that outlives the supervisor must not hold finish() for ever.
constexpr int kMostReadsAtEnd = 64;

}  // namespace

Result<std::unique_ptr<StderrLog>> StderrLog::start(UniqueFd pipe, std::string name,
                                                    const Log& log) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail(fmt::format("eventfd: {}", strerror(errno)));
  std::unique_ptr<StderrLog> made(
      new StderrLog(std::move(pipe), std::move(wake), std::move(name), log));
  made->thread_ = std::jthread([reader = made.get()] { reader->run(); });
  return made;
}

StderrLog::StderrLog(UniqueFd pipe, UniqueFd wake, std::string name, const Log& log)
    : pipe_(std::move(pipe)),
      wake_(std::move(wake)),
      name_(std::move(name)),
      log_(log.limited(kLinesASecond)) {}

void StderrLog::finish() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void StderrLog::run() {
  ::pthread_setname_np(::pthread_self(), "plugin-stderr");
  while (!over_) {
    pollfd waited[] = {{pipe_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::poll(waited, std::size(waited), -1);
    if (waited[1].revents != 0) {
      for (int i = 0; i < kMostReadsAtEnd && take(); ++i) {
      }
      break;
    }
    take();
  }
  end_line();
}

bool StderrLog::take() {
  std::array<char, 16384> bytes;
  const ssize_t size = ::read(pipe_.get(), bytes.data(), bytes.size());
  if (size > 0) add({bytes.data(), static_cast<std::size_t>(size)});
  over_ = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
  return size > 0;
}

void StderrLog::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    line_ += part.substr(0, kLongestLine - std::min(kLongestLine, line_.size()));
    if (end == std::string_view::npos) return;
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

void StderrLog::end_line() {
  if (line_.empty()) return;
  log_.info("{}: {}", name_, line_);
  last_.swap(line_);
  line_.clear();
}

}  // namespace attune
