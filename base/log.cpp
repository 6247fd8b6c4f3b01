#include "base/log.h"

#include <pthread.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <array>

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
    if (gettid() != getpid()) pthread_getname_np(pthread_self(), name.data(), name.size());
    const std::string_view shown = name[0] == 0 ? "MainThread" : std::string_view(name.data());
    out.append(shown.data(), shown.data() + shown.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<ThreadName>();
  }
};

std::shared_ptr<spdlog::logger> make_logger(std::vector<spdlog::sink_ptr> sinks, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("attune", sinks.begin(), sinks.end());
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PythonLevel>('L').add_flag<ThreadName>('N');
  formatter->set_pattern("[%Y-%m-%d %H:%M:%S] %L (%n/%N) %v");
  logger->set_formatter(std::move(formatter));
  logger->set_level(to_spdlog(level));
  logger->flush_on(spdlog::level::info);  // a killed daemon leaves what a human needs
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
  try {
    sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, /*truncate=*/false));
  } catch (const spdlog::spdlog_ex& error) {
    return fail(std::string("cannot write the log file: ") + error.what());
  }
  if (echo_errors) {
    sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    sinks.back()->set_level(spdlog::level::err);
  }
  return Log(make_logger(std::move(sinks), level));
}

Log Log::named(std::string_view room) const {
  return logger_ ? Log(logger_->clone(std::string(room))) : Log();
}

bool Log::enabled(LogLevel level) const { return logger_ && logger_->should_log(to_spdlog(level)); }

void Log::write(LogLevel level, std::string_view message) const {
  if (logger_)
    logger_->log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

void Log::flush() const {
  if (logger_) logger_->flush();
}

}  // namespace attune
