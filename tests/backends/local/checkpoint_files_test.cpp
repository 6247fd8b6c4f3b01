// Copies that outlive a manager that was killed.
#include "backends/local/checkpoint_files.h"

#include <fcntl.h>
#include <sys/file.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::checkpoint_files_test {

namespace fs = std::filesystem;

// A folder of checkpoints that the copy of a killed manager still has locked.
class World {
 public:
  World() {
    fs::create_directories(path);
    fs::permissions(path, fs::perms::owner_all);
    fs::create_directories(folder.path / "trial");
    std::ofstream(folder.path / "trial" / "model") << "weights";
    late_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(late_.get(), LOCK_SH) == 0);
  }
  // The copy ends, and leaves this behind.
  void end_late_copy(const std::string& name) {
    fs::create_directory(path / name);
    late_ = {};
  }
  bool has(const std::string& name) const { return fs::exists(path / name); }

  TemporaryFolder folder;
  fs::path path = folder.path / "checkpoints";
  boost::asio::io_context io;
  std::vector<CheckpointStored> saved;

 private:
  UniqueFd late_;
};

TEST_CASE("checkpoint files: the copies of a killed manager end before anything is done") {
  World w;
  CheckpointFiles files(w.io, [&](const CheckpointStored& one) { w.saved.push_back(one); });
  files.set_path(w.path);
  files.remove("t0000-1");
  files.save("t0001", w.folder.path / "trial", "t0001-1");
  w.io.poll();
  CHECK(w.saved.empty());
  SECTION("it was nearly done") { w.end_late_copy("t0000-1"); }
  SECTION("it was killed") { w.end_late_copy("t0000-2.new"); }
  while (w.saved.empty()) REQUIRE(w.io.run_one_for(std::chrono::minutes(4)) == 1);
  CHECK(w.saved[0].error.empty());
  CHECK(w.has("t0001-1"));
  CHECK_FALSE(w.has("t0000-2.new"));
  w.io.run();
  CHECK_FALSE(w.has("t0000-1"));
}

TEST_CASE("checkpoint files: removals that go on without the manager wait for such copies, too") {
  World w;
  {
    CheckpointFiles files(w.io, [](const CheckpointStored&) {});
    files.set_path(w.path);
    files.remove("t0000-1");
    if (GENERATE(false, true)) w.io.poll();
  }
  w.end_late_copy("t0000-1");
  // Who gets the lock after these removals sees what they have done.
  const UniqueFd lock(::open(w.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (w.has("t0000-1")) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
    REQUIRE(::flock(lock.get(), LOCK_UN) == 0);
  }
}

}  // namespace attune::checkpoint_files_test
