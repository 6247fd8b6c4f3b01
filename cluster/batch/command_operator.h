#pragma once
// Runs a command of the user's whenever another number of workers is wanted. The command starts
// machines, for example, or changes the size of a group of them. One run at a time; whatever
// changes during a run leads to one more. A run that fails is tried again after growing pauses.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "cluster/batch/command_runner.h"
#include "cluster/pool/operator.h"
#include "os/log.h"

namespace attune {

struct CommandOperatorOptions {
  std::string command;  // for /bin/sh -c
  std::filesystem::path address_file;
  std::vector<std::string> environment;  // inherited by the command
  // The largest number of workers to ask for.
  int most = 16;
  std::chrono::milliseconds limit = std::chrono::minutes(10);  // time limit of one run
  double shrink_after = 30;                    // seconds for which a smaller number must suffice
  double first_pause = 1, longest_pause = 60;  // seconds between failed runs; doubled each time
};

class CommandOperator final : public Operator {
 public:
  CommandOperator(boost::asio::io_context& io, CommandOperatorOptions options, OperatorPort& port,
                  Log log);

  void look(const OperatorView& view, double now) override;
  void tick(double now) override;
  std::optional<double> next_time() const override;
  bool busy() const override { return running_ || farewell_is_due(); }

 private:
  struct Situation {
    int wanted = 0, ready = 0;
    std::size_t waiting = 0;
  };
  Situation situation(const OperatorView& view) const;
  bool fewer() const;
  double shrink_time(double now) const { return now + (ending_ ? 0 : options_.shrink_after); }
  bool farewell_is_due() const;
  void run();

  const CommandOperatorOptions options_;
  OperatorPort& port_;
  const Log log_;
  Situation now_;
  // The number that the last successful run was given; empty: there was none in this life.
  std::optional<int> told_;
  bool running_ = false, ending_ = false;
  double pause_ = 0, next_try_ = 0, tried_ = 0;
  std::optional<double> shrink_at_;
  CommandRunner runner_;
};

}  // namespace attune
