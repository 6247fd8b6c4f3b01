#include "runner/slurm_coordinator.h"

#include <memory>
#include <utility>

#include "base/trust.h"
#include "coordinator/batch/command_batch_system.h"
#include "coordinator/batch/slurm_commands.h"
#include "coordinator/operators/command_operator.h"
#include "coordinator/operators/slurm_operator.h"
#include "coordinator/server/server.h"
#include "runner/files.h"
#include "runner/job_environment.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

Result<MakeOperator> choose_slurm(boost::asio::io_context& io, const OperatorChoice& choice,
                                  const Log& log) {
  SlurmOperatorOptions options;
  auto settings = parse_slurm_settings(TRY(parse_json(TRY(read_trusted_file(choice.slurm)))));
  if (!settings) return fail(choice.slurm + ": " + settings.error().message);
  options.settings = *std::move(settings);
  options.program = choice.program;
  options.address_file = choice.directory / kAddressFile;
  options.folder = choice.directory / "jobs";
  TRY(make_directories(options.folder));
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

Result<MakeOperator> choose_operator(boost::asio::io_context& io, const OperatorChoice& choice,
                                     const Log& log) {
  if (!choice.slurm.empty()) return choose_slurm(io, choice, log);
  if (choice.scale_command.empty()) return MakeOperator();
  CommandOperatorOptions command;
  command.command = choice.scale_command;
  command.address_file = choice.directory / kAddressFile;
  command.environment = choice.environment;
  command.most = choice.most_workers;
  return MakeOperator([&io, command, log](OperatorPort& port) {
    return std::make_unique<CommandOperator>(io, command, port, log.named("scale"));
  });
}

}  // namespace attune
