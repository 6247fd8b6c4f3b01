#pragma once
// Checkpoints of local trials: folders <path>/checkpoints/<id>/, each a copy of what a trial's
// checkpoint folder held. Copying and removing is done by cp and rm, so that the thread of the
// io_context never waits for a disk.
//
// A save always copies (--reflink=auto: at no cost where the file system can). Moving the folder of
// a trial that has ended would be quicker, but then a second checkpoint of it would be empty.
//
// The bytes of a checkpoint are what it takes of the disk: the blocks of its files and folders, and
// 4096 for each of them, as they take inodes of which a disk has only so many. A hole takes
// nothing, what has two names counts once.
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/trial_backend.h"
#include "os/process.h"

namespace attune {

// 1 to 100 letters, digits, '-' and '_': no path, no name of a hidden or temporary file.
bool is_checkpoint_id(std::string_view id);

class CheckpointFiles {
 public:
  // `on_saved` is called from `io`, never from inside a call.
  CheckpointFiles(boost::asio::io_context& io, std::function<void(CheckpointStored)> on_saved);
  ~CheckpointFiles();  // what is being copied is given up; removals go on without us

  // What a killed manager left unfinished there is removed.
  void set_path(const std::filesystem::path& checkpoints);
  std::filesystem::path folder(const std::string& id) const { return path_ / id; }

  // What concerns the same trial or the same checkpoint happens in the order of the calls.
  void save(const std::string& job_id, const std::filesystem::path& from, const std::string& id);
  void copy(const std::string& from, const std::string& to);
  void remove(const std::string& id);
  void remove_folder(const std::string& job_id, const std::filesystem::path& folder);
  // The trial starts again, and its folder changes: a save of it that is under way fails.
  void cancel(const std::string& job_id);

 private:
  struct Task;

  void add(std::unique_ptr<Task> task);
  void run();  // starts what can start
  bool start(Task& task);
  void end(Task& task, std::string error, double bytes);
  void finish_removals();

  boost::asio::io_context& io_;
  std::function<void(CheckpointStored)> on_saved_;
  std::filesystem::path path_;
  int running_ = 0;
  std::list<std::unique_ptr<Task>> tasks_;                      // waiting and running, in order
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
