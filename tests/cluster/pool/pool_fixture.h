#pragma once
// A manager's backend on a coordinator, over real sockets.
#include "cluster/pool/backend/pool_backend.h"
#include "tests/cluster/pool/server_fixture.h"

namespace attune::test {

// A manager's side of it: everything that it fetched.
class PoolFixture : public ServerFixture {
 public:
  PoolFixture() { std::ofstream(folder.path / "experiment.json") << "{}"; }
  ~PoolFixture() { backend.reset(); }

  void start_backend() {
    PoolBackendOptions options;
    options.dial = dial();
    options.experiment_id = "e";
    options.key = test_key("e");
    options.experiment_file = folder.path / "experiment.json";
    options.least.cpu = 1;
    options.on_state = [this](const std::string& text) { states.push_back(text); };
    backend = std::make_unique<PoolBackend>(io, options, Rng(3), [this] { fetch(); });
    backend->set_path(folder.path / "experiment");
  }
  void fetch() {
    for (TrialEvent& event : backend->fetch_status_results()) {
      if (auto* report = std::get_if<TrialReport>(&event)) reports.push_back(std::move(*report));
      if (auto* place = std::get_if<TrialPlace>(&event)) places.push_back(std::move(*place));
      if (auto* problem = std::get_if<TrialProblem>(&event)) problems.push_back(problem->text);
      if (auto* saved = std::get_if<CheckpointStored>(&event)) stored.push_back(std::move(*saved));
      if (auto* end = std::get_if<TrialFinished>(&event)) ends.push_back(std::move(*end));
    }
  }
  // A trial on a worker of its own that has reported so often.
  void start_trial(std::size_t reported = 1) {
    start_server();
    start_worker("w");
    start_backend();
    REQUIRE(backend->start(trial_start(0)));
    REQUIRE(run_until([&] { return reports.size() == reported; }));
  }
  bool run_to_end(std::size_t trials = 1) {
    return run_until([&] { return ends.size() == trials; });
  }
  std::vector<std::string> values(const std::string& job = "t0") const {
    std::vector<std::string> texts;
    for (const TrialReport& report : reports) {
      if (report.job_id == job) texts.push_back(dump_json(report.metric.value));
    }
    return texts;
  }
  bool forgotten() {
    return run_until([&] { return server->coordinator().board().tasks().empty(); });
  }

  std::unique_ptr<PoolBackend> backend;
  std::vector<std::string> states, problems;
  std::vector<TrialReport> reports;
  std::vector<TrialPlace> places;
  std::vector<CheckpointStored> stored;
  std::vector<TrialFinished> ends;
};

}  // namespace attune::test
