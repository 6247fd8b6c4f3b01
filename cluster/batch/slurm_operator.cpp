#include "cluster/batch/slurm_operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/batch/slurm_job.h"
#include "cluster/batch/slurm_job_operator.h"
#include "cluster/batch/slurm_pilot_operator.h"
#include "cluster/pool/slots.h"

namespace attune {
namespace {

// `text` as one word of the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace

BatchJob worker_job(const SlurmOperatorOptions& options, const std::string& name,
                    const Resources& capacity, const std::string& more) {
  const SlurmSettings& settings = options.settings;
  BatchJob job;
  job.name = name;
  // exec: Slurm must send its warning to the worker itself, not to a shell.
  job.script = fmt::format(
      "#!/bin/sh\nexec {} worker --join {} --name {} --job --cpu {} --gpu {} --memory {}",
      quoted(options.program.string()), quoted(options.address_file.string()), quoted(name),
      capacity.cpu, capacity.gpu, capacity.memory);
  for (const auto& [kind, amount] : capacity.custom)
    job.script += fmt::format(" --resource {}", quoted(fmt::format("{}={}", kind, amount)));
  if (!options.environment.empty())
    job.script += " --environment " + quoted(options.environment.string());
  job.script += " " + more + "\n";
  job.output = options.folder / (name + ".out");
  job.directory = options.folder;
  job.needs = capacity;
  job.devices = settings.gres;
  job.time_limit = settings.time_limit;
  if (std::isfinite(settings.time_limit) && settings.signal_before < settings.time_limit)
    job.warning = settings.signal_before;
  job.partition = settings.partition;
  job.account = settings.account;
  job.qos = settings.qos;
  job.comment = "attune";
  job.arguments = settings.arguments;
  return job;
}

std::optional<JobFlaw> impossible(const SlurmSettings& settings, const Resources& needs) {
  SlurmOperatorOptions options;
  options.settings = settings;
  const bool pilots = settings.mode == SlurmSettings::Mode::pilots;
  const Resources capacity = pilots ? pilot_shape(settings, needs) : needs;
  if (pilots && slots(capacity, needs) < 1)
    return JobFlaw{"pilot", "no trial fits into a pilot of this size"};
  return slurm_flaw(worker_job(options, "x", capacity, ""));
}

Resources pilot_shape(const SlurmSettings& settings, const Resources& needs) {
  Resources shape = settings.pilot.capacity;
  if (shape.cpu == 0) shape.cpu = std::max(1.0, needs.cpu);
  if (shape.gpu == 0) shape.gpu = needs.gpu;
  if (shape.memory == 0) shape.memory = needs.memory;
  for (const auto& [kind, amount] : needs.custom) shape.custom.try_emplace(kind, amount);
  return shape;
}

BatchJobsOptions batch_jobs_options(const SlurmOperatorOptions& options) {
  BatchJobsOptions jobs;
  jobs.prefix = options.settings.prefix;
  jobs.poll = options.settings.poll;
  jobs.absent_after = options.absent_after;
  jobs.orphan_after = options.orphan_after;
  jobs.most = static_cast<std::size_t>(options.settings.most_jobs);
  return jobs;
}

std::string unreached(const std::string& job, const std::string& address,
                      const std::filesystem::path& output) {
  const bool loopback = address.starts_with("127.") || address.starts_with("localhost") ||
                        address.starts_with("[::1]");
  return fmt::format(
      "{} runs, but the worker in it has not reached the coordinator at {} yet; {}{} says what the "
      "worker tries",
      job, address,
      loopback ? "only this machine can dial that address: set slurm.listen to 0.0.0.0:PORT and "
                 "slurm.advertise to HOST:PORT, as nodes know this host; "
               : "",
      output.string());
}

std::string never_came(const std::string& cause, const std::filesystem::path& output) {
  return fmt::format("{}; its worker has never come, {} may say why", cause, output.string());
}

std::string refusal_text(const BatchRefusal& refusal) {
  if (refusal.about.empty() || refusal.tells_about) return refusal.message;
  return fmt::format("{}; change {}", refusal.message, refusal.about);
}

std::string hopeless(const SlurmOperatorOptions& options, const BatchState& state, double running) {
  if (running >= options.settings.start_within)
    return fmt::format("is cancelled after {} s", options.settings.start_within);
  // Other jobs that are held are so because somebody, or the site, wants it.
  if (state.failed_to_start)
    return fmt::format("is cancelled: a node could not start it ({})", state.reason);
  return "";
}

std::set<std::string> silent_workers(const OperatorView& view, const std::string& prefix) {
  std::set<std::string> silent;
  for (const auto& [name, worker] : view.workers) {
    if (name.starts_with(prefix) && !worker.here()) silent.insert(name);
  }
  return silent;
}

std::unique_ptr<Operator> make_slurm_operator(const SlurmOperatorOptions& options,
                                              std::unique_ptr<BatchSystem> system,
                                              OperatorPort& port, const Log& log) {
  if (options.settings.mode == SlurmSettings::Mode::jobs && options.tasks_name_workers)
    return std::make_unique<SlurmJobOperator>(options, std::move(system), port, log);
  return std::make_unique<SlurmPilotOperator>(options, std::move(system), port, log);
}

}  // namespace attune
