#pragma once
// Logging in NNI's line format: [2026-11-20 12:00:00] INFO (dispatcher/io) message. Lines carry
// fields like id=12 loss=0.31. error = the experiment is harmed, warning = a human should look,
// info = once per lifecycle step, debug = per command, trace = payloads. Algorithms never log.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spdlog {
class logger;
}

namespace attune {

enum class LogLevel { trace, debug, info, warning, error, off };

// trace, debug, info, warning (warn), error, fatal (critical), off; nothing for any other text.
Result<LogLevel> parse_log_level(std::string_view name);

// A handle: cheap to copy, safe to use from several threads. A default-made Log discards.
class Log {
 public:
  Log() = default;

  static Log to_stderr(LogLevel level);
  // Appends to `path`, making its directories; errors also go to stderr when `echo_errors`.
  static Result<Log> to_file(const std::string& path, LogLevel level, bool echo_errors);

  Log named(std::string_view room) const;  // same destination, another name in the lines
  bool enabled(LogLevel level) const;
  void write(LogLevel level, std::string_view message) const;
  void flush() const;

  template <class... Args>
  void trace(fmt::format_string<Args...> f, Args&&... args) const {
    log(LogLevel::trace, f, std::forward<Args>(args)...);
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> f, Args&&... args) const {
    log(LogLevel::debug, f, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> f, Args&&... args) const {
    log(LogLevel::info, f, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> f, Args&&... args) const {
    log(LogLevel::warning, f, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> f, Args&&... args) const {
    log(LogLevel::error, f, std::forward<Args>(args)...);
  }

 private:
  explicit Log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

  template <class... Args>
  void log(LogLevel level, fmt::format_string<Args...> f, Args&&... args) const {
    if (enabled(level)) write(level, fmt::format(f, std::forward<Args>(args)...));
  }

  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace attune
