// Programs as plug-ins: one that behaves, and one that misbehaves in every way.
#include "plugins/process/process_plugin.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "space/parse.h"
#include "tests/support/temporary_folder.h"

namespace attune::process_plugin_test {

// Time passes when the test says so: then each look at the clock is too late.
struct RushingClock final : Clock {
  double now() const override { return rushes ? time += 1000 : time; }
  double wall() const override { return now(); }
  bool rushes = false;
  mutable double time = 0;
};

struct World {
  World() { ::signal(SIGPIPE, SIG_IGN); }

  Result<std::unique_ptr<Plugin>> open(const std::string& deed, const std::string& op) {
    return open_process_plugin(
        {.command = {"python3", "-B", HOSTILE_PLUGIN, deed, op, pids_}, .supervisor = ATTUNED},
        clock, Log());
  }
  std::unique_ptr<PluginTuner> tuner(const std::string& deed, const std::string& op) {
    plugin = open(deed, op).value();
    auto made = plugin->make_tuner(plugin->algorithms()[0], {{{"scale", 2.0}}, {}, 7});
    return *std::move(made);
  }

  // The error of one call of `op`, after which nothing may be left.
  std::string error(const std::string& deed, const std::string& op) {
    const auto made = tuner(deed, op);
    const auto failed = call(*made, op);
    REQUIRE(!failed);
    CHECK(left() == 0);
    return failed.error().message;
  }

  Result<void> call(PluginTuner& tuner, const std::string& op) {
    TRY(tuner.set_space(space));
    if (op == "ask") TRY(tuner.ask(std::vector<TrialId>{1}));
    if (op == "save") TRY(tuner.save());
    if (op == "report") TRY(tuner.on_report({.trial = 1, .metrics = {{"default", 1.0}}}));
    return {};
  }

  // How many of the processes that the programs have told of exist. Each has been reaped by its
  // supervisor, so there is nothing to wait for.
  int left() const {
    std::ifstream file(pids_);
    int count = 0, told = 0;
    for (pid_t pid = 0; file >> pid; ++told) count += ::kill(pid, 0) == 0;
    CHECK(told > 0);
    return count;
  }

  RushingClock clock;
  TemporaryFolder folder;
  std::string pids_ = folder.path / "pids";
  Space space = parse_space(json{{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}}).value();
  std::unique_ptr<Plugin> plugin;
};

TEST_CASE("a program: a tuner answers, saves, loads and restarts") {
  World world;
  const auto tuner = world.tuner("none", "none");
  REQUIRE(world.plugin->algorithms().size() == 2);
  const PluginDescription& said = world.plugin->algorithms()[0];
  CHECK((said.name == "Hostile" && said.summary == "Draws x" && said.saves));
  CHECK(said.arguments.at(0).fallback == 1.0);
  REQUIRE(tuner->set_space(world.space));
  const std::vector<TrialId> ids = {1, 2};
  const auto first = tuner->ask(ids).value();
  REQUIRE(first.size() == 2);
  CHECK(std::get<Proposal>(first[0]).reason == "drawn");
  const json state = tuner->save().value();
  const auto second = tuner->ask(ids).value();
  CHECK(tuner->withdraw(1));
  CHECK(tuner->adopt(-2, std::get<Proposal>(first[0]).point));
  CHECK(tuner->tell(std::vector<Outcome>{
      {.trial = 2, .point = std::get<Proposal>(first[1]).point, .loss = 0.5}}));
  CHECK(tuner->skip_ahead());
  const auto decisions = tuner->on_report({.trial = 2, .metrics = {{"default", NAN}}}).value();
  REQUIRE(decisions.size() == 1);
  CHECK((decisions[0].trial == 2 && decisions[0].action == Action::stop));
  CHECK(decisions[0].reason == "enough");
  REQUIRE(tuner->restart());
  REQUIRE(tuner->set_space(world.space));
  REQUIRE(tuner->load(state));
  const auto again = tuner->ask(ids).value();
  CHECK(std::get<Proposal>(again[0]).point == std::get<Proposal>(second[0]).point);
}

TEST_CASE("a program: an assessor gets each report once") {
  World world;
  const auto plugin = world.open("none", "none").value();
  const auto assessor = plugin->make_assessor(plugin->algorithms()[1], {}).value();
  std::vector<Report> reports(2, {.trial = 5, .metrics = {{"default", 0.5}}});
  CHECK(assessor->assess(5, reports).value().action == Action::keep_going);
  reports.resize(3, reports[0]);
  CHECK(assessor->assess(5, reports).value().action == Action::keep_going);
  CHECK(assessor->save().value()[0] == json{{0, 2}, {2, 1}});
  // A step was reported again: nobody says which.
  const Decision decision = assessor->assess(5, reports).value();
  CHECK((decision.trial == 5 && decision.action == Action::stop && decision.reason == "slow"));
  // After a restart the program has nothing.
  const json state = assessor->save().value();
  REQUIRE(assessor->restart());
  REQUIRE(assessor->load(state));
  CHECK(assessor->assess(5, reports).value().action == Action::stop);
  CHECK(assessor->save().value()[0] == json{{0, 2}, {2, 1}, {0, 3}, {0, 3}});
  CHECK(assessor->trial_end(5, End::stopped));
}

TEST_CASE("a program that misbehaves: the error says how, and nothing is left") {
  World world;
  CHECK(world.error("crash", "ask") ==
        R"(it has ended: exit code 3; its last line on stderr: "nothing goes")");
  CHECK(world.error("segv", "ask") == "it has ended: killed by signal 11 (Segmentation fault)");
  CHECK(world.error("partial", "ask") == "it has ended: exit code 0");
  CHECK_THAT(world.error("flood", "ask"),
             Catch::Matchers::Matches("its answer has more than 1114112 bytes: \"x{200}\".*"));
  CHECK_THAT(world.error("garbage", "ask"),
             Catch::Matchers::StartsWith("its answer is not JSON: "));
  CHECK(world.error("number", "ask") == "its answer must be an object, not an integer");
  CHECK(world.error("error", "ask") == R"(no data\x0a)");
  CHECK(world.error("twice", "ask") ==
        R"(it has written to stdout what nobody had asked for: "{"more": 1}")");
}

TEST_CASE("a program that lies: the error has the place") {
  World world;
  CHECK_THAT(world.error("nan", "ask"), Catch::Matchers::StartsWith("answers[0].parameters: "));
  CHECK_THAT(world.error("missing", "ask"), Catch::Matchers::StartsWith("answers[0].parameters: "));
  CHECK(world.error("many", "ask") == "answers: 2 answers to 1 ids");
  CHECK_THAT(world.error("typo", "ask"),
             Catch::Matchers::StartsWith(
                 R"(answers[0]: unknown member "bugdet"; did you mean "budget"?)"));
  CHECK(world.error("word", "ask") == R"(answers[0]: must be an object, "exhausted" or "not_yet")");
  CHECK_THAT(world.error("action", "report"),
             Catch::Matchers::StartsWith(R"(decisions[0].action: unknown action "halt")"));
  CHECK(world.error("state", "save") == "state: NaN and infinities cannot be saved");
}

TEST_CASE("a program that does not answer in time is ended") {
  World world;
  const auto tuner = world.tuner("hang", "ask");
  REQUIRE(tuner->set_space(world.space));
  CHECK(world.left() == 1);
  world.clock.rushes = true;
  CHECK(tuner->ask(std::vector<TrialId>{1}).error().message == "it has not answered within 60 s");
  CHECK(world.left() == 0);
  world.clock.rushes = false;
  CHECK(tuner->ask(std::vector<TrialId>{1}).error().message == "it does not run");
  REQUIRE(tuner->restart());
  CHECK(tuner->set_space(world.space));
}

TEST_CASE("a program that does not read is ended") {
  World world;
  const auto tuner = world.tuner("none", "none");
  json many = json::array();
  for (int i = 0; i < 100'000; ++i) many.push_back(i);  // more than a pipe holds
  world.clock.rushes = true;
  CHECK(tuner->set_space(parse_space(json{{"x", {{"_type", "choice"}, {"_value", many}}}}).value())
            .error()
            .message == "it has not read the request within 60 s");
  CHECK(world.left() == 0);
}

TEST_CASE("a program that closes its pipes is ended") {
  World world;
  CHECK(world.error("close_stdout", "ask") == "it has closed its stdout");
  const auto tuner = world.tuner("close_stdin", "init");
  REQUIRE(tuner->set_space(world.space));
  CHECK(tuner->skip_ahead().error().message == "it has closed its stdin");
  world.plugin.reset();
  CHECK(world.left() == 0);
}

TEST_CASE("a program that floods stderr is read") {
  World world;
  const auto tuner = world.tuner("whisper", "ask");
  REQUIRE(tuner->set_space(world.space));
  CHECK(tuner->ask(std::vector<TrialId>{1}));
}

TEST_CASE("what a program has started ends with it") {
  World world;
  {
    const auto tuner = world.tuner("fork", "none");
    REQUIRE(tuner->set_space(world.space));
    CHECK(world.left() == 3);
  }
  CHECK(world.left() == 0);
}

TEST_CASE("a program that cannot be opened") {
  World world;
  CHECK(world.open("protocol", "describe")
            .error()
            .message.ends_with(": describe: protocol: must be 1, not 2"));
  CHECK(world.open("long", "describe").error().message.size() < 3'000);
  CHECK(world.left() == 0);
  ProcessPluginSpec spec{.command = {"no-such-program", "--x"}, .supervisor = ATTUNED};
  CHECK(open_process_plugin(spec, world.clock, Log()).error().message ==
        "plug-in no-such-program --x: describe: it cannot be started: No such file or directory");
  CHECK(!open_process_plugin({.command = {}}, world.clock, Log()));
  spec.directory = "/no/such/folder";
  CHECK(!open_process_plugin(spec, world.clock, Log()));
}

}  // namespace attune::process_plugin_test
