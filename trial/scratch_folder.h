#pragma once
// A temporary folder for checkpoints that nobody keeps: made when it is first asked for, removed
// with everything in it by the destructor. One thread at a time.
#include <filesystem>

namespace attune {

class ScratchFolder {
 public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path();  // throws std::runtime_error: it cannot be made

 private:
  std::filesystem::path path_;
};

}  // namespace attune
