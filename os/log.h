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

class LineRate;

enum class LogLevel { trace, debug, info, warning, error, off };

// trace, debug, info, warning (warn), error, fatal (critical), off; nothing for any other text.
Result<LogLevel> parse_log_level(std::string_view name);

// A handle: cheap to copy, safe to use from several threads. A default-made Log discards all lines.
class Log {
 public:
  Log() = default;

  static Log to_stderr(LogLevel level);
  // Appends to `path`. Creates the file and its directories if they are missing, for their owner
  // only. With `echo_errors` errors also go to stderr. A symbolic link is refused unless it is in
  // /dev: it may lead to a file that is not for us. Lines that the disk does not take are lost.
  static Result<Log> to_file(const std::string& path, LogLevel level, bool echo_errors);

  Log named(std::string_view room) const;  // same destination, another name in the lines
  // Same destination, but from each place in the program at most so many lines a second are
  // written; the last of them says that more are left out. Debug and trace lines are not limited.
  Log limited(int lines_a_second) const;
  bool enabled(LogLevel level) const;
  // Writes one line, whatever the message contains: control characters are escaped, and only the
  // beginning of a long message is written.
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
    if (!enabled(level)) return;
    // The address of the format's text identifies the place. Should two places share a text, they
    // share the limit, which is harmless.
    const char* note = "";
    if (rate_ && level >= LogLevel::info && !admit(fmt::string_view(f).data(), note)) return;
    write(level, fmt::format(f, std::forward<Args>(args)...) + note);
  }
  bool admit(const void* kind, const char*& note) const;

  std::shared_ptr<spdlog::logger> logger_;
  std::shared_ptr<LineRate> rate_;  // none: unlimited
};

}  // namespace attune
