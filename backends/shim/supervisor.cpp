#include "backends/shim/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "backends/report/spool.h"
#include "backends/shim/oom.h"
#include "os/process_tree.h"

namespace attune::shim {
namespace {

// How often to sweep again while children are left and no signal comes: one may have been forked
// just when /proc was read.
constexpr std::uint64_t kSweepMs = 100;
// How often to look at metrics that the kernel does not watch, and to try a full spool again.
constexpr int kNoWatchMs = 1000, kRoomMs = 1000;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double children_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string boot_id() {
  char text[64] = {};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t size = ::read(fd, text, sizeof text);
  ::close(fd);
  std::string id(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string process_fields(pid_t pid) {
  return "pid=" + std::to_string(pid) + " start=" + std::to_string(start_time(pid));
}

}  // namespace

Supervisor::Supervisor(const Options& options)
    : options_(options),
      spool_(spool::kDescriptor),
      lines_(spool_),
      out_(options.folder, "stdout", options.output_limit),
      err_(options.folder, "stderr", options.output_limit),
      oom_file_(oom_file(options.memory_events)),
      oom_kills_(oom_kills(oom_file_)) {
  if (options.patterns.empty() && !options.tune_metric) metrics_.emplace(options.folder, spool_);
  ::fcntl(spool::kDescriptor, F_SETFD, FD_CLOEXEC);  // the trial must not inherit the lock
  sigset_t all, taken;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigemptyset(&taken);
  for (const int signal :
       {SIGCHLD, SIGIO, spool::kStopSignal, spool::kPauseSignal, spool::kKillSignal}) {
    sigaddset(&taken, signal);
  }
  signals_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Supervisor::~Supervisor() {
  ::close(signals_);
  ::close(timer_);
}

bool Supervisor::run() {
  if (signals_ < 0 || timer_ < 0 || !write_birth()) return false;
  prepare_checkpoint();
  while (phase_ != Phase::ending || !alone_) wait();
  drain_output();
  insist([this] { return (!metrics_ || metrics_->finish()) && lines_.finish(); });
  out_.finish();
  err_.finish();
  tell_problems();
  return insist([this] { return write_exit(); });
}

// Retries a write as long as a full disk may recover: hours of a trial's work depend on it.
bool Supervisor::insist(const std::function<bool()>& write) {
  while (!write()) {
    if (given_up_ || !spool_.may_pass()) return false;
    pollfd waited{signals_, POLLIN, 0};
    if (::poll(&waited, 1, kRoomMs) <= 0) continue;
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) == sizeof info)
      given_up_ = given_up_ || static_cast<int>(info.ssi_signo) == spool::kKillSignal;
  }
  return true;
}

bool Supervisor::write_birth() {
  return spool_.append(
      spool::kShim, process_fields(::getpid()) + " boot=" + boot_id() + " gpus=" + options_.gpus);
}

// ---- before the command

void Supervisor::run_command() {
  phase_ = Phase::running;
  for (const LinePattern& pattern : options_.patterns)
    lines_.add_pattern(pattern.regex, pattern.stream);
  if (options_.tune_metric) lines_.use_tune_metric();
  if (lines_.wanted()) {  // from here on: what helper programs printed before is no result
    out_.set_listener([this](std::string_view bytes) { lines_.feed(OutputStream::out, bytes); });
    err_.set_listener([this](std::string_view bytes) { lines_.feed(OutputStream::err, bytes); });
  }
  spawn(options_.command, true);
  if (phase_ == Phase::running) spool_.append(spool::kStart, process_fields(child_));
}

void Supervisor::spawn(char* const* arguments, bool trial) {
  const int out = out_.make_pipe();
  const int err = err_.make_pipe();
  const pid_t shim = ::getpid();
  child_ = out < 0 || err < 0 ? -1 : ::fork();
  if (child_ == 0) {
    // A helper that outlived its shim would remove or copy files below the next attempt.
    if (!trial && (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != shim)) ::_exit(1);
    become(arguments, trial, out, err);
  }
  const int error = errno;
  if (out >= 0) ::close(out);
  if (err >= 0) ::close(err);
  if (child_ < 0) {
    const std::string what = std::string("cannot start ") + arguments[0] + ": " + strerror(error);
    if (!trial) {
      give_up(what);
      return;
    }
    spool_.append(spool::kProblem, what);
    code_ = 127;  // the code with which a shell says this
    phase_ = Phase::ending;
    sweep();
    return;
  }
  ::setpgid(child_, child_);  // the child does this too: whoever is first
}

void Supervisor::become(char* const* arguments, bool trial, int out, int err) const {
  ::close(spool::kDescriptor);  // before anything else, because it holds the lock: see spool.h
  ::setpgid(0, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (trial) {
    rlimit limit{};
    if (options_.files > 0 && ::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
      limit.rlim_cur = options_.files;
      ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    // When memory runs out, the kernel should kill a trial, and not its shim or the manager.
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
      (void)!::write(fd, "500", 3);
      ::close(fd);
    }
  }
  if (!trial) {  // a helper must report a failed write, in a text that is known
    ::signal(SIGXFSZ, SIG_IGN);
    ::setenv("LC_ALL", "C", 1);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(arguments[0], arguments);
  ::dprintf(2, "cannot execute %s: %s\n", arguments[0], strerror(errno));
  ::_exit(127);
}

// ---- events

void Supervisor::wait() {
  pollfd waited[] = {{signals_, POLLIN, 0},
                     {timer_, POLLIN, 0},
                     {out_.pipe(), POLLIN, 0},
                     {err_.pipe(), POLLIN, 0}};
  const bool full = lines_.waits() || (metrics_ && metrics_->behind());
  const bool unwatched = metrics_ && !metrics_->watched();
  const bool no_room = phase_ == Phase::waiting;
  const int timeout = more_metrics_ ? 0 : unwatched ? kNoWatchMs : full || no_room ? kRoomMs : -1;
  if (::poll(waited, std::size(waited), timeout) < 0) return;
  if (waited[2].revents != 0) out_.take();
  if (waited[3].revents != 0) err_.take();
  if (timeout >= 0 && metrics_) more_metrics_ = metrics_->look();
  if (full) lines_.try_again();
  tell_problems();
  if (waited[1].revents != 0) {
    std::uint64_t times = 0;
    (void)!::read(timer_, &times, sizeof times);
    killed_ = true;
    sweep();
  }
  if (waited[0].revents != 0) on_signals();
  if (no_room && phase_ == Phase::waiting) try_again();
}

void Supervisor::on_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGIO) {
      more_metrics_ = metrics_ && metrics_->look();
    } else if (signal != SIGCHLD) {
      on_stop(signal);
    }
  }
  // Even if only a stop came: pending signals of one number are merged, and a look is cheap.
  reap();
}

void Supervisor::on_stop(int signal) {
  const bool now = signal == spool::kKillSignal || stopping_;
  if (phase_ == Phase::ending) {
    if (now && in_grace()) {
      killed_ = true;
      sweep();
    }
    return;  // otherwise its end is being written already
  }
  if (!std::exchange(stopping_, true)) {
    take_unread();
    spool_.append(spool::kStop, signal == spool::kPauseSignal ? "pause" : "stop");
  }
  if (phase_ == Phase::waiting) {
    killed_ = true;
    signal_ = SIGKILL;
    phase_ = Phase::ending;
    return;
  }
  if (now || phase_ != Phase::running) {
    killed_ = true;
    ::kill(-child_, SIGKILL);
    arm(1);  // the loop then kills the rest of the tree
    return;
  }
  ::kill(-child_, SIGTERM);
  // After the signal: a trial that does not handle it dies in its wait, and does no more work. One
  // that does handle it returns from its report, and can end in order.
  if (metrics_) metrics_->end_waits();
  arm(options_.grace_ms);
}

// What the trial wrote before it was told to stop is not late, only unread. A line without its end
// is no report yet.
void Supervisor::take_unread() {
  if (metrics_) metrics_->drain();
  if (!lines_.wanted()) return;
  out_.take_present();
  err_.take_present();
}

void Supervisor::arm(std::uint64_t milliseconds) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000);
  when.it_value.tv_nsec = static_cast<long>(milliseconds % 1000) * 1'000'000;
  if (milliseconds == 0) when.it_value.tv_nsec = 1;  // 0 would disarm the timer
  ::timerfd_settime(timer_, 0, &when, nullptr);
}

void Supervisor::reap() {
  while (!alone_) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      alone_ = errno == ECHILD;
      return;
    }
    if (info.si_pid == 0) break;
    const bool main = info.si_pid == child_;
    // Kills the group before the zombie is reaped: until then its number is taken, so the group
    // cannot be someone else's.
    if (main && (!stopping_ || killed_)) ::kill(-child_, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED);
    if (main)
      on_child_end(info.si_code == CLD_EXITED ? info.si_status : 0,
                   info.si_code == CLD_EXITED ? 0 : info.si_status);
  }
  if (phase_ == Phase::ending && !in_grace()) sweep();
}

bool Supervisor::in_grace() const {
  // A shell dies of SIGTERM at once, but the program that it ran may still need the grace period to
  // save its work. If the group's number belongs to a stranger by now, this only waits longer than
  // needed.
  return stopping_ && !killed_ && child_ > 0 && ::kill(-child_, 0) == 0;
}

void Supervisor::on_child_end(int code, int signal) {
  const bool well = code == 0 && signal == 0;
  if (phase_ == Phase::running || stopping_) {
    code_ = code;
    signal_ = signal;
    // A shell ends with 137 if its child was killed.
    const bool killed = !killed_ && (signal == SIGKILL || code == 128 + SIGKILL);
    out_of_memory_ = killed && oom_kills(oom_file_) > oom_kills_;
    phase_ = Phase::ending;
    return;
  }
  drain_output();
  helper_seconds_ = children_seconds();
  on_helper_end(well);
}

void Supervisor::sweep() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) {
    alone_ = true;
    return;
  }
  const Killing killing = kill_descendants(::getpid());
  if (killing.killed == 0 && killing.forbidden > 0) {
    if (!std::exchange(told_forbidden_, true)) {
      spool_.append(spool::kProblem,
                    std::to_string(killing.forbidden) +
                        " processes of the trial run as another user and cannot be ended");
    }
    alone_ = phase_ == Phase::ending;
  }
  arm(kSweepMs);
}

void Supervisor::drain_output() {
  for (OutputFile* output : {&out_, &err_}) {
    while (output->take()) {
    }
  }
}

void Supervisor::tell_problems() {
  for (OutputFile* output : {&out_, &err_}) {
    const std::string problem = output->problem();
    if (!problem.empty()) spool_.append(spool::kProblem, problem);
  }
}

bool Supervisor::write_exit() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  char text[160];
  ::snprintf(text, sizeof text, "code=%d signal=%d oom=%d cpu=%.6f rss=%lld", code_, signal_,
             out_of_memory_ ? 1 : 0, children_seconds() - helper_seconds_,
             static_cast<long long>(usage.ru_maxrss) * 1024);
  return spool_.append(spool::kExit, text);
}

}  // namespace attune::shim
