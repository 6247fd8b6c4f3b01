#pragma once
// The spool: what the shim of an attempt writes down, and all that a manager needs to know of it.
// The file <trial folder>/spool.<attempt> is only appended to, by the shim alone, and outlives
// both.
//
//   record := type ' ' time ' ' length '\n' body '\n'
//
// time: seconds since 1970-01-01 UTC as the clock was when the shim began, and counted from there:
// the difference of two is the time between them, whoever sets the clock.
//
// | type    | body                                                                            |
// |---------|---------------------------------------------------------------------------------|
// | shim    | pid=, start= (of the process, /proc/PID/stat), boot= (boot_id), gpus=; first     |
// | start   | pid=, start= of the command; it runs                                            |
// | metric  | bytes that the trial appended to .nni/metrics, records of it or parts of them    |
// | report  | JSON text of one metric that the trial printed; or what it printed for JSON     |
// | problem | a text for the user                                                             |
// | stop    | "stop" or "pause": the shim was told to end the trial; what follows is late      |
// | restore | a text: the checkpoint could not be put in place, the command was not started    |
// | exit    | code=, signal= of the command, oom=, cpu= (seconds), rss= (bytes); last           |
//
// A last record that is not whole was torn by the death of the shim and does not count. Behind
// anything else that is no record nothing counts.
//
// The open file description that the manager hands to the shim, and nobody else has, is locked
// (flock) before the shim is started: "the lock is held" is "a shim lives or is about to start".
//
// The shim is told what to do by signals: SIGTERM stops the trial, SIGUSR1 does the same for a
// pause, SIGUSR2 (or a second one of the others) ends the grace.
#include <csignal>
#include <cstddef>

namespace attune::spool {

inline constexpr char kShim[] = "shim";
inline constexpr char kStart[] = "start";
inline constexpr char kMetric[] = "metric";
inline constexpr char kReport[] = "report";
inline constexpr char kProblem[] = "problem";
inline constexpr char kStop[] = "stop";
inline constexpr char kRestore[] = "restore";
inline constexpr char kExit[] = "exit";

// No record is nearly as long: metrics and lines come in pieces of some 64 KiB. A longer one is
// damage, and is not waited for.
inline constexpr std::size_t kMaxBody = 16 << 20;

inline constexpr int kDescriptor = 3;  // of the spool in the shim

inline constexpr int kStopSignal = SIGTERM;
inline constexpr int kPauseSignal = SIGUSR1;
inline constexpr int kKillSignal = SIGUSR2;

}  // namespace attune::spool
