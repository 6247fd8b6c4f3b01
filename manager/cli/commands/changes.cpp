#include "manager/cli/commands/changes.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/names.h"
#include "base/terminal_text.h"
#include "manager/cli/commands/experiment_folder.h"
#include "manager/control/json_format.h"
#include "manager/store/change_store.h"
#include "manager/store/experiment_lock.h"
#include "os/standard_output.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Locks the experiment, so that no manager starts. Nothing: its folder is gone, so that none can.
Result<std::optional<ExperimentLock>> lock(const StoredExperiment& experiment) {
  std::error_code error;
  if (!fs::exists(experiment.directory, error)) return std::nullopt;
  return TRY(ExperimentLock::take(experiment.directory));
}

Result<void> check_idle(const StoredExperiment& experiment) {
  if (experiment.status != ExperimentStatus::running) return {};
  return fail(
      fmt::format("experiment {} runs; attune stop {} ends it", experiment.id, experiment.id));
}

// An experiment to delete, with its lock, so that no manager starts meanwhile.
struct Doomed {
  StoredExperiment experiment;
  std::optional<ExperimentLock> held;
};

// Finds and locks the experiments, each once. Error: one of them cannot be deleted; none is
// deleted.
Result<std::vector<Doomed>> find_all(StoreReader& reader, const std::vector<std::string>& names) {
  std::vector<Doomed> found;
  for (const std::string& name : names) {
    StoredExperiment experiment = TRY(reader.find(name));
    const auto same = [&](const Doomed& each) { return each.experiment.id == experiment.id; };
    if (std::ranges::any_of(found, same)) continue;
    TRY(check_idle(experiment));
    TRY(check_deletable(reader, experiment));
    auto held = TRY(lock(experiment));
    found.push_back({std::move(experiment), std::move(held)});
  }
  return found;
}

// Reads a line, without its end; "" at the end of the input.
std::string read_line(std::FILE* in) {
  std::string line;
  for (int c = std::fgetc(in); c != EOF && c != '\n'; c = std::fgetc(in))
    line += static_cast<char>(c);
  return line;
}

Result<bool> is_wanted(StoreReader& reader, const std::vector<Doomed>& experiments,
                       const Console& console) {
  for (const auto& [each, held] : experiments) {
    const Tally tally = TRY(reader.tally(each));
    put_text(console.err, terminal_text(fmt::format("experiment {}{}: {} trials, {}\n", each.id,
                                                    each.name.empty() ? "" : " (" + each.name + ")",
                                                    tally.added(), each.directory.string())));
  }
  put_text(console.err, "Delete, with all files of the trials? [y/N] ");
  std::fflush(console.err);
  const std::string answer = read_line(console.in);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// Deletes an experiment. Returns whether its folder was removed, too.
Result<bool> delete_one(const StoredExperiment& experiment, const fs::path& working_directory) {
  std::error_code error;
  const bool has_store = fs::equivalent(experiment.directory, working_directory, error);
  // The folder first: if this fails, the store still knows the experiment, and the user can try
  // again.
  const bool gone = TRY(remove_folder(experiment));
  if (!has_store) TRY(forget_experiment(working_directory, experiment.id));
  return gone;
}

}  // namespace

Result<int> change(const RenameOptions& options, const Console& console) {
  TRY(check_printable("the name", options.name));
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  TRY(check_idle(experiment));
  const auto held = TRY(lock(experiment));
  TRY(rename_experiment(reader.working_directory(), experiment.id, options.name));
  if (options.which.json) {
    print_json(console, with_format({{"experiment_id", experiment.id}, {"name", options.name}}));
  } else {
    print_text(console, fmt::format("experiment {} is called {}\n", experiment.id, options.name));
  }
  return kExitOk;
}

Result<int> change(const DeleteOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.directory));
  const std::vector<Doomed> experiments = TRY(find_all(reader, options.experiments));
  if (!options.yes && console.in == nullptr) {
    put_text(console.err,
             "attune: nobody can be asked here: attune delete --yes deletes at once\n");
    return kExitUsage;
  }
  if (!options.yes && !TRY(is_wanted(reader, experiments, console)))
    return fail("nothing is deleted");
  const fs::path working_directory = reader.working_directory();
  json deleted = json::array();
  for (const auto& [each, held] : experiments) {
    const bool gone = TRY(delete_one(each, working_directory));
    deleted.push_back(with_format({{"experiment_id", each.id},
                                   {"directory", each.directory.string()},
                                   {"folder_removed", gone}}));
    if (!options.json)
      print_text(console, fmt::format("experiment {} is deleted{}\n", each.id,
                                      gone ? ""
                                           : "; something else is in its folder, which stays: " +
                                                 each.directory.string()));
  }
  if (options.json) print_json(console, deleted);
  return kExitOk;
}

}  // namespace attune
