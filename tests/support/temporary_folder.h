#pragma once
#include <stdlib.h>

#include <filesystem>
#include <system_error>

namespace attune {

// Made anew, removed with everything in it. A process that the test started may still be writing
// there: what it adds meanwhile is removed, too, as long as that is a matter of a few files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/attune-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    constexpr int kRounds = 100;
    std::error_code error;
    for (int i = 0; i < kRounds; ++i) {
      std::filesystem::remove_all(path, error);
      if (error != std::errc::directory_not_empty) return;
    }
  }

  std::filesystem::path path;
};

}  // namespace attune
