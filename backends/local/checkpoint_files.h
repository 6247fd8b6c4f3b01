#pragma once
// Stores checkpoints of local trials. A checkpoint is a directory <path>/checkpoints/<id>/, a copy
// of what a trial's checkpoint directory held. The programs cp and rm copy and remove, so that the
// thread of the io_context never waits for a disk.
//
// A save always copies (--reflink=auto: without cost if the file system can). Moving the directory
// of an ended trial would be quicker, but then a second checkpoint of it would be empty.
//
// The programs outlive a manager that is killed. So each copy holds a shared lock of the directory
// checkpoints/, and the next manager does nothing there before it has had the exclusive one. Else a
// late copy would make a checkpoint that nobody knows. A directory that others may open is not
// locked: they could hold the lock for ever.
//
// The size of a checkpoint is what it takes from the disk: the blocks of its files and directories,
// and 4096 bytes for each of them, because each takes one of the disk's limited inodes. A hole
// takes nothing, and a file with two names counts once.
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/checkpoint_folders.h"
#include "backends/trial_backend.h"
#include "os/process.h"
#include "os/unique_fd.h"

namespace attune {

// Whether `id` is 1 to 100 letters, digits, '-' and '_', without '-' at the beginning. So it is no
// path and no name of a hidden or temporary file.
bool is_checkpoint_id(std::string_view id);

class CheckpointFiles {
 public:
  // `on_saved` is called from `io`, never from inside a call.
  CheckpointFiles(boost::asio::io_context& io, std::function<void(CheckpointStored)> on_saved);
  ~CheckpointFiles();  // gives up running copies; removals continue without this process

  // Sets the directory. What was asked for afterwards waits until the programs of a killed manager
  // have ended, and until what they left unfinished, copies and removals, is removed.
  void set_path(const std::filesystem::path& checkpoints);
  std::filesystem::path folder(const std::string& id) const { return path_ / id; }

  // Calls for the same trial or the same checkpoint are carried out in the order of the calls.
  void save(const std::string& job_id, const std::filesystem::path& from, const std::string& id);
  void copy(const std::string& from, const std::string& to);
  void remove(const std::string& id);
  void remove_folders(const std::string& job_id, const CheckpointFolders& folders);
  TrialBackend::Deletions unfinished_deletions() const;  // of remove() and remove_folders()
  // The trial starts again, so its directory changes: waiting and running saves of it fail.
  void cancel(const std::string& job_id);

 private:
  struct Task;

  void add(std::unique_ptr<Task> task);
  void run();  // starts what can start
  bool start(Task& task);
  void end(Task& task, std::string error, double bytes);
  void finish_removals();
  void take_lock();

  boost::asio::io_context& io_;
  std::function<void(CheckpointStored)> on_saved_;
  std::filesystem::path path_;
  UniqueFd lock_;  // the shared one; the copies inherit it
  int running_ = 0;
  std::list<std::unique_ptr<Task>> tasks_;  // waiting and running, in the order of the calls
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
