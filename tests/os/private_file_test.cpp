// Files for their owner, and names that stay names.
#include "os/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::files_test {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

TEST_CASE("files: folders and files are made for their owner") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  const auto made = make_directories(folder.path / "a" / "b/");
  const auto file = open_private(folder.path / "a" / "file", O_WRONLY | O_CREAT);
  ::umask(before);
  REQUIRE(made.has_value());
  REQUIRE(file.has_value());
  CHECK(mode_of(folder.path / "a") == 0700);
  CHECK(mode_of(folder.path / "a" / "b") == 0700);
  CHECK(mode_of(folder.path / "a" / "file") == 0600);
  CHECK(make_directories(folder.path / "a" / "b").has_value());  // it is there
  CHECK_FALSE(make_directories(folder.path / "a" / "file").has_value());
  CHECK_FALSE(make_directories(folder.path / "a" / "file" / "b").has_value());
}

TEST_CASE("files: what is no regular file is not opened") {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "precious") << "x";
  fs::create_symlink(folder.path / "precious", folder.path / "link");
  fs::create_symlink(folder.path / "nothing", folder.path / "dangling");
  REQUIRE(::mkfifo((folder.path / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"link", "dangling", "fifo", "."}) {
    CAPTURE(name);
    CHECK_FALSE(open_private(folder.path / name, O_RDWR | O_CREAT | O_TRUNC).has_value());
  }
  CHECK(fs::file_size(folder.path / "precious") == 1);
  CHECK_FALSE(fs::exists(folder.path / "nothing"));
  CHECK(open_private(folder.path / "missing", O_RDWR).error().message.find("cannot open") == 0);
}

TEST_CASE("files: the last lines of a file, and of what is none") {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "file") << std::string(9000, 'x') << "\nfirst\nlast\n\n";
  std::ofstream(folder.path / "empty").close();
  REQUIRE(::mkfifo((folder.path / "fifo").c_str(), 0600) == 0);
  fs::create_symlink(folder.path / "file", folder.path / "link");
  CHECK(last_lines(folder.path / "file", 1) == "last");
  CHECK(last_lines(folder.path / "file", 2) == "first\nlast");
  CHECK(last_lines(folder.path / "file", 9).size() == 4094);
  for (const char* name : {"empty", "missing", "fifo", "link", "."}) {
    CAPTURE(name);
    CHECK(last_lines(folder.path / name, 5).empty());
  }
}

}  // namespace attune::files_test
