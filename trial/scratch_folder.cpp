#include "trial/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace attune {
namespace fs = std::filesystem;

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

const fs::path& ScratchFolder::path() {
  if (path_.empty()) {
    std::string pattern = (fs::temp_directory_path() / "attune-trial-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make " + pattern + ": " + std::strerror(errno));
    }
    path_ = pattern;
  }
  return path_;
}

}  // namespace attune
