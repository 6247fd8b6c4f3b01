#include "runner/own_coordinator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "backends/process.h"
#include "base/atomic_file.h"
#include "base/unique_fd.h"
#include "coordinator/server/server.h"
#include "runner/files.h"

namespace attune {
namespace {

// How long it stays when nobody is there and nothing runs: a manager that was killed may come back.
constexpr int kLeaveAfter = 600;

bool runs(const std::filesystem::path& directory) {
  const UniqueFd journal(
      ::open((directory / kCoordinatorJournal).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return journal && ::flock(journal.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace

Result<void> start_own_coordinator(const OwnCoordinator& own) {
  TRY(make_directories(own.directory));
  if (runs(own.directory)) return {};
  const UniqueFd log =
      TRY(open_private(own.directory / "coordinator.out", O_WRONLY | O_CREAT | O_APPEND));
  ProcessSpec spec;
  spec.arguments = {own.program.string(),
                    "coordinator",
                    "--dir",
                    own.directory.string(),
                    "--listen",
                    own.settings.listen,
                    "--workers",
                    fmt::format("{}", own.settings.workers),
                    "--worker-cpu",
                    fmt::format("{}", own.worker_cpu),
                    "--leave-after",
                    fmt::format("{}", kLeaveAfter)};
  if (!own.settings.advertise.empty())
    spec.arguments.insert(spec.arguments.end(), {"--advertise", own.settings.advertise});
  if (own.slurm) {
    const std::filesystem::path file = own.directory / "slurm.json";
    TRY(write_file_atomically(file.string(), dump_json(to_json(*own.slurm))));
    spec.arguments.insert(spec.arguments.end(), {"--slurm", file.string()});
  }
  spec.environment = own.environment;
  spec.directory = own.directory;
  spec.descriptors = {{1, log.get()}, {2, log.get()}};
  spec.detached = true;
  TRY(spawn_process(spec));
  return {};
}

}  // namespace attune
