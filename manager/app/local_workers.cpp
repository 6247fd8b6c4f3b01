#include "manager/app/local_workers.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "os/private_file.h"
#include "os/process.h"

namespace attune {
namespace {

// The pause before a worker is started again. It doubles each time, up to the longest.
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{10'000};
// After so long a life, the next pause is the first one again.
constexpr std::chrono::seconds kLivedWell{30};
// --unreachable-after, in seconds. A worker need not stay for longer: a later coordinator starts
// its own workers.
constexpr int kUnreachableAfter = 600;

}  // namespace

struct LocalWorkers::Slot {
  Slot(boost::asio::io_context& io, std::string given)
      : name(std::move(given)), pause(io), well(io) {}
  std::string name;
  std::unique_ptr<ChildProcess> process;
  boost::asio::steady_timer pause, well;
  std::chrono::milliseconds next{kFirstPause};
  std::string trouble;  // why it could not be started; logged when it changes
};

LocalWorkers::LocalWorkers(boost::asio::io_context& io, LocalWorkersOptions options, Log log)
    : io_(io), options_(std::move(options)), log_(std::move(log)) {
  for (int i = 0; i < options_.count; ++i)
    slots_.push_back(std::make_unique<Slot>(io_, fmt::format("local-{}", i)));
}

LocalWorkers::~LocalWorkers() {
  for (const auto& slot : slots_)
    if (slot->process) slot->process->leave();
}

void LocalWorkers::begin() {
  for (const auto& slot : slots_) start(*slot);
}

void LocalWorkers::stop_starting() {
  starting_ = false;
  for (const auto& slot : slots_) slot->pause.cancel();
}

void LocalWorkers::dismiss() {
  stop_starting();
  for (const auto& slot : slots_) {
    if (slot->process) slot->process->ask_to_end();
  }
}

// Tries again after an error, because a full disk or a limit of processes may pass.
void LocalWorkers::start(Slot& slot) {
  const auto started = try_start(slot);
  if (started) {
    slot.trouble.clear();
    return;
  }
  if (slot.trouble != started.error().message) {
    slot.trouble = started.error().message;
    log_.error("worker {} cannot be started, and is tried again: {}", slot.name, slot.trouble);
  }
  start_later(slot);
}

Result<void> LocalWorkers::try_start(Slot& slot) {
  const std::string path = (options_.directory / slot.name).string();
  const UniqueFd output = TRY(open_private(path + ".out", O_WRONLY | O_CREAT | O_APPEND));
  ProcessSpec spec;
  spec.arguments = {options_.program.string(),
                    "worker",
                    "--join",
                    options_.directory.string(),
                    "--name",
                    slot.name,
                    "--lock",
                    path + ".lock",
                    "--unreachable-after",
                    fmt::format("{}s", kUnreachableAfter)};
  if (options_.cpu > 0)
    spec.arguments.insert(spec.arguments.end(), {"--cpu", fmt::format("{}", options_.cpu)});
  spec.environment = options_.environment;
  spec.directory = options_.directory;
  spec.descriptors = {{1, output.get()}, {2, output.get()}};
  spec.detached = true;
  slot.process = TRY(ChildProcess::spawn(io_, spec, [this, &slot](ExitStatus) {
    slot.process.reset();
    slot.well.cancel();
    start_later(slot);
  }));
  slot.well.expires_after(kLivedWell);
  slot.well.async_wait([&slot](const boost::system::error_code& error) {
    if (!error) slot.next = kFirstPause;
  });
  return {};
}

void LocalWorkers::start_later(Slot& slot) {
  if (!starting_) return;
  log_.debug("worker {} is started again in {} ms", slot.name, slot.next.count());
  slot.pause.expires_after(slot.next);
  slot.next = std::min(2 * slot.next, kLongestPause);
  slot.pause.async_wait([this, &slot](const boost::system::error_code& error) {
    if (!error && starting_) start(slot);
  });
}

}  // namespace attune
