#pragma once
#include <stdlib.h>

#include <filesystem>

namespace attune {

// Made anew, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/attune-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  std::filesystem::path path;
};

}  // namespace attune
