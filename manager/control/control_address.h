#pragma once
// Where the control socket of an experiment is: <folder of the experiment>/control.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// A path of a socket holds about 100 bytes, that of a folder may be longer. `path` is short and
// leads there through a descriptor of the folder, for as long as this lives.
struct ControlAddress {
  UniqueFd folder;
  std::string path;
};
Result<ControlAddress> control_address(const std::filesystem::path& directory);

}  // namespace attune
