#pragma once
// Jobs of a batch system (Slurm, PBS, Grid Engine, ...), as values. docs/slurm.md says what Slurm
// makes of them.
#include <expected>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "backends/resources.h"

namespace attune {

struct BatchJob {
  // Unique for ever, so that submitting it twice makes one job. An id could not serve for that: a
  // controller that has lost its memory gives out ids again. 1 to 200 letters, digits, '-', '_' and
  // '.'.
  std::string name;
  std::string script;  // text of at most 1 MiB; its first line is #! and an interpreter
  // File for what it prints, in an existing folder; empty: thrown away.
  std::filesystem::path output;
  std::filesystem::path directory;  // where it runs, on the node
  Resources needs;                  // cores, devices and custom kinds are rounded up to whole ones
  std::string devices;  // in the batch system's own words; replaces `needs.gpu` and custom kinds
  double time_limit = std::numeric_limits<double>::infinity();  // seconds; infinite: the site's
  double warning = 0;  // the script gets SIGUSR1 so many seconds before the limit; 0: never
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
  // With `stuck`: nobody wanted that. A node could not start the job, and the batch system holds it
  // for good.
  bool failed_to_start = false;

  bool operator==(const BatchState&) const = default;
};
// By the name of the job. If several jobs have one name, one that has not ended counts, and of
// several such the one with the latest id.
using BatchStates = std::map<std::string, BatchState>;

struct BatchAccepted {
  std::string id;
  bool found = false;  // an earlier submission had succeeded already
};

struct BatchRefusal {
  // True: it would be refused again; false: submit it again some time later.
  bool permanent = false;
  // Which setting of the job to change, named as in the experiment file; empty: unknown.
  std::string about;
  std::string message;       // one line for the user, with the cure
  bool tells_about = false;  // `message` names `about` already

  bool operator==(const BatchRefusal&) const = default;
};
using BatchSubmission = std::expected<BatchAccepted, BatchRefusal>;

}  // namespace attune
