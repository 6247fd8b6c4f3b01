#pragma once
// Runs programs for their output: a few at a time, each with a limited time and a limited output.
// No shell.
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "os/process.h"

namespace attune {

struct CommandLine {
  std::vector<std::string> arguments;  // [0] is the path of the program
  std::string input;                   // its standard input
  std::chrono::milliseconds limit = std::chrono::seconds(30);

  bool operator==(const CommandLine&) const = default;
};

struct CommandEnd {
  ExitStatus status;
  std::string output, errors;  // what it wrote, up to the bound
  // Why it could not be started, or was killed (for its time or its output): a sentence. Otherwise
  // empty.
  std::string trouble;

  bool success() const { return trouble.empty() && status.success(); }
};

// `io` has one thread, which makes all calls.
class CommandRunner {
 public:
  using OnEnd = std::function<void(CommandEnd)>;

  // The programs have no variables but `environment`, and run in /. At most `at_once` run at a
  // time. One that writes more than `output_bound` bytes to stdout, or to stderr, is killed.
  CommandRunner(boost::asio::io_context& io, std::vector<std::string> environment, int at_once,
                std::size_t output_bound = 16 << 20);
  ~CommandRunner();  // kills what runs; no `done` is called any more
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  // Programs start in the order of the calls. `done` is called once, never from within run(); it
  // must not destroy the runner.
  void run(CommandLine command, OnEnd done);

 private:
  class Running;
  struct Waiting {
    CommandLine command;
    OnEnd done;
  };

  void start_next();
  void let_go(const Running* ended);

  boost::asio::io_context& io_;
  std::vector<std::string> environment_;
  std::size_t at_once_, output_bound_;
  std::deque<Waiting> waiting_;
  std::vector<std::shared_ptr<Running>> running_;
};

}  // namespace attune
