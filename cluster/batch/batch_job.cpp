#include "cluster/batch/batch_job.h"

namespace attune {

std::string_view to_text(BatchPhase phase) {
  switch (phase) {
    case BatchPhase::pending:
      return "pending";
    case BatchPhase::running:
      return "running";
    case BatchPhase::suspended:
      return "suspended";
    case BatchPhase::completing:
      return "completing";
    default:
      return "ended";
  }
}

std::string_view to_text(BatchCause cause) {
  switch (cause) {
    case BatchCause::none:
      return "not ended";
    case BatchCause::completed:
      return "completed";
    case BatchCause::failed:
      return "failed";
    case BatchCause::node_failed:
      return "its node failed";
    case BatchCause::preempted:
      return "preempted";
    case BatchCause::time_limit:
      return "time limit";
    case BatchCause::out_of_memory:
      return "out of memory";
    case BatchCause::boot_failed:
      return "its node did not boot";
    case BatchCause::cancelled:
      return "cancelled";
    case BatchCause::deadline:
      return "deadline";
    default:
      return "revoked";
  }
}

}  // namespace attune
