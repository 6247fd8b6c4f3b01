#pragma once
// Passes what a program writes to stderr on to the log, line by line. A thread of its own reads it
// also while nobody calls the program, so that the program never waits for a reader.
#include <string>
#include <thread>

#include "os/log.h"
#include "os/unique_fd.h"

namespace attune {

class StderrLog {
 public:
  // `name` begins each line. Of more than some lines a second, and of long lines, only the
  // beginning is logged.
  static Result<std::unique_ptr<StderrLog>> start(UniqueFd pipe, std::string name, const Log& log);
  ~StderrLog() { finish(); }

  // Reads what is there now, and ends. Called when the program has ended, or nobody wants to know.
  void finish();
  // The last line that was not empty, without its end; after finish().
  const std::string& last_line() const { return last_; }

 private:
  StderrLog(UniqueFd pipe, UniqueFd wake, std::string name, const Log& log);
  void run();
  bool take();  // false: nothing is there for now, or ever
  void add(std::string_view bytes);
  void end_line();

  const UniqueFd pipe_, wake_;  // non-blocking; an eventfd
  const std::string name_;
  const Log log_;
  bool over_ = false;
  // Only the thread uses these while it runs.
  std::string line_, last_;
  std::jthread thread_;
};

}  // namespace attune
