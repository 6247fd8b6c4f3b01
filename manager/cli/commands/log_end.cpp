#include "manager/cli/commands/log_end.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/names.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

Result<LogEnd> end_of(const std::filesystem::path& path, std::int64_t bytes) {
  // A client may show it to others. So it must be a file of ours, not one that somebody has put
  // there.
  const UniqueFd file = TRY(open_private(path, O_RDONLY));
  TRY(check_owner(file.get(), path.string()));
  const auto size = static_cast<std::int64_t>(::lseek(file.get(), 0, SEEK_END));
  LogEnd ending;
  ending.left_out = std::max<std::int64_t>(size - bytes, 0);
  ending.text.resize(static_cast<std::size_t>(bytes));
  std::size_t have = 0;
  while (have < ending.text.size()) {
    const ssize_t count = ::pread(file.get(), ending.text.data() + have, ending.text.size() - have,
                                  ending.left_out + static_cast<off_t>(have));
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  ending.text.resize(have);
  const std::size_t newline = ending.text.find('\n');
  if (ending.left_out > 0 && newline + 1 < ending.text.size()) {
    ending.text.erase(0, newline + 1);
    ending.left_out += static_cast<std::int64_t>(newline) + 1;
  }
  return ending;
}

}  // namespace

Result<LogEnd> trial_log_end(const StoredExperiment& experiment, const TrialRecord& trial,
                             const std::string& stream, std::int64_t bytes) {
  TRY(check_name("the trial", trial.job_id));  // a foreign store may hold any path
  if (trial.attempts == 0) return fail(fmt::format("trial {} was not started yet", trial.job_id));
  return end_of(experiment.directory / "trials" / trial.job_id / stream, bytes);
}

}  // namespace attune
