#pragma once
// Parses the output of squeue.
#include <string>
#include <string_view>

#include "cluster/batch/batch_job.h"

namespace attune {

// The format that squeue is asked for: name, id, state, reason.
inline constexpr std::string_view kSlurmFormat = "%j|%i|%T|%r";

// Parses lines in kSlurmFormat. Other lines (a site's greeting, a job with a strange name) are
// skipped.
BatchStates parse_slurm_states(std::string_view text);

// The phase and the cause for a state such as "NODE_FAIL". Unknown words, of a later Slurm, count
// as running: a job is not given up because of a word.
BatchState slurm_state(std::string_view word);

// Why a pending job will not start by itself, and the cure; empty for a reason that passes, such as
// "Resources" or "Priority".
std::string slurm_stuck(std::string_view reason);

}  // namespace attune
