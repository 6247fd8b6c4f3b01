#pragma once
// Where the control socket of an experiment is: <folder of the experiment>/control.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// The path of a Unix socket has at most about 100 bytes, but the folder's path may be longer. So
// `path` goes through a descriptor of the folder (/proc/self/fd), and is valid in this process for
// as long as this object lives. Error: the folder cannot be opened.
struct ControlAddress {
  UniqueFd folder;
  std::string path;
};
Result<ControlAddress> control_address(const std::filesystem::path& directory);

}  // namespace attune
