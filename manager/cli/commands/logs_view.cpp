// The command attune logs.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>

#include "backends/local/file_watch.h"
#include "base/names.h"
#include "manager/cli/commands/views.h"
#include "manager/store/store_reader.h"
#include "os/private_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Prints what was appended to a file since the last call. A file that has become shorter is printed
// from its beginning.
class Tail {
 public:
  Tail(fs::path path, const Console& console) : path_(std::move(path)), console_(console) {}

  Result<void> copy() {
    // Checked at each call: the trial may have replaced the file by a FIFO, or by a link to a file
    // that it may not read itself.
    const UniqueFd file = TRY(open_private(path_, O_RDONLY));
    if (::lseek(file.get(), 0, SEEK_END) < offset_) offset_ = 0;
    char buffer[65536];
    for (ssize_t size = 0; (size = ::pread(file.get(), buffer, sizeof buffer, offset_)) > 0;
         offset_ += size)
      std::fwrite(buffer, 1, static_cast<std::size_t>(size), console_.out);
    std::fflush(console_.out);
    return {};
  }

 private:
  fs::path path_;
  const Console& console_;
  off_t offset_ = 0;
};

// Prints the output until the store says that the trial has ended. The store touches its file after
// every commit, so that the watch of its folder sees the end.
Result<void> follow(Tail& tail, const fs::path& folder, StoreReader& reader,
                    const StoredExperiment& experiment, const std::string& job_id) {
  boost::asio::io_context io;
  Result<void> result;
  const auto look = [&] {
    if (reader.has_moved()) {
      auto again = StoreReader::open(reader.working_directory());
      if (again && again->trial(experiment, job_id)) reader = *std::move(again);
    }
    // The state is read before the output: if the trial has ended, all its output is there.
    const auto trial = reader.trial(experiment, job_id);
    std::ignore = tail.copy();
    if (trial && !has_ended(trial->status)) return;
    if (!trial) result = std::unexpected(trial.error());
    io.stop();
  };
  const auto watch = TRY(FileWatch::create(io, [&](int) { look(); }));
  TRY(watch->add(folder));
  TRY(watch->add(reader.working_directory()));
  look();
  if (!io.stopped()) io.run();
  return result;
}

}  // namespace

Result<int> view(const LogsOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  const TrialRecord trial = TRY(reader.trial(experiment, options.trial));
  TRY(check_name("the trial", trial.job_id));  // the store may not be ours
  const fs::path folder = experiment.directory / "trials" / trial.job_id;
  const fs::path file = folder / (options.from_stderr ? "stderr" : "stdout");
  Tail tail(file, console);
  if (const auto copied = tail.copy(); !copied) {
    return fail(trial.attempts == 0 ? fmt::format("trial {} was not started yet", trial.job_id)
                                    : copied.error().message);
  }
  if (options.follow) TRY(follow(tail, folder, reader, experiment, trial.job_id));
  return kExitOk;
}

}  // namespace attune
