#pragma once
// Appends records to the spool (backends/report/spool.h).
#include <sys/types.h>

#include <string>
#include <string_view>

namespace attune::shim {

double unix_time();     // seconds since 1970-01-01 UTC; somebody may set this clock
double boot_seconds();  // seconds since the boot; nobody can set this clock

class SpoolWriter {
 public:
  using Now = double (*)();
  // `fd`: of an empty file, open for appending; the caller keeps it open.
  explicit SpoolWriter(int fd, Now wall = unix_time, Now steady = boot_seconds)
      : fd_(fd), steady_(steady), offset_(wall() - steady()) {}

  // Appends a record, whole or not at all. Returns false if it could not be written (the disk is
  // full).
  bool append(const char* type, std::string_view body);

  // Whether the reason of the last failure of append() may go away: a full disk, a quota, a
  // process's limit of file sizes, a failing device.
  bool may_pass() const;

 private:
  int fd_;
  Now steady_;
  double offset_;   // from steady_ to the wall clock at the beginning, so that times never jump
  int error_ = 0;   // of the last append()
  off_t size_ = 0;  // of whole records
};

}  // namespace attune::shim
