#pragma once
// The spool of an attempt: all that its shim records, and all that a manager needs to know of it.
// It is the file <trial folder>/spool.<attempt>. Only the shim appends to it, and it outlives both
// the shim and the manager.
//
//   record := type ' ' time ' ' length '\n' body '\n'
//
// time: seconds since 1970-01-01 UTC. The shim reads the clock when it begins and counts from
// there, so the difference of two times is the time between the records, even if somebody sets the
// clock.
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
// A last record that is not whole was torn by the death of the shim, and is ignored. If anything
// else is no record, all that follows it is ignored.
//
// The manager locks (flock) the open file description that it gives to the shim, before it starts
// the shim. Nobody else has this description. So "the lock is held" means "a shim lives or is about
// to start".
//
// Signals tell the shim what to do: SIGTERM stops the trial; SIGUSR1 does the same for a pause;
// SIGUSR2, or a second one of the others, ends the grace period.
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

// Real records are much shorter: metrics and lines come in pieces of some 64 KiB. A longer record
// is damage, and the reader does not wait for it.
inline constexpr std::size_t kMaxBody = 16 << 20;

inline constexpr int kDescriptor = 3;  // the spool's descriptor in the shim

inline constexpr int kStopSignal = SIGTERM;
inline constexpr int kPauseSignal = SIGUSR1;
inline constexpr int kKillSignal = SIGUSR2;

}  // namespace attune::spool
