// The tuner `auto` learns from reports and a checkpoint that trials can be paused, also across a
// kill of the daemon. In an experiment that an earlier attuned began, it does not.
#include <filesystem>
#include <fstream>
#include <memory>

#include "journal/codec.h"
#include "os/atomic_file.h"
#include "tests/daemon/resume_helpers.h"

namespace attune::learnt_fidelity_test {

struct Pausing : Experiment {
  DaemonProcess begin(const std::string& mode, const json& shared = {}) const {
    json experiment = {{"tuner", {{"name", "auto"}, {"classArgs", {{"seed", 3}}}}},
                       {"capabilities", {"sync", "pause", "checkpoint", "reason"}}};
    if (!shared.is_null()) experiment["resume"] = shared;
    return DaemonProcess(DaemonProcess::exp_params(experiment),
                         {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
  }

  // Takes the word `pauses` from the header, as if an earlier attuned had written it.
  void age() const {
    const std::string bytes = read_file(file()).value();
    RecordScanner records(bytes);
    std::string aged;
    while (auto record = records.next().value()) {
      json header;
      if (aged.empty()) header = parse_json(record->payload).value();
      if (aged.empty()) CHECK(header.erase("pauses") == 1);
      encode_record(record->kind, aged.empty() ? dump_json(header) : std::string(record->payload),
                    aged);
    }
    std::ofstream(file(), std::ios::binary) << aged;
  }
};

std::string report(int id, int iteration) {
  const std::string value = dump_json({{"default", 5}, {"training_iteration", iteration}});
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", "T" + std::to_string(id)},
                    {"type", "PERIODICAL"},
                    {"sequence", iteration - 1},
                    {"value", value}});
}

// The codes of all answers; of a decision also the job.
std::string said(DaemonProcess& daemon) {
  std::string all;
  for (const Frame& frame : daemon.sync()) {
    all += frame.code;
    const json payload = parse_json(frame.payload).value_or(nullptr);
    if (payload.is_string()) all += " " + payload.get<std::string>();
    if (payload.contains("trial_job_id")) all += " " + payload["trial_job_id"].get<std::string>();
    all += "; ";
  }
  return all;
}

void kill(DaemonProcess& daemon) {
  daemon.signal(SIGKILL);
  daemon.wait();
}

TEST_CASE("auto pauses trials once one has saved a checkpoint, and after a kill") {
  const Pausing experiment;
  {
    DaemonProcess daemon = experiment.begin("start");
    daemon.send("IN", kSpace);
    daemon.send("GE", "2");
    CHECK(said(daemon) == "ID; TR; TR; ");
    daemon.send("ME", report(0, 1));
    CHECK(said(daemon) == "CP T0; ");
    daemon.send("CK", R"({"trial_job_id":"T0","checkpoint":"c1"})");
    CHECK(said(daemon).empty());
    kill(daemon);
  }
  DaemonProcess daemon = experiment.begin("resume", {{"received", 4}});
  daemon.send("IN", kSpace);
  said(daemon);
  daemon.send("ME", report(1, 1));
  CHECK(said(daemon) == "PA T1; CD; ");
}

TEST_CASE("auto goes on without pauses where an earlier attuned began") {
  const Pausing experiment;
  {
    DaemonProcess daemon = experiment.begin("start");
    daemon.send("IN", kSpace);
    daemon.send("GE", "1");
    CHECK(said(daemon) == "ID; TR; ");
    kill(daemon);
  }
  const bool aged = GENERATE(true, false);
  if (aged) experiment.age();
  DaemonProcess daemon = experiment.begin("resume", {{"received", 2}});
  daemon.send("IN", kSpace);
  said(daemon);
  daemon.send("ME", report(0, 1));
  CHECK(said(daemon) == (aged ? "" : "CP T0; "));
}

// Of several objectives, one with a limit, trials pause from the start where the end is known.
TEST_CASE("auto goes on with several objectives and a limit after a kill") {
  const Experiment experiment;
  const auto begin = [&](const std::string& mode, const json& shared) {
    json all = {{"tuner", {{"name", "auto"}, {"classArgs", {{"seed", 3}, {"max_t", 9}}}}},
                {"objectives",
                 {{{"metric", "default"}, {"mode", "minimize"}},
                  {{"metric", "size"}, {"mode", "minimize"}},
                  {{"metric", "bytes"}, {"mode", "minimize"}, {"limit", 10}}}},
                {"capabilities", {"sync", "pause", "checkpoint", "reason"}}};
    if (!shared.is_null()) all["resume"] = shared;
    return std::make_unique<DaemonProcess>(
        DaemonProcess::exp_params(all),
        std::map<std::string, std::string>{
            {"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
  };
  const auto report_of = [](int id, double loss, double size, double bytes) {
    return dump_json(
        {{"parameter_id", id},
         {"trial_job_id", "T" + std::to_string(id)},
         {"type", "PERIODICAL"},
         {"sequence", 0},
         {"value",
          dump_json(
              {{"default", loss}, {"size", size}, {"bytes", bytes}, {"training_iteration", 1}})}});
  };
  const bool killed = GENERATE(false, true);
  auto daemon = begin("start", nullptr);
  daemon->send("IN", kSpace);
  daemon->send("GE", "3");
  CHECK(said(*daemon) == "ID; TR; TR; TR; ");
  daemon->send("ME", report_of(0, 0.5, 7, 12));
  CHECK(said(*daemon) == "PA T0; ");
  if (killed) {
    kill(*daemon);
    daemon = begin("resume", {{"received", 6}});
    daemon->send("IN", kSpace);
    said(*daemon);
  }
  daemon->send("ME", report_of(1, 0.6, 6, 12.5));
  CHECK(said(*daemon) == "PA T1; ");
  daemon->send("ME", report_of(2, 0.9, 9, 10));
  CHECK(said(*daemon) == "PA T2; KI T0; KI T1; ");
}

}  // namespace attune::learnt_fidelity_test
