#include "os/file_system.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "os/atomic_file.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_folder.h"

namespace attune::file_system_test {

constexpr FileSystem::Opening kNew{.write = true, .create = true};

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

TEST_CASE("files: bytes go where they are told and come from there") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "file";
  FileSystem& files = real_files();
  const UniqueFd fd = files.open(path, kNew).value();
  REQUIRE(write_all(files, fd.get(), path, "0123456789", 0));
  REQUIRE(write_all(files, fd.get(), path, "xy", 4));
  REQUIRE(files.flush(fd.get(), path));
  REQUIRE(files.flush_directory(folder.path));
  CHECK(read_all(files, fd.get(), path) == "0123xy6789");
  CHECK(read_range(files, fd.get(), path, 8, 20) == "89");
  REQUIRE(files.truncate(fd.get(), path, 5));
  CHECK(files.size(fd.get(), path) == 5);
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("files: what is missing or there already is said with its path") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "file";
  FileSystem& files = real_files();
  const auto missing = files.open(path, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "cannot open " + path + ": No such file or directory");
  REQUIRE(files.open(path, kNew));
  const auto exclusive = files.open(path, {.write = true, .create = true, .exclusive = true});
  REQUIRE_FALSE(exclusive);
  CHECK_THAT(exclusive.error().message, Catch::EndsWith("File exists"));
  REQUIRE(files.remove(path));
  CHECK(files.remove(path));  // nothing there: fine
  const auto renamed = files.rename(path, path + "2");
  REQUIRE_FALSE(renamed);
  CHECK_THAT(renamed.error().message, Catch::StartsWith("cannot rename to " + path + "2: "));
  const auto nowhere = files.flush_directory(path);
  REQUIRE_FALSE(nowhere);
  CHECK_THAT(nowhere.error().message, Catch::StartsWith("cannot flush " + path));
}

TEST_CASE("files: a symbolic link is not followed unless that is asked for") {
  const TemporaryFolder folder;
  const std::string link = folder.path / "link", file = folder.path / "file";
  FileSystem& files = real_files();
  std::filesystem::create_symlink("file", link);
  const auto refused = files.open(link, kNew);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains(link + ": it is a symbolic link"));
  CHECK_FALSE(std::filesystem::exists(file));
  const UniqueFd followed =
      files.open(link, {.write = true, .create = true, .follow = true, .mode = 0640}).value();
  CHECK(mode_of(file) == 0640);
  CHECK(files.is_at(followed.get(), file) == true);
  CHECK(files.is_at(followed.get(), link) == false);
}

TEST_CASE("files: a path names the open file until something else is there") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "file";
  FileSystem& files = real_files();
  const UniqueFd fd = files.open(path, kNew).value();
  CHECK(files.is_at(fd.get(), path) == true);
  REQUIRE(files.rename(path, path + "2"));
  CHECK(files.is_at(fd.get(), path) == false);
  CHECK(files.is_at(fd.get(), path + "2") == true);
  const UniqueFd other = files.open(path, kNew).value();
  CHECK(files.is_at(fd.get(), path) == false);
  CHECK(files.is_at(fd.get(), path + "2/below") == false);
}

TEST_CASE("files: one lock at a time and it ends with its file") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "file";
  FileSystem& files = real_files();
  UniqueFd first = files.open(path, kNew).value();
  const UniqueFd second = files.open(path, {}).value();
  CHECK(files.lock(first.get(), path) == true);
  CHECK(files.lock(second.get(), path) == false);
  first.reset();
  CHECK(files.lock(second.get(), path) == true);
}

TEST_CASE("files: directories are made with all above them for their owner only") {
  const TemporaryFolder folder;
  FileSystem& files = real_files();
  REQUIRE(files.make_directories(folder.path / "a" / "b" / "c"));
  CHECK(files.make_directories(folder.path / "a" / "b" / "c"));
  CHECK(files.make_directories((folder.path / "a" / "d").string() + "/"));
  CHECK(std::filesystem::is_directory(folder.path / "a" / "d"));
  CHECK(mode_of(folder.path / "a") == 0700);
  CHECK(mode_of(folder.path / "a" / "b" / "c") == 0700);
  REQUIRE(files.open(folder.path / "file", kNew));
  const auto file = files.make_directories(folder.path / "file");
  REQUIRE_FALSE(file);
  CHECK_THAT(file.error().message, Catch::EndsWith("file of that name"));
  CHECK_FALSE(files.make_directories(folder.path / "file" / "below"));
}

TEST_CASE("files: a write that goes nowhere is an error and no endless loop") {
  FaultyFiles files;
  const TemporaryFolder folder;
  const std::string path = folder.path / "file";
  const UniqueFd fd = files.open(path, kNew).value();
  files.limit_writes(3);
  REQUIRE(write_all(files, fd.get(), path, "0123456789", 0));
  CHECK(files.count(FileCall::write) == 4);
  CHECK(read_all(files, fd.get(), path) == "0123456789");
  files.limit_writes(0);
  CHECK_FALSE(write_all(files, fd.get(), path, "x", 0));
}

TEST_CASE("an atomic write that fails anywhere leaves one of the two files whole") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "state";
  for (std::size_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFiles files;
    REQUIRE(write_file_atomically(files, path, "the first"));
    const std::size_t before = files.count();
    files.limit_writes(4);
    files.fail({.nth = before + n, .error = EIO, .short_bytes = n % 3});
    const auto written = write_file_atomically(files, path, "the second");
    const std::string now = read_file(path).value();
    const bool renamed = now == "the second";
    CHECK((renamed || now == "the first"));
    for (const auto& file : files.after_power_loss(path)) {
      REQUIRE(file);
      CHECK((*file == "the first" || *file == "the second"));
      if (written) CHECK(*file == "the second");
    }
    if (files.count() < before + n) {
      CHECK(written);
      break;
    }
    REQUIRE_FALSE(written);
    CHECK_THAT(written.error().message, Catch::EndsWith("Input/output error"));
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  }
}

TEST_CASE("what a failed flush was to bring does not come with the next one") {
  // Of the model that the other tests trust.
  FaultyFiles files;
  const TemporaryFolder folder;
  const std::string path = folder.path / "file";
  const UniqueFd fd = files.open(path, kNew).value();
  CHECK(files.after_power_loss(path).front() == std::nullopt);
  REQUIRE(write_all(files, fd.get(), path, "ab", 0));
  REQUIRE(files.flush(fd.get(), path));
  CHECK(files.after_power_loss(path).front() == std::nullopt);  // its name is not there
  REQUIRE(files.flush_directory(folder.path));
  CHECK(files.after_power_loss(path).front() == "ab");
  REQUIRE(write_all(files, fd.get(), path, "cd", 2));
  files.fail_next(FileCall::flush, EIO);
  CHECK_FALSE(files.flush(fd.get(), path));
  REQUIRE(write_all(files, fd.get(), path, "ef", 4));
  CHECK(files.flush(fd.get(), path));
  CHECK(files.after_power_loss(path).front() == std::string("ab\0\0ef", 6));
}

}  // namespace attune::file_system_test
