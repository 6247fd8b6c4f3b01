#include "trial/process_reporter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "os/unique_fd.h"

namespace attune {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "checkpoint_";
constexpr std::string_view kPartial = ".partial";
// Both below kPartial. kReplaced: a checkpoint whose successor of the same step is about to take
// its place; it counts until that is there. kGoing: a checkpoint that is being removed; it is moved
// here first, because its files go one by one, and nobody may take the rest for a checkpoint.
constexpr std::string_view kReplaced = "replaced_";
constexpr std::string_view kGoing = "going";

struct Saved {
  std::int64_t step;
  fs::path path;
};

// Highest step first.
std::vector<Saved> saved_in(const fs::path& folder) {
  std::vector<Saved> all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::int64_t step = -1;
    if (!name.starts_with(kPrefix) || !entry.is_directory(error)) continue;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, step);
    if (parsed.ec == std::errc() && parsed.ptr == end && step >= 0) {
      all.push_back({step, entry.path()});
    }
  }
  std::ranges::sort(all, std::ranges::greater(), &Saved::step);
  return all;
}

// Puts back what an attempt left that ended between the two renamings of set_checkpoint().
void put_back_replaced(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / kPartial, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kReplaced)) continue;
    const fs::path place = folder / name.substr(kReplaced.size());
    if (!fs::exists(place, error)) fs::rename(entry.path(), place, error);
  }
}

void flush(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) {
    throw std::runtime_error("cannot flush " + path.string() + ": " + std::strerror(errno));
  }
}

// Flushes all files to the disk: if the machine fails, the name must not be there without the
// bytes.
void flush_all(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::file_status status = entry.symlink_status();
    if (fs::is_regular_file(status) || fs::is_directory(status)) flush(entry.path());
  }
  flush(folder);
}

}  // namespace

ProcessReporter::ProcessReporter(Trial& trial) : trial_(trial) {
  if (!trial_.checkpoint_dir()) return;
  put_back_replaced(*trial_.checkpoint_dir());
  std::error_code ignored;  // make_checkpoint_dir() meets it again
  fs::remove_all(*trial_.checkpoint_dir() / kPartial, ignored);
}

void ProcessReporter::report(const json& metrics) {
  check_metrics(metrics);
  if (const auto sent = trial_.report(metrics); !sent) {
    throw std::runtime_error(sent.error().message);
  }
  last_ = metrics;
}

const fs::path& ProcessReporter::folder() {
  return trial_.checkpoint_dir() ? *trial_.checkpoint_dir() : scratch_.path();
}

fs::path ProcessReporter::make_checkpoint_dir(std::int64_t step) {
  const fs::path path = folder() / kPartial / checkpoint_name(step);
  fs::remove_all(path);  // filesystem_error is a runtime_error, and names the path
  fs::create_directories(path);
  return path;
}

void ProcessReporter::set_checkpoint(const fs::path& path) {
  const fs::path partial = folder() / kPartial;
  const std::string name = checkpoint_name(path, partial);
  const fs::path place = folder() / name;
  const fs::path replaced = partial / (std::string(kReplaced) + name);
  if (trial_.checkpoint_dir()) flush_all(partial / name);
  fs::remove_all(replaced);  // left by a call that failed
  // If the process ends between these two renamings, the next attempt puts the former one back.
  if (fs::exists(place)) fs::rename(place, replaced);
  fs::rename(partial / name, place);
  if (trial_.checkpoint_dir()) flush(folder());
  fs::remove_all(replaced);
  std::vector<Saved> all = saved_in(folder());
  // The one just set stays, whatever its step: a function may count anew. Of the others only the
  // one of the highest step stays, if that is not above the step just set.
  std::erase_if(all, [&](const Saved& saved) { return saved.path == place; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool newer = all[i].step > std::stoll(name.substr(kPrefix.size()));
    if (i == 0 && !newer) continue;
    fs::remove_all(partial / kGoing);
    fs::rename(all[i].path, partial / kGoing);
  }
  fs::remove_all(partial / kGoing);
}

CheckpointDir ProcessReporter::newest_checkpoint() const {
  if (!trial_.checkpoint_dir()) return std::nullopt;
  const std::vector<Saved> all = saved_in(*trial_.checkpoint_dir());
  if (all.empty()) return std::nullopt;
  return all.front().path;
}

}  // namespace attune
