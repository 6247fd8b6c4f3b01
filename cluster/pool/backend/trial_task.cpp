#include "cluster/pool/backend/trial_task.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {

std::string task_id_of(const PoolBackendOptions& options, const TrialStart& start) {
  return fmt::format("{}-{}-{}", options.experiment_id, start.job_id, start.attempt);
}

TaskSpec task_of(const PoolBackendOptions& options, const TrialStart& start) {
  TaskSpec spec;
  spec.id = task_id_of(options, start);
  spec.kind = "trial";
  spec.needs = start.resources;
  spec.needs.cpu = std::max(spec.needs.cpu, options.least.cpu);
  spec.needs.memory = std::max(spec.needs.memory, options.least.memory);
  spec.labels = options.labels;
  if (options.worker_per_task) spec.worker = spec.id;
  if (options.queue_limit > 0) spec.limits.queue = options.queue_limit;
  json program = {{"experiment", options.experiment_file.string()},
                  {"job", start.job_id},
                  {"sequence", start.sequence},
                  {"attempt", start.attempt},
                  {"parameters", start.parameter_text},
                  {"resources", to_json(start.resources)}};
  if (!start.checkpoint.empty()) program["checkpoint"] = start.checkpoint;
  spec.program = dump_json(program);
  return spec;
}

}  // namespace attune
