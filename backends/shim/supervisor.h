#pragma once
// The life of one attempt: put the checkpoint in place, run the command, end it and all that it
// started, and write down what happened. One thread, one poll().
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
  // All signals are blocked from now on, and our orphaned descendants become our children.
  explicit Supervisor(const Options& options);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Until nothing of the trial is left, and that is in the spool, however long its disk is full.
  // False: it is not, for another reason, or because a kill came.
  bool run();

 private:
  // clearing: rm of an earlier checkpoint folder; restoring: cp; waiting: for room on the disk;
  // ending: the command is dead, its descendants are being killed.
  enum class Phase { clearing, restoring, waiting, running, ending };

  // supervisor_checkpoint.cpp
  void prepare_checkpoint();
  void restore_or_run();
  void on_helper_end(bool well);
  bool lacks_room() const;
  void try_again();
  std::string reason() const;  // what the helper program that failed said

  // supervisor.cpp
  bool write_birth();
  void run_command();
  void give_up(const std::string& what);  // the command will not be started
  // Forks; the child's output goes into our pipes. `trial`: with the limits of a trial.
  void spawn(char* const* arguments, bool trial);
  [[noreturn]] void become(char* const* arguments, bool trial, int out, int err) const;

  void wait();  // for events, and handles them
  void on_signals();
  void on_stop(int signal);
  void arm(std::uint64_t milliseconds);
  void reap();
  void on_child_end(int code, int signal);
  void take_unread();     // reports that the trial has made until now
  bool in_grace() const;  // the command has ended, others of its group were told to
  void sweep();           // kills what is left
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
  bool alone_ = false;  // no child is left, or none that we may kill
  bool stopping_ = false, killed_ = false;
  bool more_metrics_ = false, out_of_memory_ = false;
  bool given_up_ = false;  // while the spool could not be written
  int code_ = 0, signal_ = 0;
  std::string oom_file_;
  std::uint64_t oom_kills_ = 0;
  double helper_seconds_ = 0;  // what rm and cp cost
};

}  // namespace attune::shim
