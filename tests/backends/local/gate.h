#pragma once
// What holds up a trial until a test lets it go on: a FIFO, from which `read x < go` reads a line.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "os/unique_fd.h"

namespace attune::test {

class Gate {
 public:
  explicit Gate(std::filesystem::path path) : path_(std::move(path)) {
    ::mkfifo(path_.c_str(), 0600);
  }
  // Lets so many of them pass, also such as come later. As long as this lives others wait at the
  // gate; before the first call they wait already when they open it.
  void let(int trials) {
    // For reading, too: opening does not wait, and lines stay when nobody reads.
    if (!file_) file_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    for (int i = 0; i < trials; ++i) REQUIRE(::write(file_.get(), "x\n", 2) == 2);
  }

 private:
  std::filesystem::path path_;
  UniqueFd file_;
};

}  // namespace attune::test
