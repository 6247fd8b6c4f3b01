#pragma once
// When attune.sqlite was deleted, moved or replaced while it was open: SQLite goes on with a file
// that has no name any more, and whoever comes later would find nothing of it.
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"
#include "manager/store/sqlite.h"

namespace attune {

// The two files that SQLite keeps beside one in WAL mode.
class SideFiles {
 public:
  static SideFiles of(const std::filesystem::path& file);

  // Removes those that are still these. Beside a new file they would be taken for its own.
  void remove(const std::filesystem::path& file) const;

 private:
  std::array<std::pair<dev_t, ino_t>, 2> files_{};
};

// Brings experiment number `experiment`, and those that `to` does not know, from the open database
// into the one at the path `to`, which has the same tables. What `to` knows of this experiment is
// older, and replaced. All of it or nothing.
Result<void> copy_experiments(Database& from, const std::filesystem::path& to,
                              std::int64_t experiment);

}  // namespace attune
