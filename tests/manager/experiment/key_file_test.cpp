#include "manager/experiment/key_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace attune::key_file_test {

namespace fs = std::filesystem;
using Catch::Contains;

TEST_CASE("key file: the key stays") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "keys" / "w1";
  const auto key = keep_key(file);
  REQUIRE(key);
  CHECK(key->size() == 64);
  CHECK(keep_key(file).value() == *key);
  CHECK(keep_key(folder.path / "keys" / "w2").value() != *key);
  struct stat status{};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), {}) == 2);
}

TEST_CASE("key file: one that others can read or have made is refused") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "key";
  REQUIRE(keep_key(file));
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read);
  CHECK_THAT(keep_key(file).error().message, Contains(file.string()) && Contains("open to others"));
  fs::permissions(file, fs::perms::owner_all);
  std::ofstream(file) << "short\n";
  CHECK_THAT(keep_key(file).error().message, Contains(file.string()) && Contains("64 hexadecimal"));
  fs::remove(file);
  fs::create_symlink(folder.path / "other", file);
  CHECK_FALSE(keep_key(file));
  CHECK_FALSE(keep_key(file / "x"));
}

}  // namespace attune::key_file_test
