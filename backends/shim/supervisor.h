#pragma once
// Runs one attempt: puts the checkpoint in place, runs the command, ends it and all processes that
// it started, and records what happened. One thread, one poll().
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "backends/shim/line_reports.h"
#include "backends/shim/metric_tail.h"
#include "backends/shim/options.h"
#include "backends/shim/output_file.h"
#include "backends/shim/spool_writer.h"

namespace attune::shim {

class Supervisor {
 public:
  // Blocks all signals, and makes this process the parent of its orphaned descendants.
  explicit Supervisor(const Options& options);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Returns true when no process of the trial is left and the spool says so, however long its disk
  // is full. Returns false if the spool could not be written for another reason, or because a kill
  // signal came while it waited.
  bool run();

 private:
  // clearing: rm removes an earlier checkpoint directory; restoring: cp copies the checkpoint;
  // waiting: for room on the disk; ending: the command is dead, its descendants are being killed.
  enum class Phase { clearing, restoring, waiting, running, ending };

  // supervisor_checkpoint.cpp
  void prepare_checkpoint();
  void restore_or_run();
  void on_helper_end(bool well);
  bool lacks_room() const;
  void try_again();
  std::string reason() const;  // the last output of the helper program that failed

  // supervisor.cpp
  bool write_birth();
  void run_command();
  void give_up(const std::string& what);  // ends the attempt before its command was started
  // Starts a child whose output goes into the pipes. `trial`: with the limits of a trial.
  void spawn(char* const* arguments, bool trial);
  [[noreturn]] void become(char* const* arguments, bool trial, int out, int err) const;

  void wait();  // for events, and handles them
  void on_signals();
  void on_stop(int signal);
  void arm(std::uint64_t milliseconds);
  void reap();
  void on_child_end(int code, int signal);
  void take_unread();  // takes the reports that the trial has made until now
  // The command has ended; others of its group still have their grace period.
  bool in_grace() const;
  void sweep();  // kills all descendants that are left
  void drain_output();
  void tell_problems();
  bool insist(const std::function<bool()>& write);
  bool write_exit();

  const Options& options_;
  SpoolWriter spool_;
  LineReports lines_;
  std::optional<MetricTail> metrics_;  // unless the trial reports by lines
  OutputFile out_, err_;
  int signals_ = -1, timer_ = -1;
  Phase phase_ = Phase::running;
  pid_t child_ = 0;  // the command, or rm or cp; leads its own process group
  bool told_forbidden_ = false, told_room_ = false;
  bool alone_ = false;  // no child is left, or none that may be killed
  bool stopping_ = false, killed_ = false;
  bool more_metrics_ = false, out_of_memory_ = false;
  bool given_up_ = false;  // a kill signal came while the spool could not be written
  int code_ = 0, signal_ = 0;
  std::string oom_file_;
  std::uint64_t oom_kills_ = 0;
  double helper_seconds_ = 0;  // CPU time of rm and cp
};

}  // namespace attune::shim
