#pragma once
// Follows .nni/metrics: what the trial appends goes into the spool.
#include <sys/types.h>

#include <string>

#include "backends/shim/spool_writer.h"

namespace attune::shim {

// The trial owns the file and may do anything to it. A file that was made shorter or rewritten is
// read again from its beginning, one that was replaced is read too; something else than a file is
// not read, and more than kMaxBytes are not. Each is told as a problem, once.
class MetricTail {
 public:
  // Of an attempt: some hundreds of thousands of metrics. A file may be sparse, a disk is not.
  static constexpr off_t kMaxBytes = 256 << 20;

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
  // All that is there now: the trial and its children are dead. False: the spool did not take it;
  // may be called again.
  bool finish();
  bool behind() const { return behind_; }  // the spool did not take what read() has found

 private:
  int open_file() const;
  void reopen();
  bool was_rewritten() const;
  void complain(bool& told, const std::string& text);

  std::string folder_, path_;
  SpoolWriter& spool_;
  int watch_ = -1;
  bool watched_ = false;
  int file_ = -1;
  off_t offset_ = 0;
  std::string last_;  // the bytes before offset_, at most kLast
  off_t copied_ = 0;  // of this attempt, into the spool
  bool behind_ = false;
  bool told_changed_ = false, told_no_file_ = false, told_too_much_ = false;
};

}  // namespace attune::shim
