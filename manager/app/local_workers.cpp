#include "manager/app/local_workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "os/private_file.h"
#include "os/process.h"

namespace attune {
namespace {

// Between the end of one and the start of the next: doubled each time, up to the longest.
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{10'000};
// One that lived so long has not failed at once.
constexpr std::chrono::seconds kLivedWell{30};
// Seconds that one stays when its coordinator is gone for ever: another one starts its own.
constexpr int kUnreachableAfter = 600;

}  // namespace

struct LocalWorkers::Slot {
  Slot(boost::asio::io_context& io, std::string given)
      : name(std::move(given)), end(io), pause(io), well(io) {}
  std::string name;
  pid_t pid = 0;
  boost::asio::posix::stream_descriptor end;  // its pidfd
  boost::asio::steady_timer pause, well;
  std::chrono::milliseconds next{kFirstPause};
};

LocalWorkers::LocalWorkers(boost::asio::io_context& io, LocalWorkersOptions options, Log log)
    : io_(io), options_(std::move(options)), log_(std::move(log)) {
  for (int i = 0; i < options_.count; ++i)
    slots_.push_back(std::make_unique<Slot>(io_, fmt::format("local-{}", i)));
}

LocalWorkers::~LocalWorkers() = default;

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
    if (slot->end.is_open()) ::kill(slot->pid, SIGTERM);  // not reaped: it is still that process
  }
}

void LocalWorkers::start(Slot& slot) {
  const std::string path = (options_.directory / slot.name).string();
  const auto output = open_private(path + ".out", O_WRONLY | O_CREAT | O_APPEND);
  if (!output) return log_.error("worker {}: {}", slot.name, output.error().message);
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
  spec.descriptors = {{1, output->get()}, {2, output->get()}};
  spec.detached = true;
  auto process = spawn_process(spec);
  if (!process) return log_.error("worker {}: {}", slot.name, process.error().message);
  slot.pid = process->pid;
  slot.end.assign(process->pidfd.release());
  slot.end.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this, &slot](const boost::system::error_code& error) {
                        if (!error) ended(slot);
                      });
  slot.well.expires_after(kLivedWell);
  slot.well.async_wait([&slot](const boost::system::error_code& error) {
    if (!error) slot.next = kFirstPause;
  });
}

void LocalWorkers::ended(Slot& slot) {
  ::waitpid(slot.pid, nullptr, 0);
  slot.end.close();
  slot.well.cancel();
  if (!starting_) return;
  log_.debug("worker {} has ended, and is started again in {} ms", slot.name, slot.next.count());
  slot.pause.expires_after(slot.next);
  slot.next = std::min(2 * slot.next, kLongestPause);
  slot.pause.async_wait([this, &slot](const boost::system::error_code& error) {
    if (!error && starting_) start(slot);
  });
}

}  // namespace attune
