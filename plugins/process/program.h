#pragma once
// The running program of a plug-in: one line to it, one line back.
#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/unique_fd.h"
#include "plugins/process/spec.h"
#include "plugins/process/stderr_log.h"
#include "plugins/process/supervisor.h"

namespace attune {

// The program runs below a supervisor of its own. Owned by one thread at a time, which blocks in
// the calls. SIGPIPE must be ignored.
//
// Every error ends the program and all that it has started: an answer that comes late, or a line
// that nobody asked for, would be taken for the answer to the next call. Errors do not name the
// program; the caller does.
class Program {
 public:
  // References must outlive the object.
  Program(const ProcessPluginSpec& spec, const Clock& clock, Log log);
  ~Program();  // ends it: with a request to do so and a second of time, if it runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<void> start();  // ends it first if it runs
  bool running() const { return pid_ > 0; }

  // Writes the line, which has its end, and returns the line that the program writes then, without
  // its end. It has at most `most` bytes.
  Result<std::string> exchange(const std::string& line, std::size_t most);

  // Ends the program at once; nothing of it is left, except a process of another user.
  void kill();

 private:
  std::unexpected<Error> refuse(std::string what);  // kill(), and the error
  std::unexpected<Error> unasked(std::string_view bytes);
  std::unexpected<Error> gone(std::string_view which);  // it has closed stdin or stdout
  bool await_end(double seconds);  // whether the supervisor has said how the program ended

  const ProcessPluginSpec& spec_;
  const Clock& clock_;
  const Log log_;
  pid_t pid_ = 0;                       // of the supervisor; 0: none runs
  UniqueFd pidfd_, socket_, in_, out_;  // in_ and out_ are non-blocking
  std::unique_ptr<StderrLog> stderr_;
  ProgramEnd end_;
};

}  // namespace attune
