#include "cluster/batch/slurm_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>

#include "cluster/batch/slurm_job.h"
#include "cluster/batch/slurm_refusal.h"
#include "cluster/batch/slurm_states.h"
#include "os/program_path.h"

namespace attune {
namespace {

using Texts = std::vector<std::string>;

std::string variable(const Texts& environment, std::string_view name) {
  for (const std::string& each : environment) {
    if (each.starts_with(name) && each.size() > name.size() && each[name.size()] == '=')
      return each.substr(name.size() + 1);
  }
  return "";
}

bool begins_with_one(std::string_view variable, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return variable.starts_with(beginning); });
}

std::string own_name() {
  std::array<char, 4096> buffer = {};
  passwd entry = {};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found ? found->pw_name : fmt::to_string(::geteuid());
}

// The id in the last line, "12" or "12;cluster". A site's wrapper may print other lines before.
std::string last_id(std::string_view output) {
  while (!output.empty() && output.back() == '\n') output.remove_suffix(1);
  const std::size_t line = output.rfind('\n');
  if (line != std::string_view::npos) output.remove_prefix(line + 1);
  output = output.substr(0, output.find(';'));
  const bool is_number =
      std::ranges::all_of(output, [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_number ? std::string(output) : "";
}

}  // namespace

Result<SlurmPrograms> find_slurm(const Texts& environment) {
  const std::string path = variable(environment, "PATH");
  const std::string conf = variable(environment, "SLURM_CONF");
  if (!conf.empty() && !std::filesystem::exists(conf)) {
    return fail(
        fmt::format("SLURM_CONF names {}, which is not there; set it to the site's "
                    "slurm.conf, or unset it",
                    conf));
  }
  SlurmPrograms programs;
  programs.user = own_name();
  for (const auto& [name, place] :
       {std::pair("sbatch", &SlurmPrograms::sbatch), std::pair("squeue", &SlurmPrograms::squeue),
        std::pair("scancel", &SlurmPrograms::scancel)}) {
    auto found = find_in_path(name, path);
    if (!found) {
      return fail(
          fmt::format("{} is not in PATH; start this on a machine that may submit jobs, or "
                      "install Slurm's client programs (Debian: slurm-client)",
                      name));
    }
    programs.*place = *std::move(found);
  }
  return programs;
}

Texts slurm_environment(const Texts& inherited) {
  constexpr std::array<std::string_view, 4> kPlaces = {
      "SBATCH_PARTITION=", "SBATCH_ACCOUNT=", "SBATCH_QOS=", "SBATCH_RESERVATION="};
  constexpr std::array<std::string_view, 6> kDefaults = {
      "SBATCH_", "SQUEUE_", "SCANCEL_", "SLURM_CLUSTERS=", "SLURM_TIME_FORMAT=", "LC_ALL="};
  Texts kept;
  std::ranges::copy_if(inherited, std::back_inserter(kept), [&](const std::string& each) {
    return begins_with_one(each, kPlaces) || !begins_with_one(each, kDefaults);
  });
  kept.emplace_back("LC_ALL=C");  // their messages are parsed
  return kept;
}

bool is_of_job(std::string_view variable) {
  constexpr std::array<std::string_view, 10> kBeginnings = {"SLURM",
                                                            "PMI",
                                                            "TMPDIR=",
                                                            "HOSTNAME=",
                                                            "CUDA_VISIBLE_DEVICES=",
                                                            "GPU_DEVICE_ORDINAL=",
                                                            "ROCR_VISIBLE_DEVICES=",
                                                            "HIP_VISIBLE_DEVICES=",
                                                            "NVIDIA_VISIBLE_DEVICES=",
                                                            "ZE_AFFINITY_MASK="};
  return begins_with_one(variable, kBeginnings);
}

Texts sbatch_environment(const Texts& programs) {
  constexpr std::array<std::string_view, 3> kClients = {
      "SLURM_CONF=", "SLURM_CONF_SERVER=", "SLURM_JWT="};
  Texts kept;
  std::ranges::copy_if(programs, std::back_inserter(kept), [&](const std::string& each) {
    return begins_with_one(each, kClients) || !is_of_job(each);
  });
  return kept;
}

std::expected<CommandLine, BatchRefusal> SlurmCommands::submit(const BatchJob& job) const {
  auto options = slurm_options(job);
  if (!options) return std::unexpected(std::move(options).error());
  options->insert(options->begin(), programs_.sbatch);
  return CommandLine{*std::move(options), job.script, limits_.submit};
}

BatchSubmission SlurmCommands::submitted(const CommandEnd& end) const {
  if (!end.success()) return std::unexpected(slurm_refusal(end));
  std::string id = last_id(end.output);
  if (!id.empty()) return BatchAccepted{std::move(id), false};
  return std::unexpected(
      BatchRefusal{false, "", "Slurm has the job, but sbatch does not say its id"});
}

CommandLine SlurmCommands::list(const Texts& names) const {
  // --states=all: ended jobs, too, because their state says why they ended.
  Texts arguments = {programs_.squeue, "--noheader", "--array",
                     "--states=all",   "--me",       fmt::format("--format={}", kSlurmFormat)};
  if (!names.empty()) arguments.push_back(fmt::format("--name={}", fmt::join(names, ",")));
  return {std::move(arguments), "", limits_.other};
}

Result<BatchStates> SlurmCommands::listed(const CommandEnd& end) const {
  if (!end.success()) return fail("Slurm does not list its jobs: " + slurm_complaint(end));
  return parse_slurm_states(end.output);
}

// One command for each name, because scancel takes one name. --user, because root would cancel
// everybody's jobs.
std::vector<CommandLine> SlurmCommands::cancel(const Texts& names) const {
  std::vector<CommandLine> commands;
  for (const std::string& name : names) {
    commands.push_back(
        {{programs_.scancel, "--user=" + programs_.user, "--name=" + name}, "", limits_.other});
  }
  return commands;
}

Result<void> SlurmCommands::done(const CommandEnd& end) const {
  if (end.success()) return {};
  return fail("Slurm does not cancel: " + slurm_complaint(end));
}

}  // namespace attune
