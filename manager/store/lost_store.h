#pragma once
// Helps a manager whose attune.sqlite was deleted, moved or replaced while it was open. SQLite goes
// on to write into the open file, but nobody else could find that any more. So the manager makes a
// new file, and copies everything into it.
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"
#include "manager/store/sqlite.h"

namespace attune {

// The identities of attune.sqlite-wal and -shm, which SQLite keeps beside a file in WAL mode.
class SideFiles {
 public:
  static SideFiles of(const std::filesystem::path& file);

  // Removes the two files, if they are still the ones that of() has seen. Otherwise SQLite would
  // take them for those of a new file of that name.
  void remove(const std::filesystem::path& file) const;

 private:
  std::array<std::pair<dev_t, ino_t>, 2> files_{};
};

// Copies experiment number `experiment`, and all experiments that `to` lacks, from the open
// database into the one at the path `to`, which has the same tables. Rows of this experiment in
// `to` are older, and are replaced. On an error nothing is changed; it is one when `to` has another
// experiment under the same number, or this one under another number.
Result<void> copy_experiments(Database& from, const std::filesystem::path& to,
                              std::int64_t experiment);

}  // namespace attune
