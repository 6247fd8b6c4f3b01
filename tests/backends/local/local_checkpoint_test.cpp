// Checkpoints of local trials.
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "tests/backends/local/local_fixture.h"

namespace attune::local_checkpoint_test {

using namespace test;

// Says what it finds in its checkpoint folder, and saves its attempt there.
constexpr char kSaves[] =
    "cd $ATTUNE_CHECKPOINT_DIR; echo found: $(cat state 2> /dev/null); "
    "mkdir -p deep; echo $NNI_TRIAL_SEQ_ID.$ATTUNE_ATTEMPT > state; echo 12345 > deep/weights";

// Of small files and folders: a block for itself, and at most one for what it holds (ext4, XFS;
// others keep that elsewhere).
bool is_size_of(double bytes, int entries) {
  return bytes >= 4096.0 * entries && bytes <= 2 * 4096.0 * entries;
}

std::string output(const LocalFixture& f, int trial = 0) {
  return read_text(f.trial(trial) / "stdout");
}

TEST_CASE("local checkpoints: a trial goes on from what was saved, and others may start from it") {
  LocalFixture f(kSaves);
  f.start(0, 0);
  REQUIRE(f.run_to_end(1));
  f.backend->save_checkpoint("t0", "t0-0");
  CHECK(f.stored.empty());  // never from inside a call
  REQUIRE(f.run_to_stored(1));
  CHECK(f.stored[0].error.empty());
  CHECK(f.stored[0].job_id == "t0");
  CHECK(f.stored[0].checkpoint == "t0-0");
  CHECK(is_size_of(f.stored[0].bytes, 4));
  f.start(0, 1, "t0-0");
  REQUIRE(f.run_to_end(2));
  f.start(1, 0, "t0-0");
  REQUIRE(f.run_to_end(3));
  CHECK(output(f, 0) == "found:\nfound: 0.0\n");
  CHECK(output(f, 1) == "found: 0.0\n");
  // The snapshot is as it was, and the trial's own folder is its own.
  CHECK(read_text(f.directory / "experiment/checkpoints/t0-0/state") == "0.0\n");
  CHECK(read_text(f.trial() / "checkpoint/state") == "0.1\n");
}

TEST_CASE("local checkpoints: one counts as what it takes of the disk") {
  LocalFixture f(
      "cd $ATTUNE_CHECKPOINT_DIR; case $NNI_TRIAL_SEQ_ID in 0) truncate -s 1T sparse;; "
      "1) for i in $(seq 1000); do : > empty.$i; done;; "
      "2) head -c 5000000 /dev/zero > full; ln full again;; esac");
  for (int i = 0; i < 3; ++i) {
    f.start(i, 0);
    REQUIRE(f.run_to_end(i + 1));
    f.backend->save_checkpoint(fmt::format("t{}", i), fmt::format("t{}-0", i));
    REQUIRE(f.run_to_stored(i + 1));
    REQUIRE(f.stored[i].error.empty());
  }
  CHECK(is_size_of(f.stored[0].bytes, 2));
  CHECK(f.stored[1].bytes >= 1000 * 4096);
  CHECK(f.stored[1].bytes < 2000 * 4096);
  CHECK(f.stored[2].bytes >= 5e6);
  CHECK(f.stored[2].bytes < 6e6);  // once, though it has two names
}

TEST_CASE("local checkpoints: one of another user is neither taken nor gone on from") {
  if (::geteuid() != 0) return;  // only root can give files away
  constexpr uid_t kNobody = 65534;
  LocalFixture f(kSaves);
  f.start(0, 0);
  REQUIRE(f.run_to_end(1));
  f.backend->save_checkpoint("t0", "t0-0");
  REQUIRE(f.run_to_stored(1));
  const auto give_away = [&](const fs::path& path) {
    REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);
  };
  give_away(f.directory / "experiment/checkpoints/t0-0");
  const auto started = f.try_start(trial_start(1, 0, "t0-0"));
  REQUIRE_FALSE(started);
  CHECK(started.error().message.find("t0-0 belongs to another user (65534)") != std::string::npos);
  give_away(f.trial() / "checkpoint");
  f.backend->save_checkpoint("t0", "t0-1");
  REQUIRE(f.run_to_stored(2));
  CHECK(f.stored[1].error.find("belongs to another user") != std::string::npos);
  // What others may write is the trial's affair.
  REQUIRE(::chown((f.trial() / "checkpoint").c_str(), 0, 0) == 0);
  fs::permissions(f.trial() / "checkpoint", fs::perms::all);
  f.backend->save_checkpoint("t0", "t0-2");
  REQUIRE(f.run_to_stored(3));
  CHECK(f.stored[2].error.empty());
}

TEST_CASE("local checkpoints: where nobody else keeps them what an attempt has saved stays") {
  LocalFixture f(kSaves);
  for (int attempt = 0; attempt < 3; ++attempt) {
    TrialStart start = trial_start(0, attempt);
    start.keep_checkpoint = true;
    REQUIRE(f.try_start(start));
    REQUIRE(f.run_to_end(attempt + 1));
    if (attempt == 1) {  // what is no folder is not kept
      fs::rename(f.trial() / "checkpoint", f.directory / "elsewhere");
      fs::create_directory_symlink(f.directory / "elsewhere", f.trial() / "checkpoint");
    }
  }
  CHECK(output(f) == "found:\nfound: 0.0\nfound:\n");
  CHECK(read_text(f.directory / "elsewhere/state") == "0.1\n");
}

TEST_CASE("local checkpoints: from scratch means without what an earlier attempt left") {
  LocalFixture f(kSaves);
  f.start(0, 0);
  REQUIRE(f.run_to_end(1));
  SECTION("a folder") {}
  SECTION("a link, which is removed and not followed") {
    std::ofstream(f.directory / "precious") << "x";
    fs::rename(f.trial() / "checkpoint", f.directory / "elsewhere");
    fs::create_directory_symlink(f.directory / "elsewhere", f.trial() / "checkpoint");
  }
  SECTION("a folder that nobody may read") {  // shows something only to a user who is not root
    fs::create_directories(f.trial() / "checkpoint/closed/inner");
    fs::permissions(f.trial() / "checkpoint/closed", fs::perms::none);
    fs::permissions(f.trial() / "checkpoint", fs::perms::none);
  }
  f.start(0, 1);
  REQUIRE(f.run_to_end(2));
  CHECK(output(f) == "found:\nfound:\n");
  CHECK(f.finished[1].how == Ending::succeeded);
  if (fs::exists(f.directory / "elsewhere")) {
    CHECK(read_text(f.directory / "elsewhere/state") == "0.0\n");
  }
}

TEST_CASE("local checkpoints: a running trial can be saved, twice at once") {
  LocalFixture f(std::string(kSaves) + "; cd ../../../..; echo ready > line; read x < go");
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  f.backend->save_checkpoint("t0", "a");
  f.backend->save_checkpoint("t0", "b");
  f.backend->copy_checkpoint("b", "c");
  f.backend->delete_checkpoint("a");
  f.backend->delete_checkpoint("never");
  REQUIRE(f.run_to_stored(3));
  for (const auto& [index, id] : {std::pair(0, "a"), std::pair(1, "b"), std::pair(2, "c")}) {
    CHECK(f.stored[index].checkpoint == id);
    CHECK(f.stored[index].error.empty());
    CHECK(is_size_of(f.stored[index].bytes, 4));
  }
  f.backend->save_checkpoint("t0", "d");  // so that the removal of a has had its turn
  f.backend->copy_checkpoint("a", "e");
  REQUIRE(f.run_to_stored(5));
  const auto& copied = f.stored[f.stored[3].checkpoint == "e" ? 3 : 4];
  CHECK(copied.error.find("not there") != std::string::npos);
  CHECK_FALSE(fs::exists(f.directory / "experiment/checkpoints/a"));
  CHECK(read_text(f.directory / "experiment/checkpoints/c/deep/weights") == "12345\n");
}

TEST_CASE("local checkpoints: what cannot be saved is told") {
  LocalFixture f("true");
  f.start();
  REQUIRE(f.run_to_end());
  f.backend->save_checkpoint("t0", "empty");
  REQUIRE(f.run_to_stored(1));
  CHECK(f.stored[0].error == "nothing saved");
  std::ofstream(f.trial() / "checkpoint/state") << "x";
  for (const char* id : {"../t0", "", ".", "a/b", "a.new", "a b"})
    f.backend->save_checkpoint("t0", id);
  REQUIRE(f.run_to_stored(7));
  for (int i = 1; i < 7; ++i) {
    CHECK(f.stored[i].error == "a checkpoint is named by letters, digits, '-' and '_'");
  }
  f.backend->save_checkpoint("t0", "a");
  f.backend->save_checkpoint("t0", "a");
  REQUIRE(f.run_to_stored(9));
  CHECK(f.stored[7].error.empty());
  CHECK(f.stored[8].error.empty());  // what is there is a leftover
  CHECK(read_text(f.directory / "experiment/checkpoints/a/state") == "x");
  std::ofstream(f.directory / "experiment/precious") << "x";
  f.backend->delete_checkpoint("../precious");
  f.backend->copy_checkpoint("../checkpoints/a", "b");
  REQUIRE(f.run_to_stored(10));
  CHECK_FALSE(f.stored[9].error.empty());
  CHECK(fs::exists(f.directory / "experiment/precious"));
}

TEST_CASE("local checkpoints: a checkpoint that cannot be restored keeps the trial from running") {
  LocalFixture f("echo ran; report FINAL 0 1");
  f.start(0, 0, "never-saved");
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::restore_failed);
  CHECK(f.finished[0].detail.find("never-saved") != std::string::npos);
  CHECK(f.finished[0].detail.ends_with("No such file or directory"));
  CHECK(f.reports.empty());
  CHECK(output(f).empty());
  const auto outside = f.try_start(trial_start(1, 0, "../../t0"));
  CHECK_FALSE(outside.has_value());
}

TEST_CASE("local checkpoints: a trial can be stopped while its checkpoint is restored") {
  LocalFixture f("echo ran; read x < never");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  fs::create_directories(f.directory / "experiment/checkpoints/big");
  for (int i = 0; i < 300; ++i) {
    std::ofstream(f.directory / "experiment/checkpoints/big" / std::to_string(i)) << "x";
  }
  f.start(0, 0, "big");
  f.backend->stop("t0");
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::stopped);
}

TEST_CASE("local checkpoints: what copies for a shim ends with it") {
  LocalFixture f("true");
  const fs::path saved = f.directory / "experiment/checkpoints/big";
  fs::create_directories(saved);
  std::ofstream(saved / "weights") << "x";
  // Whoever opens the file waits until we give up the lease.
  const UniqueFd weights(::open((saved / "weights").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::fcntl(weights.get(), F_SETSIG, SIGURG) == 0);  // which is ignored
  const bool leased = ::fcntl(weights.get(), F_SETLEASE, F_WRLCK) == 0;
  if (!leased && errno == EINVAL) {
    WARN("not tested: the file system has no leases");
    return;
  }
  REQUIRE(leased);
  f.start(0, 0, "big");
  REQUIRE(f.run_until([&] { return ::fcntl(weights.get(), F_GETLEASE) != F_WRLCK; }));
  const pid_t shim = pid_in_spool(f.trial() / "spool.0", "shim");
  const int copies = std::stoi(read_text(fmt::format("/proc/{0}/task/{0}/children", shim)));
  // glibc 2.36 declares pidfd_open without C linkage.
  const UniqueFd end(static_cast<int>(::syscall(SYS_pidfd_open, copies, 0)));
  REQUIRE(end);
  REQUIRE(::kill(shim, SIGKILL) == 0);
  pollfd waited{end.get(), POLLIN, 0};
  CHECK(::poll(&waited, 1, 600'000) == 1);
  CHECK_FALSE(fs::exists(f.trial() / ".attune-checkpoint-new/weights"));
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::lost);
}

TEST_CASE("local checkpoints: what a released trial saved for itself goes, its output stays") {
  LocalFixture f(kSaves);
  f.start();
  REQUIRE(f.run_to_end());
  f.backend->release("t0");
  f.backend->save_checkpoint("t0", "late");  // comes after the release
  REQUIRE(f.run_to_stored(1));
  CHECK(f.stored[0].error == "nothing saved");
  CHECK(output(f) == "found:\n");
}

TEST_CASE("local checkpoints: removals are finished also when the manager ends") {
  LocalFixture f("true");
  const fs::path checkpoints = f.directory / "experiment/checkpoints";
  for (int i = 0; i < 20; ++i) {  // more than are removed at once
    fs::create_directories(checkpoints / std::to_string(i) / "deep");
    for (int file = 0; file < 50; ++file) {
      std::ofstream(checkpoints / std::to_string(i) / "deep" / std::to_string(file)) << "x";
    }
  }
  const UniqueFd changes(::inotify_init1(IN_CLOEXEC));
  ::inotify_add_watch(changes.get(), checkpoints.c_str(), IN_DELETE);
  for (int i = 0; i < 20; ++i) f.backend->delete_checkpoint(std::to_string(i));
  if (GENERATE(false, true)) f.io.poll();  // the first ones are started
  f.backend.reset();
  pollfd change{changes.get(), POLLIN, 0};
  char buffer[4096];
  while (!fs::is_empty(checkpoints)) {
    REQUIRE(::poll(&change, 1, 600'000) == 1);
    REQUIRE(::read(changes.get(), buffer, sizeof buffer) > 0);
  }
}

TEST_CASE("local checkpoints: what is to be deleted is known until it is gone") {
  LocalFixture f("echo state > $ATTUNE_CHECKPOINT_DIR/file");
  f.start();
  REQUIRE(f.run_to_end());
  f.backend->save_checkpoint("t0", "old");
  REQUIRE(f.run_to_stored(1));
  CHECK(f.backend->unfinished_deletions().checkpoints.empty());
  f.backend->delete_checkpoint("old");
  f.backend->release("t0");
  CHECK(f.backend->unfinished_deletions().checkpoints == std::vector<std::string>{"old"});
  CHECK(f.backend->unfinished_deletions().trials == std::vector<std::string>{"t0"});
  f.backend->copy_checkpoint("old", "new");  // comes after the deletion
  REQUIRE(f.run_to_stored(2));
  CHECK_FALSE(fs::exists(f.directory / "experiment/checkpoints/old"));
  CHECK(f.backend->unfinished_deletions().checkpoints.empty());
  f.backend->save_checkpoint("t0", "late");  // comes after the release
  REQUIRE(f.run_to_stored(3));
  CHECK(f.backend->unfinished_deletions().trials.empty());
}

TEST_CASE("local checkpoints: what a killed manager left unfinished is removed") {
  TemporaryFolder folder;
  const fs::path checkpoints = folder.path / "experiment/checkpoints";
  for (const char* name : {"a.new", "b.old", "c"}) {
    fs::create_directories(checkpoints / name);
    std::ofstream(checkpoints / name / "state") << "x";
  }
  LocalFixture f(folder, "true");
  f.backend->copy_checkpoint("c", "a");
  REQUIRE(f.run_to_stored(1));
  CHECK(f.stored[0].error.empty());
  f.backend->copy_checkpoint("c", "b");
  REQUIRE(f.run_to_stored(2));
  CHECK_FALSE(fs::exists(checkpoints / "a.new"));
  CHECK_FALSE(fs::exists(checkpoints / "b.old"));
  CHECK(fs::exists(checkpoints / "c/state"));
}

}  // namespace attune::local_checkpoint_test
