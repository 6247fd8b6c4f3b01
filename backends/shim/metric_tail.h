#pragma once
// Follows .nni/metrics: what the trial appends goes into the spool.
#include <sys/types.h>

#include <string>

#include "backends/shim/spool_writer.h"

namespace attune::shim {

// The trial owns the file and may do anything to it. A file that was made shorter is read again
// from its beginning, one that was replaced is read too; both are told as problems, once.
class MetricTail {
 public:
  MetricTail(const std::string& folder, SpoolWriter& spool);
  ~MetricTail();
  MetricTail(const MetricTail&) = delete;
  MetricTail& operator=(const MetricTail&) = delete;

  // Whether the kernel sends SIGIO when there may be something new: then look(). If not, do so
  // about every second.
  bool watched() const { return watched_; }
  bool look();  // also whether the file was replaced; as read()

  // Appends what is new to the spool, a bounded amount; true when there is more.
  bool read();
  void drain();  // up to where the file ends now
  // All that is there now: the trial and its children are dead.
  void finish();

 private:
  int open_file() const;
  void reopen();
  void complain(const char* text);

  std::string folder_, path_;
  SpoolWriter& spool_;
  int watch_ = -1;
  bool watched_ = false;
  int file_ = -1;
  off_t offset_ = 0;
  bool complained_ = false;
};

}  // namespace attune::shim
