#pragma once
// Files that commands write for users (-o FILE).
#include <cstdio>
#include <functional>
#include <string>

#include "base/result.h"

namespace attune {

using WriteInto = std::function<Result<void>(std::FILE*)>;

// Calls `body`, and puts what it wrote at `path`, which appears when it is whole. A device or a
// FIFO is written into; a symbolic link to a file is refused. Errors name the path.
Result<void> write_file(const std::string& path, const WriteInto& body);

}  // namespace attune
