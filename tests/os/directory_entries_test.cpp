#include "os/directory_entries.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::directory_entries_test {

TEST_CASE("the entries of a folder, and none of what is no folder") {
  const TemporaryFolder folder;
  CHECK(entries_of(folder.path).empty());
  std::ofstream(folder.path / "file") << "x";
  CHECK(entries_of(folder.path) == std::vector{folder.path / "file"});
  CHECK(entries_of(folder.path / "file").empty());
  CHECK(entries_of(folder.path / "none").empty());
  std::filesystem::create_symlink("loop", folder.path / "loop");
  CHECK(entries_of(folder.path / "loop").empty());
}

}  // namespace attune::directory_entries_test
