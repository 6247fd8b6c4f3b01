#include "manager/app/own_coordinator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <string_view>

#include "cluster/pool/server/server.h"
#include "os/atomic_file.h"
#include "os/private_file.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

// --leave-after, in seconds without client and task. So long a killed manager may take to come
// back.
constexpr int kCoordinatorLeavesAfter = 600;
constexpr std::chrono::milliseconds kFirstRestart{100}, kLongestRestart{60'000};
constexpr char kOutput[] = "coordinator.out";
constexpr std::string_view kSpeaker = "attune: ";  // the beginning of its error messages

// Whether a coordinator runs in the folder: it holds a lock on its journal.
bool runs(const std::filesystem::path& directory) {
  const UniqueFd journal(
      ::open((directory / kCoordinatorJournal).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return journal && ::flock(journal.get(), LOCK_EX | LOCK_NB) != 0;
}

Result<ProcessSpec> specify(const OwnCoordinator& own, int log) {
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
                    fmt::format("{}", kCoordinatorLeavesAfter)};
  if (!own.settings.advertise.empty())
    spec.arguments.insert(spec.arguments.end(), {"--advertise", own.settings.advertise});
  if (own.slurm) {
    const std::filesystem::path file = own.directory / "slurm.json";
    TRY(write_file_atomically(file.string(), dump_json(to_json(*own.slurm))));
    spec.arguments.insert(spec.arguments.end(), {"--slurm", file.string()});
  }
  spec.environment = own.environment;
  spec.directory = own.directory;
  spec.descriptors = {{1, log}, {2, log}};
  spec.detached = true;
  return spec;
}

}  // namespace

OwnCoordinatorProcess::OwnCoordinatorProcess(boost::asio::io_context& io, OwnCoordinator own,
                                             const Rng& rng,
                                             std::function<void(const std::string& text)> say)
    : io_(io),
      own_(std::move(own)),
      say_(std::move(say)),
      pauses_(kFirstRestart, kLongestRestart, rng),
      pause_(io) {}

OwnCoordinatorProcess::~OwnCoordinatorProcess() {
  if (process_) process_->leave();
}

Result<void> OwnCoordinatorProcess::start() {
  TRY(make_directories(own_.directory));
  if (runs(own_.directory)) return {};
  const UniqueFd log = TRY(open_private(own_.directory / kOutput, O_WRONLY | O_CREAT | O_APPEND));
  const ProcessSpec spec = TRY(specify(own_, log.get()));
  process_ = TRY(ChildProcess::spawn(io_, spec, [this](ExitStatus status) { ended(status); }));
  end_.clear();
  return {};
}

void OwnCoordinatorProcess::ended(ExitStatus status) {
  const std::filesystem::path output = own_.directory / kOutput;
  // A process that was killed has printed nothing about it.
  std::string words = status.signal == 0 ? last_lines(output, 1) : "";
  if (words.starts_with(kSpeaker)) words.erase(0, kSpeaker.size());
  end_ = fmt::format("the experiment's coordinator has ended ({}){}{}; what it printed is in {}",
                     to_text(status), words.empty() ? "" : ": ", words, output.string());
  if (!dismissed_) say_(end_);
}

void OwnCoordinatorProcess::unreachable() {
  if (paused_ || dismissed_ || (process_ && end_.empty())) return;
  paused_ = true;
  pause_.expires_after(pauses_.next());
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    paused_ = false;
    if (dismissed_) return;
    if (const auto started = start(); !started)
      say_("cannot start the coordinator again: " + started.error().message);
  });
}

}  // namespace attune
