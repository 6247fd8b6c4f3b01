#pragma once
// Appends records to the spool (backends/report/spool.h).
#include <sys/types.h>

#include <string>
#include <string_view>

namespace attune::shim {

double unix_time();     // seconds since 1970-01-01 UTC; somebody may set it
double boot_seconds();  // since the boot; nobody can

class SpoolWriter {
 public:
  using Now = double (*)();
  // `fd`: borrowed, open for appending, of an empty file.
  explicit SpoolWriter(int fd, Now wall = unix_time, Now steady = boot_seconds)
      : fd_(fd), steady_(steady), offset_(wall() - steady()) {}

  // Whole or not at all; false when it could not be written (the disk is full).
  bool append(const char* type, std::string_view body);

  // Whether what hindered the last append() may pass: a disk that is full, or over a quota, a limit
  // of the files of a process, a device that fails.
  bool may_pass() const;

 private:
  int fd_;
  Now steady_;
  double offset_;   // to the wall clock as it was at the beginning: times of records never jump
  int error_ = 0;   // of the last append()
  off_t size_ = 0;  // of whole records
};

}  // namespace attune::shim
