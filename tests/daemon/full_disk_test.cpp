// The real daemon whose journal cannot grow for a while. (The limit on the size of files stands for
// the full disk: it can be set from outside, and lifted again.)
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "protocol/codec.h"
#include "tests/support/daemon_process.h"
#include "tests/support/temporary_folder.h"

namespace attune::full_disk_test {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

void limit_files(const DaemonProcess& daemon, rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  REQUIRE(::prlimit(daemon.pid(), RLIMIT_FSIZE, &limit, nullptr) == 0);
}

struct Experiment {
  DaemonProcess start(std::optional<int> received = {}) const {
    json experiment = {{"tuner", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}}},
                       {"capabilities", {"reason"}}};
    if (received) experiment["resume"] = {{"received", *received}};
    return DaemonProcess(DaemonProcess::exp_params(experiment),
                         {{"NNI_MODE", received ? "resume" : "start"},
                          {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()},
                          {"NNI_LOG_LEVEL", "fatal"}});  // a log would meet the limit, too
  }
  TemporaryFolder folder;
};

std::string metric(int id) {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", "T" + std::to_string(id)},
                    {"type", "FINAL"},
                    {"sequence", 0},
                    {"value", "0.5"}});
}

TEST_CASE(
    "a full disk: no trial is begun that could not be remembered, and all goes on by itself") {
  const Experiment experiment;
  Frame trial;
  int received = 0;
  {
    DaemonProcess daemon = experiment.start();
    daemon.send("IN", kSpace);
    daemon.send("GE", "1");
    received = static_cast<int>(daemon.sync().size());  // TR and PO, without ID
    limit_files(daemon, std::filesystem::file_size(experiment.folder.path / "attuned.journal"));
    daemon.send("ME", metric(0));
    // The first that cannot be written shows it; what comes then is told so at once.
    daemon.send("GE", "1");
    daemon.send("GE", "1");
    std::optional<Frame> answer = daemon.receive();
    REQUIRE(answer);
    const auto no = std::get<NoMoreTrialJobs>(decode(*answer).value());
    CHECK(no.transient);
    CHECK_THAT(no.reason, Catch::Contains("attuned.journal") && Catch::Contains("make room"));
    limit_files(daemon, RLIM_INFINITY);
    do answer = daemon.receive();
    while (answer && answer->code == "NO");
    REQUIRE(answer);
    CHECK(answer->code == "TR");
    trial = *answer;
    ++received;
    daemon.signal(SIGKILL);
    daemon.wait();
  }
  DaemonProcess after = experiment.start(received - 1);
  after.send("IN", kSpace);
  const auto id = std::get<Initialized>(decode(*after.receive()).value());
  CHECK(id.through == 5);  // GE, PI, ME, GE, GE
  CHECK(after.receive() == trial);
}

TEST_CASE("a full disk: what was not written when the daemon is killed was not acknowledged") {
  const Experiment experiment;
  std::vector<Frame> heard;
  {
    DaemonProcess daemon = experiment.start();
    daemon.send("IN", kSpace);
    daemon.send("GE", "2");
    heard = daemon.sync();
    limit_files(daemon, std::filesystem::file_size(experiment.folder.path / "attuned.journal"));
    daemon.send("ME", metric(0));
    daemon.send("PI", "never answered");
    daemon.send("GE", "1");
    daemon.send("GE", "1");
    const auto no = daemon.receive();
    REQUIRE(no);
    CHECK(no->code == "NO");
    daemon.signal(SIGKILL);
    daemon.wait();
    for (const Frame& frame : daemon.receive_all()) CHECK(frame.code == "NO");
  }
  DaemonProcess after = experiment.start(3);  // two TR and a PO
  after.send("IN", kSpace);
  const auto id = std::get<Initialized>(decode(*after.receive()).value());
  CHECK(id.through == 2);  // GE, PI: the manager sends the rest again
  after.send("ME", metric(0));
  after.send("GE", "1");
  const auto next = after.receive();
  REQUIRE(next);
  CHECK(next->code == "TR");
}

}  // namespace attune::full_disk_test
