#include "os/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/terminal_text.h"
#include "os/clock.h"
#include "os/line_rate.h"
#include "os/private_file.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

// The names of levels in Python's logging, as in NNI's lines.
class PythonLevel : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    constexpr std::array<std::string_view, 7> kNames = {"TRACE", "DEBUG",    "INFO", "WARNING",
                                                        "ERROR", "CRITICAL", "OFF"};
    const std::string_view name = kNames.at(static_cast<std::size_t>(message.level));
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PythonLevel>();
  }
};

class ThreadName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg&, const std::tm&, spdlog::memory_buf_t& out) override {
    std::array<char, 16> name{};
    // The main thread would have the name of the program.
    if (gettid() != getpid()) pthread_getname_np(pthread_self(), name.data(), name.size());
    const std::string_view shown = name[0] == 0 ? "MainThread" : std::string_view(name.data());
    out.append(shown.data(), shown.data() + shown.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<ThreadName>();
  }
};

// spdlog's own file sink follows symbolic links and takes the mode from the umask.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::FILE* file) : file_(file) {}
  ~FileSink() override { std::fclose(file_); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::fwrite(line.data(), 1, line.size(), file_);
  }
  void flush_() override { std::fflush(file_); }

  std::FILE* const file_;
};

Result<std::FILE*> open_file(const std::string& path) {
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::ignore = make_directories(folder);  // open() says what is wrong with it
  // /dev/stderr is a link of the system's, perhaps to a pipe. A pipe elsewhere, without O_NONBLOCK,
  // would hold us until somebody reads it.
  const bool device = path.starts_with("/dev/");
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
  UniqueFd fd(::open(path.c_str(), flags | (device ? 0 : O_NOFOLLOW | O_NONBLOCK), 0600));
  std::string why = std::strerror(errno);
  if (!fd && errno == ELOOP) why = "it is a symbolic link; give the path of the file itself";
  if (!fd && errno == ENXIO) why = "it is a pipe that nobody reads; give another path";
  struct stat status{};
  if (fd && !device && ::fstat(fd.get(), &status) == 0 && !S_ISREG(status.st_mode)) {
    why = "it is no regular file; give another path";
  } else if (fd) {
    if (std::FILE* const file = ::fdopen(fd.get(), "a")) {
      fd.release();
      return file;
    }
    why = std::strerror(errno);
  }
  return fail("cannot write the log file " + path + ": " + why);
}

constexpr std::size_t kLongestLine = 4096;

// Messages contain ids and texts of others. These must neither look like lines of ours nor move the
// reader's cursor.
std::string one_line(std::string_view message) {
  std::string line = terminal_line(message.substr(0, kLongestLine));
  if (message.size() > kLongestLine) line += fmt::format("... ({} bytes)", message.size());
  return line;
}

std::shared_ptr<spdlog::logger> make_logger(std::vector<spdlog::sink_ptr> sinks, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("attune", sinks.begin(), sinks.end());
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PythonLevel>('L').add_flag<ThreadName>('N');
  formatter->set_pattern("[%Y-%m-%d %H:%M:%S] %L (%n/%N) %v");
  logger->set_formatter(std::move(formatter));
  logger->set_level(to_spdlog(level));
  logger->flush_on(spdlog::level::info);  // so a killed daemon leaves what people need
  return logger;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view name) {
  if (name == "trace") return LogLevel::trace;
  if (name == "debug") return LogLevel::debug;
  if (name == "info") return LogLevel::info;
  if (name == "warning" || name == "warn") return LogLevel::warning;
  if (name == "error" || name == "fatal" || name == "critical") return LogLevel::error;
  if (name == "off") return LogLevel::off;
  return fail("unknown log level \"" + std::string(name) +
              "\"; known: trace, debug, info, warning, error, fatal, off");
}

Log Log::to_stderr(LogLevel level) {
  return Log(make_logger({std::make_shared<spdlog::sinks::stderr_sink_mt>()}, level));
}

Result<Log> Log::to_file(const std::string& path, LogLevel level, bool echo_errors) {
  std::vector<spdlog::sink_ptr> sinks;
  sinks.push_back(std::make_shared<FileSink>(TRY(open_file(path))));
  if (echo_errors) {
    sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    sinks.back()->set_level(spdlog::level::err);
  }
  return Log(make_logger(std::move(sinks), level));
}

Log Log::named(std::string_view room) const {
  if (!logger_) return {};
  Log log(logger_->clone(std::string(room)));
  log.rate_ = rate_;
  return log;
}

Log Log::limited(int lines_a_second) const {
  Log log = *this;
  log.rate_ = std::make_shared<LineRate>(lines_a_second);
  return log;
}

bool Log::admit(const void* kind, const char*& note) const {
  switch (rate_->ask(kind, static_cast<std::int64_t>(SystemClock().now()))) {
    case LineRate::Verdict::leave_out:
      return false;
    case LineRate::Verdict::write_last:
      note = " (more such lines are left out in this second)";
      return true;
    case LineRate::Verdict::write:
      return true;
  }
  return true;
}

bool Log::enabled(LogLevel level) const { return logger_ && logger_->should_log(to_spdlog(level)); }

void Log::write(LogLevel level, std::string_view message) const {
  if (!logger_) return;
  const std::string line = one_line(message);
  logger_->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void Log::flush() const {
  if (logger_) logger_->flush();
}

}  // namespace attune
