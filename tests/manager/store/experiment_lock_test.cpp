// One manager for an experiment, and how others see whether there is one.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>

#include "manager/store/experiment_lock.h"
#include "tests/support/temporary_folder.h"

namespace attune::experiment_lock_test {

TEST_CASE("lock: one manager at a time, and it is seen") {
  const TemporaryFolder folder;
  CHECK_FALSE(ExperimentLock::is_held(folder.path));
  {
    const auto lock = ExperimentLock::take(folder.path);
    REQUIRE(lock.has_value());
    CHECK(ExperimentLock::is_held(folder.path));
    const auto second = ExperimentLock::take(folder.path);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().message.find("a manager runs this experiment already") !=
          std::string::npos);
  }
  CHECK_FALSE(ExperimentLock::is_held(folder.path));
  CHECK(ExperimentLock::take(folder.path).has_value());
}

TEST_CASE("lock: dies with its process") {
  const TemporaryFolder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = ExperimentLock::take(folder.path);
    if (::write(ready[1], lock ? "1" : "0", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char answer = '0';
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(answer == '1');
  CHECK(ExperimentLock::is_held(folder.path));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(ExperimentLock::is_held(folder.path));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("lock: a FIFO in its place holds up nobody") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder.path / "lock").c_str(), 0600) == 0);
  CHECK_FALSE(ExperimentLock::is_held(folder.path));
  ExperimentLock::await_free(folder.path);
  CHECK_FALSE(ExperimentLock::take(folder.path).has_value());
}

TEST_CASE("lock: a folder where others may write is not one to run in") {
  const TemporaryFolder folder;
  REQUIRE(::chmod(folder.path.c_str(), 0777) == 0);
  const auto lock = ExperimentLock::take(folder.path);
  REQUIRE_FALSE(lock.has_value());
  CHECK(lock.error().message.find(folder.path.string() + " can be written by other users") == 0);
}

TEST_CASE("lock: a folder that is gone has no manager") {
  CHECK_FALSE(ExperimentLock::is_held("/nowhere/at/all"));
  CHECK_FALSE(ExperimentLock::take("/nowhere/at/all").has_value());
}

}  // namespace attune::experiment_lock_test
