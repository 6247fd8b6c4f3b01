#pragma once
// Real trials for tests of workers: how they are described and run, and what was heard of them.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cluster/pool/trial_event.h"
#include "cluster/pool/worker/worker_tasks.h"
#include "tests/backends/local/local_fixture.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::test {

// Trial tSEQUENCE of an experiment in `folder`, as the task e-tSEQUENCE-ATTEMPT.
inline TaskSpec trial_spec(const fs::path& folder, int sequence, int attempt = 0) {
  std::ofstream(folder / "experiment.json") << "{}";
  TaskSpec spec = trial_task(fmt::format("e-t{}-{}", sequence, attempt));
  const TrialStart start = trial_start(sequence, attempt);
  spec.program = dump_json({{"experiment", (folder / "experiment.json").string()},
                            {"job", start.job_id},
                            {"sequence", sequence},
                            {"attempt", attempt},
                            {"parameters", start.parameter_text}});
  return spec;
}
inline std::string job_of(const std::string& task) {
  return task.substr(2, task.rfind('-') - 2);  // e-t1-0
}

// Trials of experiments in `folder` are `command`, whatever that is by then.
inline WorkerTasks::MakeBackend local_backends(boost::asio::io_context& io, const fs::path& folder,
                                               const std::string& command) {
  return [&io, &folder, &command](
             const std::string& experiment,
             std::function<void()> wake) -> Result<std::unique_ptr<TrialBackend>> {
    if (!fs::exists(experiment)) return fail("there is no " + experiment);
    auto backend = LocalBackend::create(io, local_options(folder, command), std::move(wake));
    if (!backend) return std::unexpected(backend.error());
    (*backend)->set_path(folder / "experiment");
    return backend;
  };
}

// What `heard` has of a task's reports: the values, each position once.
inline std::vector<std::string> report_values(const std::vector<json>& heard,
                                              const std::string& task) {
  std::map<std::uint64_t, std::string> by_position;
  for (const json& message : heard) {
    if (message["type"] != "info" || message["task"] != task) continue;
    const auto event = parse_trial_event(job_of(task), message["event"]);
    REQUIRE(event.has_value());
    if (const auto* report = std::get_if<TrialReport>(&*event))
      by_position[report->position] = dump_json(report->metric.value);
  }
  std::vector<std::string> values;
  for (const auto& [position, value] : by_position) values.push_back(value);
  return values;
}

}  // namespace attune::test
