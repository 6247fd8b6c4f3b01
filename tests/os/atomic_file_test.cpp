#include "os/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

namespace attune::atomic_file_test {

struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attune-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

TEST_CASE("a file is replaced as a whole, and is for its owner only") {
  const Folder folder;
  const std::string path = folder.path / "state";
  REQUIRE(write_file_atomically(path, "first"));
  const std::string large(300'000, 'x');
  REQUIRE(write_file_atomically(path, large));
  CHECK(read_file(path) == large);
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a write that fails leaves the former file, and names the place") {
  const Folder folder;
  const std::string path = folder.path / "state";
  REQUIRE(write_file_atomically(path, "first"));
  // A symbolic link in the place of the temporary file is not followed.
  std::filesystem::create_symlink("elsewhere", path + ".tmp");
  const auto written = write_file_atomically(path, "second");
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().message, Catch::Contains(path + ".tmp"));
  CHECK(read_file(path) == "first");
  CHECK_FALSE(std::filesystem::exists(folder.path / "elsewhere"));

  const auto nowhere = write_file_atomically((folder.path / "no" / "state").string(), "x");
  REQUIRE_FALSE(nowhere);
  CHECK_THAT(nowhere.error().message, Catch::Contains("No such file"));
  CHECK_FALSE(read_file((folder.path / "no").string()));
  const auto endless = read_file("/dev/zero", 1 << 20);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().message == "/dev/zero is larger than 1048576 bytes");
}

}  // namespace attune::atomic_file_test
