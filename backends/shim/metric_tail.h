#pragma once
// Follows .nni/metrics, and copies what the trial appends into the spool.
#include <sys/types.h>

#include <string>

#include "backends/shim/spool_writer.h"

namespace attune::shim {

// The trial owns the file and may do anything to it. If the file was made shorter or rewritten, it
// is read again from its beginning. If it was replaced, the new one is read too. Anything else than
// a regular file is not read, nor are more than kMaxBytes. A changed file, one that is not regular,
// and too many bytes are reported as problems, each once.
class MetricTail {
 public:
  // Of an attempt: enough for some hundreds of thousands of metrics. The limit is needed because a
  // file may be sparse, but its copy is not.
  static constexpr off_t kMaxBytes = 256 << 20;

  MetricTail(const std::string& folder, SpoolWriter& spool);
  ~MetricTail();
  MetricTail(const MetricTail&) = delete;
  MetricTail& operator=(const MetricTail&) = delete;

  // Whether the kernel sends SIGIO when there may be something new; then call look(). Otherwise
  // call look() about once a second.
  bool watched() const { return watched_; }
  bool look();  // checks for a new file, then calls read()

  // Appends a bounded amount of new bytes to the spool; returns true if there is more.
  bool read();
  void drain();  // reads up to the present end of the file
  // Reads all that is there; the trial and its children are dead. Returns false if the spool did
  // not take it; it may be called again.
  bool finish();
  // The trial was told to end: no report waits for its decision any more.
  void end_waits() const;
  bool behind() const { return behind_; }  // the spool did not take what read() found

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
  off_t copied_ = 0;  // bytes of this attempt that are in the spool
  bool behind_ = false;
  bool told_changed_ = false, told_no_file_ = false, told_too_much_ = false;
};

}  // namespace attune::shim
