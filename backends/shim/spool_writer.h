#pragma once
// Appends records to the spool (backends/spool.h).
#include <sys/types.h>

#include <string>
#include <string_view>

namespace attune::shim {

class SpoolWriter {
 public:
  explicit SpoolWriter(int fd) : fd_(fd) {}  // borrowed, open for appending, of an empty file

  // Whole or not at all; false when it could not be written (the disk is full).
  bool append(const char* type, std::string_view body);

  // Whether what hindered the last append() may pass: a disk that is full, or over a quota, a limit
  // of the files of a process, a device that fails.
  bool may_pass() const;

 private:
  int fd_;
  int error_ = 0;   // of the last append()
  off_t size_ = 0;  // of whole records
};

double unix_time();

}  // namespace attune::shim
