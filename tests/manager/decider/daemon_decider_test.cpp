// The manager's side of the pipe against a daemon that behaves, and ones that do not.
#include "manager/decider/daemon_decider.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/decider/daemon_program.h"
#include "tests/support/run_until.h"

namespace attune::daemon_decider_test {

using namespace std::chrono_literals;

class Fixture : public Decider::Listener {
 public:
  explicit Fixture(const std::string& mode, const std::string& limit = "1000",
                   bool resume = false) {
    ::signal(SIGPIPE, SIG_IGN);
    char name[] = "/tmp/attune-test-XXXXXX";
    directory = ::mkdtemp(name);
    DaemonOptions options;
    options.program = FAKE_DAEMON;
    options.parameters = json::object();
    options.search_space = json::object();
    options.directory = directory;
    options.resume = resume;
    options.environment = {"FAKE_DAEMON=" + mode, "FAKE_LIMIT=" + limit, "FAKE_LOG=" + log_path()};
    options.exit_grace = mode == "ignores-terminate" || mode == "stops-reading" ? 50ms : 60'000ms;
    decider = std::make_unique<DaemonDecider>(io, std::move(options), Log());
    const auto started = decider->start(*this);
    REQUIRE(started.has_value());
  }
  ~Fixture() override {
    decider.reset();
    std::filesystem::remove_all(directory);
  }

  void on_ready() override {
    ready = true;
    ++begun_anew;
  }
  void on_resumed() override { resumed = true; }
  void on_postponed(const std::string& why) override { said.push_back("postponed: " + why); }
  void on_warning(const std::string& text) override { warnings.push_back(text); }
  void on_proposal(ProposedTrial proposal) override { proposals.push_back(std::move(proposal)); }
  void on_exhausted(const std::string& why) override { exhausted.push_back(why); }
  void on_stop(const std::string& job, const std::string& why) override {
    stops.push_back(job + ": " + why);
  }
  void on_used_up(const std::string& job, const std::string& why) override {
    said.push_back("used up " + job + ": " + why);
  }
  void on_parameter(const std::string& job, std::int64_t index,
                    std::optional<ProposedTrial> proposal) override {
    said.push_back(
        fmt::format("{} parameter {}: {}", job, index, proposal ? proposal->text : "none"));
  }
  void on_pause(const std::string& job, const std::string& why) override {
    said.push_back("pause " + job + ": " + why);
  }
  void on_save(const std::string& job) override { said.push_back("save " + job); }
  void on_drop(const std::string& checkpoint) override { said.push_back("drop " + checkpoint); }
  void on_synced(const std::string& token) override { said.push_back("synced " + token); }
  void on_failure(Error error) override { failures.push_back(error.message); }
  void on_closed() override { closed = true; }

  bool run_until(const std::function<bool()>& enough) { return test::run_until(io, enough); }
  std::string failure() {
    REQUIRE(run_until([this] { return !failures.empty(); }));
    return failures[0];
  }

  std::string log_path() const { return (directory / "heard").string(); }
  // Whether all that was said so far has been dealt with, and brought these answers.
  bool settle(const std::vector<std::string>& expected) {
    const std::string token = "t" + std::to_string(++tokens);
    decider->sync(token);
    const bool synced =
        run_until([&] { return !said.empty() && said.back() == "synced " + token; });
    if (synced) said.pop_back();
    CHECK(said == expected);
    said.clear();
    return synced;
  }
  // The last command that the daemon has heard of this code.
  std::string heard(const std::string& code) const {
    std::ifstream file(log_path());
    std::string found;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(code + " ")) found = line.substr(code.size() + 1);
    }
    return found;
  }

  boost::asio::io_context io;
  std::filesystem::path directory;
  std::unique_ptr<DaemonDecider> decider;
  bool ready = false, resumed = false, closed = false;
  int begun_anew = 0;
  std::vector<std::string> warnings;
  std::vector<ProposedTrial> proposals;
  std::vector<std::string> exhausted, stops, failures, said;
  int tokens = 0;
};

std::string metric(const std::string& job, int value, const std::string& type = "PERIODICAL",
                   const std::string& id = "0") {
  return fmt::format(
      R"({{"parameter_id": {}, "trial_job_id": "{}", "type": "{}", "sequence": 0, "value": "{}"}})",
      id, job, type, value);
}

TEST_CASE("daemon decider: a conversation") {
  Fixture f("works", "3");
  REQUIRE(f.run_until([&] { return f.ready; }));
  f.decider->next(2);
  REQUIRE(f.run_until([&] { return f.proposals.size() == 2; }));
  CHECK(f.proposals[1].parameter_id == ParameterId(std::int64_t{1}));
  CHECK(f.proposals[1].parameters == json{{"x", 1}});
  CHECK(f.proposals[1].text == R"({"parameter_id": 1, "parameters": {"x":1}, "extra":1})");
  f.decider->on_add("t0", f.proposals[0]);
  f.decider->on_result("t0", metric("t0", 5));
  f.decider->on_result("t0", metric("t0", 101));
  REQUIRE(f.run_until([&] { return !f.stops.empty(); }));
  CHECK(f.stops[0] == "t0: above 100");
  f.decider->on_remove("t0", TrialEnd::Event::early_stopped);
  f.decider->next(2);
  REQUIRE(f.run_until([&] { return !f.exhausted.empty(); }));
  CHECK(f.proposals.size() == 3);
  f.decider->close();
  REQUIRE(f.run_until([&] { return f.closed; }));
  CHECK(f.failures.empty());
}

TEST_CASE("daemon decider: pause, resume and checkpoints") {
  Fixture f("works");
  REQUIRE(f.run_until([&] { return f.ready; }));
  f.decider->next(1);
  REQUIRE(f.settle({}));
  REQUIRE(f.proposals.size() == 1);
  f.decider->on_add("t0", f.proposals[0]);
  f.decider->on_result("t0", metric("t0", 77));
  REQUIRE(f.settle({"used up t0: 77 of 77"}));
  CHECK(f.decider->on_result("t0", metric("t0", 60)) == Action::keep_going);
  REQUIRE(f.settle({"save t0"}));
  f.decider->on_checkpoint("t0", "c1");
  f.decider->on_result("t0", metric("t0", 50));
  REQUIRE(f.settle({"drop c1", "pause t0: half of 100"}));
  f.decider->on_pause_failed("t0");
  f.decider->on_result("t0", metric("t0", 50));
  REQUIRE(f.settle({"pause t0: half of 100"}));
  CHECK(parse_json(f.heard("EN"))->at("event") == "PAUSE_FAILED");
  f.decider->on_paused("t0", "c2");
  f.decider->next(1);
  REQUIRE(f.settle({}));
  const json paused = parse_json(f.heard("EN")).value();
  CHECK(paused.at("event") == "PAUSED");
  CHECK(paused.at("checkpoint") == "c2");
  CHECK(paused.at("hyper_params") == f.proposals[0].text);
  REQUIRE(f.proposals.size() == 2);
  CHECK(f.proposals[1].resume_job == "t0");
  CHECK(f.proposals[1].checkpoint_from == "c2");
  f.decider->on_complete("t0", nullptr);
  REQUIRE(f.settle({}));
  const json end = parse_json(f.heard("EN")).value();
  CHECK(end.at("event") == "SUCCEEDED");
  CHECK_FALSE(end.contains("checkpoint"));
  CHECK(f.heard("FD").empty());
}

TEST_CASE("daemon decider: a trial asks for more parameters") {
  Fixture f("works");
  REQUIRE(f.run_until([&] { return f.ready; }));
  f.decider->next(1);
  REQUIRE(f.settle({}));
  f.decider->on_add("t0", f.proposals.at(0));
  const auto request = [&](int index) {
    f.decider->on_result(
        "t0", fmt::format(R"({{"trial_job_id":"t0","type":"REQUEST_PARAMETER","sequence":0,)"
                          R"("parameter_index":{}}})",
                          index));
  };
  request(1);
  REQUIRE(f.settle({R"(t0 parameter 1: {"parameter_id":7,"parameter_source":"algorithm",)"
                    R"("parameters":{"x":7},"trial_job_id":"t0","parameter_index":1})"}));
  request(2);
  REQUIRE(f.settle({"t0 parameter 2: none"}));
}

TEST_CASE("daemon decider: the result of a trial of the user's own is imported when it ends well") {
  Fixture f("works");
  REQUIRE(f.run_until([&] { return f.ready; }));
  const ProposedTrial own{
      .parameter_id = {},
      .parameters = {{"x", 3}},
      .text =
          R"({"parameter_id":null,"parameter_source":"customized","parameters":{"x":3},"extra":1})"};
  f.decider->on_add("t0", own);
  f.decider->on_result("t0", metric("t0", 1, "PERIODICAL", "null"));
  // The text goes on as it is: nobody reads it here.
  const std::string text = metric("t0", 8, "FINAL", "null");
  f.decider->on_final("t0", text, 3);
  SECTION("well") {
    f.decider->on_complete("t0", 2);
    REQUIRE(f.settle({}));
    CHECK(f.heard("FD") == R"([{"parameter":{"x":3},"value":"2","trialJobId":"t0"}])");
    CHECK(f.heard("ME") == text);
  }
  SECTION("badly") {
    f.decider->on_error("t0");
    REQUIRE(f.settle({}));
    CHECK(f.heard("FD").empty());
  }
  SECTION("without a result") {
    f.decider->on_add("t1", own);
    f.decider->on_complete("t1", nullptr);
    REQUIRE(f.settle({}));
    CHECK(f.heard("FD").empty());
  }
}

TEST_CASE("daemon decider: after a restart it says what there is") {
  Fixture f("works", "1000", /*resume=*/true);
  REQUIRE(f.run_until([&] { return f.ready; }));
  f.decider->import({{{{"x", 1}}, 0.5, "t1"}});
  const ProposedTrial old{.parameter_id = std::int64_t{4},
                          .parameters = {{"x", 4}},
                          .text = R"({"parameter_id":4,"parameters":{"x":4},"extra":1})"};
  const ProposedTrial waiting{
      .parameter_id = std::int64_t{5}, .parameters = {{"x", 5}}, .text = ""};
  f.decider->readopt({{"t4", old, false, ""}, {"t5", waiting, true, "c3"}});
  f.decider->update_search_space({{"y", 1}});
  f.decider->on_complete("t4", 1);
  REQUIRE(f.settle({}));
  CHECK(f.heard("mode") == "resume");
  CHECK(f.heard("FD") == R"([{"parameter":{"x":1},"value":"0.5","trialJobId":"t1"}])");
  CHECK(
      f.heard("AD") ==
      R"([{"parameter_id":4,"parameter_source":"resumed","parameters":{"x":4},"parameter_index":0,)"
      R"("trial_job_id":"t4"},{"parameter_id":5,"parameter_source":"resumed","parameters":{"x":5},)"
      R"("parameter_index":0,"trial_job_id":"t5","paused":true,"checkpoint":"c3"}])");
  CHECK(f.heard("SS") == R"({"y":1})");
  CHECK(parse_json(f.heard("EN"))->at("hyper_params") == old.text);
}

TEST_CASE("daemon decider: how it fails is told in the daemon's own words") {
  struct Row {
    std::string mode, message;
  };
  const Row row = GENERATE(values<Row>({
      {"dies", "fake_daemon ended early (exit code 3): no such tuner"},
      {"error", "fake_daemon ended early (exit code 2): the space is empty"},
      {"garbage", "broken command stream at byte 0"},
      {"closes", "fake_daemon closed its pipe"},
  }));
  CAPTURE(row.mode);
  Fixture f(row.mode);
  CHECK(f.failure().find(row.message) != std::string::npos);
  f.decider->next(1);  // nothing happens any more, and nothing breaks
  f.decider->close();
  f.io.restart();
  f.io.poll();
  CHECK(f.failures.size() == 1);
  CHECK_FALSE(f.closed);
}

TEST_CASE("daemon decider: one that stops reading is queued for, and can still be ended") {
  Fixture f("stops-reading");
  REQUIRE(f.run_until([&] { return f.ready; }));
  const std::string text = metric("t0", 5) + std::string(1000, ' ');
  int sent = 0;
  for (; !f.decider->congested() && sent < 100'000; ++sent) f.decider->on_result("t0", text);
  CHECK(sent < 100'000);
  f.decider->close();
  REQUIRE(f.run_until([&] { return f.closed; }));
  CHECK(f.failures.empty());
}

TEST_CASE("daemon decider: one that reads again makes room") {
  Fixture f("works");
  REQUIRE(f.run_until([&] { return f.ready; }));
  const std::string text = metric("t0", 5) + std::string(1000, ' ');
  while (!f.decider->congested()) f.decider->on_result("t0", text);
  REQUIRE(f.run_until([&] { return !f.decider->congested(); }));
  f.decider->close();
  REQUIRE(f.run_until([&] { return f.closed; }));
}

TEST_CASE("daemon decider: one that ignores Terminate is killed") {
  Fixture f("ignores-terminate");
  REQUIRE(f.run_until([&] { return f.ready; }));
  f.decider->close();
  REQUIRE(f.run_until([&] { return f.closed; }));
}

TEST_CASE("daemon decider: kill ends the conversation without a word") {
  Fixture f("works");
  REQUIRE(f.run_until([&] { return f.ready; }));
  f.decider->kill();
  f.decider->next(1);
  f.io.restart();
  f.io.run_for(50ms);  // returns as soon as there is nothing left to do
  CHECK(f.failures.empty());
  CHECK_FALSE(f.closed);
}

TEST_CASE("daemon program: found by option, beside us, in PATH") {
  const std::filesystem::path fake = FAKE_DAEMON;
  CHECK(find_daemon(fake, "/nowhere", "").value() == fake);
  CHECK_FALSE(find_daemon("/nowhere/attuned", "/", "").has_value());
  CHECK_FALSE(find_daemon("/tmp", "/", "").has_value());
  char name[] = "/tmp/attune-test-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name);
  std::filesystem::create_symlink(fake, folder / "attuned");
  CHECK(find_daemon("", folder, "").value() == folder / "attuned");
  CHECK(find_daemon("", "/nowhere", "/usr/nowhere:" + folder.string()).value() ==
        folder / "attuned");
  CHECK_FALSE(find_daemon("", "/nowhere", ":/nowhere:").has_value());
  std::filesystem::remove_all(folder);
}

TEST_CASE("daemon program: the direction comes from the arguments, else from the list") {
  const json list = list_algorithms(FAKE_DAEMON, {}).value();
  CHECK(maximizes({{"name", "TPE"}, {"classArgs", {{"optimize_mode", "maximize"}}}}, list,
                  "tuners") == true);
  CHECK(maximizes({{"name", "TPE"}}, list, "tuners") == false);
  CHECK(maximizes({{"name", "parzen"}, {"classArgs", nullptr}}, list, "tuners") == false);
  CHECK_FALSE(maximizes({{"name", "GP"}}, list, "tuners").has_value());
  CHECK_FALSE(maximizes({{"name", "TPE"}}, nullptr, "tuners").has_value());
  CHECK_FALSE(maximizes({{"className", "my.Tuner"}}, list, "tuners").has_value());
  CHECK_FALSE(list_algorithms("/bin/false", {}).has_value());
  CHECK_FALSE(list_algorithms("/bin/echo", {}).has_value());
}

}  // namespace attune::daemon_decider_test
