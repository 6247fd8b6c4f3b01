#include "manager/app/slurm_coordinator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "cluster/batch/command_batch_system.h"
#include "cluster/batch/command_operator.h"
#include "cluster/batch/slurm_commands.h"
#include "cluster/batch/slurm_operator.h"
#include "cluster/pool/roles.h"
#include "manager/app/job_environment.h"
#include "manager/experiment/slurm_section.h"
#include "manager/experiment/yaml.h"
#include "os/atomic_file.h"
#include "os/clock.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The prefix of the names of this coordinator's jobs. The coordinator cancels all jobs of the user
// that have its prefix and that it does not know. So no other coordinator may ever have the same
// one, not even a later one in the same folder after that was emptied. The prefix is made of the
// time and the process id at the first start, and stays in a file.
Result<std::string> own_prefix(const fs::path& file) {
  std::error_code none;
  if (!fs::exists(file, none)) {
    const auto time = static_cast<std::uint64_t>(SystemClock().wall() * 1e6);
    TRY(write_file_atomically(file.string(), fmt::format("attune-{:x}-{}-", time, ::getpid())));
  }
  std::string prefix = TRY(read_trusted_file(file));
  const bool good =
      prefix.starts_with("attune-") && prefix.ends_with("-") && prefix.size() < 100 &&
      std::ranges::all_of(prefix, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  if (!good)
    return fail(
        fmt::format("{}: it is no beginning of names of jobs; when no job of this "
                    "coordinator is left, remove the file",
                    file.string()));
  return prefix;
}

Result<MakeOperator> choose_slurm(boost::asio::io_context& io, const OperatorChoice& choice,
                                  const Log& log) {
  SlurmOperatorOptions options;
  options.settings = *choice.slurm;
  options.tasks_name_workers = !options.settings.prefix.empty();
  options.program = choice.program;
  options.address_file = role_file(choice.directory, kWorkerRole);
  options.folder = choice.directory / "jobs";
  TRY(make_directories(options.folder));
  if (options.settings.prefix.empty())
    options.settings.prefix = TRY(own_prefix(options.folder / "prefix"));
  options.environment = options.folder / "environment";
  TRY(write_environment(options.environment, choice.environment));
  const std::vector<std::string> environment = slurm_environment(choice.environment);
  const SlurmPrograms programs = TRY(find_slurm(environment));
  return MakeOperator([&io, options, environment, programs, log](OperatorPort& port) {
    auto system =
        std::make_unique<CommandBatchSystem>(io, std::make_unique<SlurmCommands>(programs),
                                             environment, sbatch_environment(environment));
    return make_slurm_operator(options, std::move(system), port, log.named("slurm"));
  });
}

}  // namespace

Result<SlurmSettings> read_slurm_file(const std::string& file) {
  const YamlDocument document = TRY(parse_yaml(TRY(read_trusted_file(file)), file));
  if (document.value.is_object() && document.value.contains("prefix")) {
    auto written = parse_slurm_settings(document.value);
    if (!written) return fail(file + ": " + written.error().message);
    return written;
  }
  if (!document.value.is_object() || !document.value.contains("slurm"))
    return fail(file + ": the key slurm is missing, as in an experiment file");
  Findings findings;
  SlurmSettings settings = read_coordinator_slurm(Section(document, file, findings));
  TRY(findings.result());
  return settings;
}

SlurmSettings read_coordinator_slurm(const Section& top) {
  const auto section = top.section("slurm");
  for (const char* key : {"listen", "advertise"}) {
    if (section && section->find(key) != nullptr)
      section->error(key, fmt::format("say --{} HOST:PORT to attune coordinator", key));
  }
  return read_slurm_section(section).settings;
}

Result<MakeOperator> choose_operator(boost::asio::io_context& io, const OperatorChoice& choice,
                                     const Log& log) {
  if (choice.slurm) return choose_slurm(io, choice, log);
  if (choice.scale_command.empty()) return MakeOperator();
  CommandOperatorOptions command;
  command.command = choice.scale_command;
  command.address_file = role_file(choice.directory, kWorkerRole);
  command.environment = choice.environment;
  command.most = choice.most_workers;
  return MakeOperator([&io, command, log](OperatorPort& port) {
    return std::make_unique<CommandOperator>(io, command, port, log.named("scale"));
  });
}

}  // namespace attune
