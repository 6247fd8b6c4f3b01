#pragma once
// Jobs of a batch system (Slurm, PBS, Grid Engine, ...), as values. docs/slurm.md says what becomes
// of them there.
#include <expected>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "backends/resources.h"

namespace attune {

struct BatchJob {
  // Unique for ever, the idempotency key: ids of jobs are given out again by a controller that has
  // lost its memory, names are ours. 1 to 200 letters, digits, '-', '_' and '.'.
  std::string name;
  std::string script;            // text of at most 1 MiB; its first line is #! and an interpreter
  std::filesystem::path output;  // what it prints; in a folder that exists. Empty: thrown away
  std::filesystem::path directory;  // where it runs, on the node
  Resources needs;                  // cores, devices and custom kinds are rounded up to whole ones
  std::string devices;  // in the batch system's own words, instead of `needs.gpu` and custom kinds
  double time_limit = std::numeric_limits<double>::infinity();  // seconds; infinite: the site's
  double warning = 0;  // seconds before the limit at which the script is sent SIGUSR1; 0: never
  std::string partition, account, qos, comment;  // empty: the site's default
  std::vector<std::string> arguments;  // for the batch system, each as --name or --name=value

  bool operator==(const BatchJob&) const = default;
};

enum class BatchPhase { pending, running, suspended, completing, ended };
enum class BatchCause {
  none,  // it has not ended
  completed,
  failed,
  node_failed,
  preempted,
  time_limit,
  out_of_memory,
  boot_failed,
  cancelled,
  deadline,
  revoked
};
std::string_view to_text(BatchPhase phase);
std::string_view to_text(BatchCause cause);

struct BatchState {
  std::string id;
  BatchPhase phase = BatchPhase::pending;
  BatchCause cause = BatchCause::none;
  std::string reason;  // the batch system's own word
  // For the user: why it will not start until somebody does something. Empty: it may.
  std::string stuck;
  // With `stuck`: not by anybody's wish. A node could not start it, and it is held for good.
  bool failed_to_start = false;

  bool operator==(const BatchState&) const = default;
};
// By name of the job. Of several with one name: one that has not ended, then the one with the
// latest id.
using BatchStates = std::map<std::string, BatchState>;

struct BatchAccepted {
  std::string id;
  bool found = false;  // it was there before, by an earlier submission
};

struct BatchRefusal {
  bool permanent = false;  // it would be refused again; otherwise submit it again, some time later
  std::string about;       // what of the job to change, as in the experiment file; empty: not known
  std::string message;     // one line for the user, with the cure
  bool tells_about = false;  // the cure in the message names `about`

  bool operator==(const BatchRefusal&) const = default;
};
using BatchSubmission = std::expected<BatchAccepted, BatchRefusal>;

}  // namespace attune
