#include "backends/local/checkpoint_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <tuple>
#include <utility>

#include "backends/trial_folder.h"
#include "os/trust.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

constexpr int kAtOnce = 4;  // copies at a time; more would only compete for the disk

// $1: from, $2: to. Prints the size on the disk: the blocks of each file and directory, so that
// holes count as nothing, and 4096 bytes for each of them. A running trial may remove a file after
// cp has listed it and before cp reads it; then the copy is started again. Each id is given out
// only once: if the target exists, a manager that was killed before it recorded the checkpoint has
// made it.
constexpr char kCopy[] = R"(
[ ! -e "$2" ] || { mv -T -- "$2" "$2.old" && rm -rf -- "$2.old"; } || exit 1
for last in false false true; do
  rm -rf -- "$2.new" && mkdir -m 700 -- "$2.new" || exit 1
  cp -a --reflink=auto -- "$1/." "$2.new/" && break
  ! $last || { rm -rf -- "$2.new"; exit 1; }
done
mv -T -- "$2.new" "$2" || exit 1
find "$2" -printf '%i %b\n' | awk '!known[$1]++ { sum += $2 * 512 + 4096 } END { printf "%.0f", sum }')";

// Renames first, so that there is never half a checkpoint under the name of a whole one.
constexpr char kRemove[] = R"(
for folder; do
  [ ! -e "$folder" ] || { mv -T -- "$folder" "$folder.old" && rm -rf -- "$folder.old"; }
done)";

constexpr char kRemoveAll[] = R"(rm -rf -- "$@")";

// $1: the directory. Removes what is unfinished in it.
constexpr char kTidy[] = R"(rm -rf -- "$1"/*.new "$1"/*.old)";

// Goes before a removal. $1: the directory that must first be locked; may be empty.
constexpr char kWait[] = R"(
[ -z "$1" ] || { exec 9<"$1"; flock -x 9; }
shift
)";

ProcessSpec shell(const std::string& script, const std::vector<std::string>& arguments) {
  ProcessSpec spec;
  spec.arguments = {"/bin/sh", "-c", script, "sh"};
  spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  spec.directory = "/";
  return spec;
}

constexpr char kBadId[] = "a checkpoint is named by letters, digits, '-' and '_'";

// For its lock. None: it is not there, or others may open it, too.
UniqueFd open_for_lock(const std::filesystem::path& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  const bool ours = folder && ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() &&
                    (status.st_mode & 077) == 0;
  return ours ? std::move(folder) : UniqueFd();
}

// A removal that first waits for the copies of a killed manager, and for removals that go on
// without theirs.
ProcessSpec late_removal(const std::filesystem::path& path, const char* script,
                         std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), open_for_lock(path) ? path.string() : "");
  return shell(std::string(kWait) + script, arguments);
}

UniqueFd memory_file() { return UniqueFd(::memfd_create("output", MFD_CLOEXEC)); }

std::string beginning_of(const UniqueFd& file) {
  std::string text(500, '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Whether the error says that the disk is full. The program ran with LC_ALL=C, so its texts are
// known.
bool says_no_room(const std::string& error) {
  return error.find(::strerror(ENOSPC)) != std::string::npos ||
         error.find(::strerror(EDQUOT)) != std::string::npos;
}

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_checkpoint_id(std::string_view id) {
  return !id.empty() && id.size() <= 100 && id.front() != '-' &&
         std::ranges::all_of(id,
                             [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

struct CheckpointFiles::Task {
  // Trials and checkpoints: two tasks with a common one never overlap.
  std::vector<std::string> subjects;
  const char* script;
  std::vector<std::string> arguments;
  bool answered = false;  // whether on_saved_ is called at its end; false: it deletes
  // What is saved, or deleted. Both are empty where a killed manager's rest is deleted.
  std::string job_id = {}, checkpoint = {};
  std::string refused = {};  // why it cannot be done; told when it is its turn
  UniqueFd output = {}, errors = {};
  std::unique_ptr<ChildProcess> process = {};
};

CheckpointFiles::CheckpointFiles(boost::asio::io_context& io,
                                 std::function<void(CheckpointStored)> on_saved)
    : io_(io), on_saved_(std::move(on_saved)) {}

CheckpointFiles::~CheckpointFiles() {
  for (const auto& task : tasks_) {
    if (task->answered) task->process.reset();
  }
  lock_ = {};
  finish_removals();
}

// Removals are often requested just before the manager ends, and the manager does not wait for a
// disk. So the processes run on without a parent, and init reaps them. The removals that have not
// begun share one process for each script, which waits for the copies of a killed manager.
void CheckpointFiles::finish_removals() {
  for (const char* script : {kTidy, kRemove, kRemoveAll}) {
    std::vector<std::string> folders;
    for (const auto& task : tasks_) {
      if (task->script != script) continue;
      if (task->process) {
        task->process->leave();
      } else {
        folders.insert(folders.end(), task->arguments.begin(), task->arguments.end());
      }
    }
    if (!folders.empty())
      std::ignore = spawn_process(late_removal(path_, script, std::move(folders)));
  }
}

void CheckpointFiles::set_path(const std::filesystem::path& checkpoints) {
  path_ = checkpoints;
  std::error_code none;
  if (std::filesystem::is_directory(path_, none))
    add(std::make_unique<Task>(Task{{}, kTidy, {path_.string()}}));
}

void CheckpointFiles::take_lock() {
  lock_ = open_for_lock(path_);
  if (lock_ && ::flock(lock_.get(), LOCK_SH | LOCK_NB) != 0) lock_ = {};
}

void CheckpointFiles::save(const std::string& job_id, const std::filesystem::path& from,
                           const std::string& id) {
  Task task{{"t " + job_id, "c " + id}, kCopy, {from.string(), folder(id).string()}, true};
  task.job_id = job_id;
  task.checkpoint = id;
  if (!is_checkpoint_id(id)) task.refused = kBadId;
  add(std::make_unique<Task>(std::move(task)));
}

void CheckpointFiles::copy(const std::string& from, const std::string& to) {
  Task task{{"c " + from, "c " + to}, kCopy, {folder(from).string(), folder(to).string()}, true};
  task.checkpoint = to;
  if (!is_checkpoint_id(from) || !is_checkpoint_id(to)) task.refused = kBadId;
  add(std::make_unique<Task>(std::move(task)));
}

void CheckpointFiles::remove(const std::string& id) {
  if (!is_checkpoint_id(id)) return;
  Task task{{"c " + id}, kRemove, {folder(id).string()}};
  task.checkpoint = id;
  add(std::make_unique<Task>(std::move(task)));
}

void CheckpointFiles::remove_folders(const std::string& job_id, const CheckpointFolders& folders) {
  Task task{{"t " + job_id}, kRemoveAll, {}};
  for (const std::string& folder : {folders.current, folders.old, folders.draft}) {
    if (::rmdir(folder.c_str()) != 0 && errno != ENOENT) task.arguments.push_back(folder);
  }
  if (task.arguments.empty()) return;  // most trials save nothing
  task.job_id = job_id;
  add(std::make_unique<Task>(std::move(task)));
}

TrialBackend::Deletions CheckpointFiles::unfinished_deletions() const {
  TrialBackend::Deletions all;
  for (const auto& task : tasks_) {
    if (task->answered) continue;
    if (!task->checkpoint.empty()) all.checkpoints.push_back(task->checkpoint);
    if (!task->job_id.empty()) all.trials.push_back(task->job_id);
  }
  return all;
}

void CheckpointFiles::cancel(const std::string& job_id) {
  for (const auto& task : tasks_) {
    if (!task->answered || task->job_id != job_id) continue;
    task->arguments.clear();  // empty arguments: do not start it
    if (task->process) task->process->kill();
  }
}

void CheckpointFiles::add(std::unique_ptr<Task> task) {
  tasks_.push_back(std::move(task));
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) run();
  });
}

void CheckpointFiles::run() {
  std::set<std::string> busy;
  // Stops at kAtOnce running tasks: with many tasks only the first few are looked at.
  for (auto it = tasks_.begin(); it != tasks_.end() && running_ < kAtOnce;) {
    Task& task = **it++;  // end() removes it
    const bool free = std::ranges::none_of(
        task.subjects, [&](const std::string& subject) { return busy.contains(subject); });
    busy.insert(task.subjects.begin(), task.subjects.end());
    const bool others_wait = task.script == kTidy;
    if (!task.process) {
      if (!free || !start(task)) continue;  // start() may have ended it
      ++running_;
    }
    if (others_wait) return;
  }
}

bool CheckpointFiles::start(Task& task) {
  if (task.answered) {
    std::error_code none;
    if (task.arguments.empty()) return end(task, "the trial was started again", 0), false;
    if (!task.refused.empty()) return end(task, task.refused, 0), false;
    const std::filesystem::path from = task.arguments[0];
    const UniqueFd folder(::open(from.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder || std::filesystem::is_empty(from, none)) {
      return end(task, task.job_id.empty() ? from.string() + " is not there" : "nothing saved", 0),
             false;
    }
    // A program will load the content, so it must belong to the user.
    if (auto ours = check_owner(folder.get(), from.string()); !ours) {
      return end(task, ours.error().message, 0), false;
    }
    if (auto made = make_private_directories(path_); !made) {
      return end(task, made.error().message, 0), false;
    }
    if (!lock_) take_lock();
  }
  ProcessSpec spec = task.script == kTidy ? late_removal(path_, kTidy, task.arguments)
                                          : shell(task.script, task.arguments);
  task.output = memory_file();
  task.errors = memory_file();
  spec.descriptors = {{1, task.output.get()}, {2, task.errors.get()}};
  if (task.answered && lock_) spec.descriptors.emplace_back(3, lock_.get());
  auto process = ChildProcess::spawn(io_, spec, [this, &task](ExitStatus status) {
    --running_;
    const std::string error = beginning_of(task.errors);
    const double bytes = std::strtod(beginning_of(task.output).c_str(), nullptr);
    end(task, status.success() ? "" : error.empty() ? to_text(status) : error, bytes);
    run();
  });
  if (!process) return end(task, process.error().message, 0), false;
  task.process = std::move(*process);
  return true;
}

void CheckpointFiles::end(Task& task, std::string error, double bytes) {
  if (task.answered) {
    if (!error.empty() && task.process && task.arguments.empty()) {
      error = "the trial was started again";
      add(std::make_unique<Task>(
          Task{{"c " + task.checkpoint}, kRemoveAll, {folder(task.checkpoint).string() + ".new"}}));
    }
    const bool full = says_no_room(error);
    on_saved_({task.job_id, task.checkpoint, error.empty() ? bytes : 0, std::move(error), 0, full});
  }
  // Not remove_if(), which would go through all of many tasks: this is one of the first.
  tasks_.erase(std::ranges::find(tasks_, &task, [](const auto& other) { return other.get(); }));
}

}  // namespace attune
