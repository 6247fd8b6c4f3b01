#pragma once
// A manager without trials, for the tests of what survives the death of either side.
#include <signal.h>

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manager/decider/daemon_decider.h"
#include "tests/manager/decider/memory_outbox.h"
#include "tests/support/run_until.h"
#include "tests/support/temporary_folder.h"

namespace attune {

// A manager that writes down what it hears, and commits after each event.
class RecordingManager : public Decider::Listener {
 public:
  explicit RecordingManager(std::vector<std::string> environment = {})
      : environment_(std::move(environment)) {
    ::signal(SIGPIPE, SIG_IGN);
    environment_.push_back("FAKE_JOURNAL=" + (folder.path / "journal").string());
    environment_.push_back("FAKE_LOG=" + (folder.path / "heard").string());
  }
  ~RecordingManager() override { decider.reset(); }

  void start(bool resume) {
    decider.reset();  // kills the daemon, too
    DaemonOptions options;
    options.program = FAKE_DAEMON;
    options.parameters = json::object();
    options.search_space = json::object();
    options.directory = folder.path;
    options.environment = environment_;
    options.resume = resume;
    options.outbox = &outbox;
    options.left = outbox.kept;
    options.most_restarts = most_restarts;
    options.ping_every = std::chrono::milliseconds(1);
    decider = std::make_unique<DaemonDecider>(io, std::move(options), Log());
    REQUIRE(decider->start(*this).has_value());
  }
  // Killed, together with its daemon: what was not committed never happened.
  void start_again() {
    decider.reset();
    outbox.roll_back();
    events = committed_events_;
    proposals = committed_proposals_;
    running = committed_running_;
    start(true);
  }
  void commit() {
    outbox.commit();
    committed_events_ = events;
    committed_proposals_ = proposals;
    committed_running_ = running;
  }
  bool run_until(const std::function<bool()>& enough, bool committing = true) {
    return test::run_until(io, enough, [&] {
      if (committing) commit();
    });
  }
  bool heard(std::size_t count) {
    return run_until([&] { return events.size() >= count || !failure.empty(); }) &&
           events.size() == count;
  }

  void add(const std::string& job, std::size_t proposal) {
    decider->on_add(job, proposals.at(proposal));
    running[job] = proposals[proposal];
  }

  void on_ready() override { ++anew; }
  void on_resumed() override {
    ++resumed;
    std::vector<Decider::Resumed> trials;
    for (const auto& [job, trial] : running) trials.push_back({job, trial, false, ""});
    decider->recall(trials);
  }
  void on_proposal(ProposedTrial proposal) override {
    events.push_back("proposal " + proposal.text);
    proposals.push_back(std::move(proposal));
  }
  void on_exhausted(const std::string& why) override { events.push_back("exhausted " + why); }
  void on_postponed(const std::string& why) override { postponed.push_back(why); }
  void on_parameter(const std::string&, std::int64_t, std::optional<ProposedTrial>) override {}
  void on_stop(const std::string& job, const std::string&) override {
    events.push_back("stop " + job);
  }
  void on_used_up(const std::string& job, const std::string&) override {
    events.push_back("used up " + job);
  }
  void on_pause(const std::string& job, const std::string&) override {
    events.push_back("pause " + job);
  }
  void on_save(const std::string& job) override { events.push_back("save " + job); }
  void on_drop(const std::string& checkpoint) override { events.push_back("drop " + checkpoint); }
  void on_synced(const std::string& token) override { events.push_back("synced " + token); }
  void on_warning(const std::string& text) override { warnings.push_back(text); }
  void on_failure(Error error) override { failure = error.message; }
  void on_closed() override { closed = true; }

  TemporaryFolder folder;
  boost::asio::io_context io;
  MemoryOutbox outbox;
  std::unique_ptr<DaemonDecider> decider;
  int most_restarts = 1000;
  std::vector<std::string> events, warnings, postponed;
  std::vector<ProposedTrial> proposals;
  std::map<std::string, ProposedTrial> running;
  std::string failure;
  bool closed = false;
  int anew = 0, resumed = 0;

 private:
  std::vector<std::string> environment_, committed_events_;
  std::vector<ProposedTrial> committed_proposals_;
  std::map<std::string, ProposedTrial> committed_running_;
};

}  // namespace attune
