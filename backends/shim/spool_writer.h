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

 private:
  int fd_;
  off_t size_ = 0;  // of whole records
};

double unix_time();

}  // namespace attune::shim
