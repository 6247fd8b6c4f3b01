#include "manager/cli/commands/experiment_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "backends/report/spool_reader.h"
#include "base/names.h"
#include "manager/cli/commands/shell_words.h"
#include "manager/store/schema.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The files of an experiment in its folder, in the order in which they are removed. The lock is
// last, since it keeps managers away. The link to the store is removed just before it: by that link
// a later attune delete knows that the folder belongs to the experiment.
constexpr std::array kOwn = {
    "trials",  "checkpoint",        "coordinator",       "workers",       "log", "export",
    "control", "attune.sqlite-wal", "attune.sqlite-shm", "attune.sqlite", "lock"};
constexpr const char* kCoordinatorJournal = "coordinator/coordinator.journal";

bool is_gone(const fs::path& folder) {
  std::error_code error;
  return fs::symlink_status(folder, error).type() == fs::file_type::not_found;
}

// Symbolic links on the way to the folder are followed, if they are trusted. The folder itself must
// not be one.
Result<UniqueFd> open_folder(const fs::path& folder) {
  if (!folder.is_absolute())
    return fail(fmt::format("{} is no absolute path: the store is damaged", folder.string()));
  return open_trusted(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<void> check_store(const StoredExperiment& experiment, const fs::path& store) {
  std::error_code error;
  if (fs::equivalent(experiment.directory / kStoreFile, store, error) && !error) return {};
  return fail(
      fmt::format("{} is not known to be the folder of experiment {}: there is no {} in it that "
                  "leads to {}; move that folder away, and only what the store has is deleted",
                  experiment.directory.string(), experiment.id, kStoreFile, store.string()));
}

// Refuses if a trial or the coordinator of the experiment still runs: they survive a manager that
// was killed.
Result<void> check_trials(StoreReader& reader, const StoredExperiment& experiment) {
  for (const UnfinishedTrial& each : TRY(reader.unfinished(experiment))) {
    if (!each.attempt) continue;
    TRY(check_name("the trial", each.trial.job_id));
    const auto spool = open_private(experiment.directory / "trials" / each.trial.job_id /
                                        fmt::format("spool.{}", each.attempt->attempt),
                                    O_RDONLY);
    if (spool && is_held(spool->get()))
      return fail(
          fmt::format("trial {} of experiment {} still runs: attune resume {} takes it over, and "
                      "attune stop then ends it",
                      each.trial.job_id, experiment.id,
                      experiment_words(experiment.directory, experiment.id, true)));
  }
  const auto journal = open_private(experiment.directory / kCoordinatorJournal, O_RDONLY);
  if (journal && is_held(journal->get()))
    return fail(
        fmt::format("the coordinator of experiment {} still runs; it ends by itself when nothing "
                    "has run for ten minutes",
                    experiment.id));
  return {};
}

// An experiment that was run with --dir has the store in its own folder. Refuses if the store has
// another experiment, too.
Result<void> check_alone(StoreReader& reader, const StoredExperiment& experiment) {
  std::error_code error;
  if (!fs::equivalent(experiment.directory, reader.working_directory(), error)) return {};
  for (const StoredExperiment& other : TRY(reader.experiments())) {
    if (other.number != experiment.number)
      return fail(fmt::format("{} also holds experiment {}; delete that first",
                              experiment.directory.string(), other.id));
  }
  return {};
}

}  // namespace

Result<void> check_deletable(StoreReader& reader, const StoredExperiment& experiment) {
  if (is_gone(experiment.directory)) return {};
  TRY(open_folder(experiment.directory));
  TRY(check_store(experiment, reader.working_directory() / kStoreFile));
  TRY(check_alone(reader, experiment));
  return check_trials(reader, experiment);
}

Result<bool> remove_folder(const StoredExperiment& experiment) {
  if (is_gone(experiment.directory)) return true;
  const UniqueFd folder = TRY(open_folder(experiment.directory));
  for (const char* name : kOwn) {
    // Through the descriptor of the folder that was checked: its path may lead elsewhere by now.
    std::error_code error;
    fs::remove_all(fmt::format("/proc/self/fd/{}/{}", folder.get(), name), error);
    if (error)
      return fail(
          fmt::format("cannot remove {}: {}; what is left of experiment {} is there, and "
                      "attune delete goes on when that is possible",
                      (experiment.directory / name).string(), error.message(), experiment.id));
  }
  if (::rmdir(experiment.directory.c_str()) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == EBUSY) return false;
  return fail(fmt::format("cannot remove {}: {}", experiment.directory.string(), strerror(errno)));
}

}  // namespace attune
