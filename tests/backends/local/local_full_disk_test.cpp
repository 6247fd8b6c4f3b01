// What a trial has done while the disk was full.
#include <sys/resource.h>

#include "tests/backends/local/local_fixture.h"

namespace attune::local_full_disk_test {

using namespace test;

// No file of the shim may grow any more; that of its standard output is shorter than the spool.
void fill_disk_of(const LocalFixture& local, rlim_t limit) {
  const pid_t shim = pid_in_spool(local.trial() / "spool.0", "shim");
  rlimit limits{};
  REQUIRE(::prlimit(shim, RLIMIT_FSIZE, nullptr, &limits) == 0);
  limits.rlim_cur = limit;
  REQUIRE(::prlimit(shim, RLIMIT_FSIZE, &limits, nullptr) == 0);
}

TEST_CASE("reports: a disk that is full to the end of the trial costs no result") {
  const bool lines = GENERATE(true, false);
  CAPTURE(lines);
  TemporaryFolder other;
  const fs::path fifo = other.path / "go", alive = other.path / "alive";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Lifeline life(alive);
  LocalFixture local("exec 9> " + alive.string() + "; read x < " + fifo.string() + "; echo r 1; " +
                         (lines ? "" : "report PERIODICAL 0 1; report FINAL 0 1; ") +
                         "printf x >&9",
                     [&](LocalBackendOptions& own) {
                       if (!lines) return;
                       own.report.how = ReportRules::How::lines;
                       own.report.patterns = {{R"(r (?<default>\S+))", OutputStream::out}};
                     });
  local.start();
  const fs::path spool = local.trial() / "spool.0";
  REQUIRE(local.run_until([&] { return read_text(spool).find("start ") != std::string::npos; }));
  fill_disk_of(local, fs::file_size(spool));
  std::ofstream(fifo) << "go\n";
  REQUIRE(life.wait_for_byte());
  REQUIRE(life.wait_for_end());
  REQUIRE(local.run_until([&] { return read_text(local.trial() / "stdout") == "r 1\n"; }));
  CHECK(local.finished.empty());
  CHECK(local.reports.empty());
  SECTION("until there is room") {
    fill_disk_of(local, RLIM_INFINITY);
    REQUIRE(local.run_to_end());
    CHECK(local.finished[0].how == Ending::succeeded);
    CHECK(local.problems.empty());
    CHECK(local.reports.size() == 2);
  }
  SECTION("until it is killed") {
    local.backend->kill_all();
    REQUIRE(local.run_to_end());
    CHECK(local.reports.empty());
  }
}

TEST_CASE("local checkpoints: what does not fit on the disk is waited for") {
  LocalFixture local("wc -c < $ATTUNE_CHECKPOINT_DIR/weights; report FINAL 0 1");
  const fs::path saved = local.directory / "experiment/checkpoints/big";
  fs::create_directories(saved);
  std::ofstream(saved / "epoch") << "7";
  std::ofstream(saved / "weights") << std::string(1 << 20, 'w');
  rlimit all{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &all) == 0);
  const rlimit little{256 << 10, all.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  local.start(0, 0, "big");  // its shim has the limit, too
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &all) == 0);
  const fs::path spool = local.trial() / "spool.0";
  REQUIRE(local.run_until([&] { return !local.problems.empty() || !local.finished.empty(); }));
  CAPTURE(read_text(spool));
  REQUIRE(local.finished.empty());
  SECTION("until there is room") {
    fill_disk_of(local, RLIM_INFINITY);
    REQUIRE(local.run_to_end());
    CHECK(local.finished[0].how == Ending::succeeded);
    CHECK(read_text(local.trial() / "stdout").find("1048576") != std::string::npos);
    REQUIRE(local.problems.size() == 1);
    CHECK(local.problems[0].find("its checkpoint waits for room") != std::string::npos);
  }
  SECTION("until it is stopped") {
    local.backend->stop("t0");
    REQUIRE(local.run_to_end());
    CHECK(local.finished[0].how == Ending::stopped);
    CHECK(local.reports.empty());
    // Half a copy is nothing that the trial has saved; its next attempt would start from it.
    local.backend->save_checkpoint("t0", "t0-0");
    REQUIRE(local.run_to_stored(1));
    CHECK(local.stored[0].error == "nothing saved");
    if (GENERATE(true, false)) {
      local.start(0, 1, "big");
      REQUIRE(local.run_to_end(2));
      CHECK(local.finished[1].how == Ending::succeeded);
      CHECK(fs::file_size(local.trial() / "checkpoint/weights") == 1 << 20);
    }
    local.backend->release("t0");
    local.backend->save_checkpoint("t0", "t0-1");  // comes after the release
    REQUIRE(local.run_to_stored(2));
    for (const fs::directory_entry& left : fs::directory_iterator(local.trial()))
      CHECK(left.path().filename().string().find("checkpoint") == std::string::npos);
  }
}

}  // namespace attune::local_full_disk_test
