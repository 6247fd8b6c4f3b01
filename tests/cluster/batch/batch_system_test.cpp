// The batch system in front of commands that a shell plays.
#include <catch2/catch.hpp>
#include <fstream>
#include <optional>

#include "cluster/batch/command_batch_system.h"
#include "tests/support/temporary_folder.h"

namespace attune::batch_system_test {

// Jobs are lines of a file; a submission appends one after running `before`.
class ShellCommands final : public BatchCommands {
 public:
  explicit ShellCommands(const std::filesystem::path& folder) : file_(folder / "jobs") {}

  std::expected<CommandLine, BatchRefusal> submit(const BatchJob& job) const override {
    if (job.name.empty()) return std::unexpected(BatchRefusal{true, "name", "no name"});
    return shell("echo " + job.name + " >>" + file_.string() + "; " + job.script);
  }
  BatchSubmission submitted(const CommandEnd& end) const override {
    if (end.success()) return BatchAccepted{"new", false};
    return std::unexpected(BatchRefusal{false, "", "lost"});
  }
  CommandLine list(const std::vector<std::string>& names) const override {
    return shell("echo " + std::to_string(names.size()) + " >>" + file_.string() + ".looks; cat " +
                 file_.string());
  }
  Result<BatchStates> listed(const CommandEnd& end) const override {
    if (!end.success()) return fail("no list");
    BatchStates states;
    for (std::size_t at = 0; at < end.output.size();) {
      const std::size_t stop = end.output.find('\n', at);
      states[end.output.substr(at, stop - at)].id = "old";
      at = stop + 1;
    }
    return states;
  }
  std::vector<CommandLine> cancel(const std::vector<std::string>& names) const override {
    std::vector<CommandLine> commands;
    for (const std::string& name : names) commands.push_back(shell("exit " + name));
    return commands;
  }
  Result<void> done(const CommandEnd& end) const override {
    if (end.success()) return {};
    return fail(to_text(end.status));
  }

 private:
  static CommandLine shell(const std::string& text) { return {{"/bin/sh", "-c", text}, ""}; }
  std::filesystem::path file_;
};

struct World {
  World() { std::ofstream(folder.path / "jobs").flush(); }

  void submit(const std::string& name, const std::string& script = "true") {
    BatchJob job;
    job.name = name;
    job.script = script;
    submit(job);
  }
  void submit(const BatchJob& job) {
    system.submit(job, [this](const BatchSubmission& each) { answers.push_back(each); });
  }
  BatchSubmission run_one() {
    REQUIRE(answers.empty());  // not from within submit()
    io.restart();
    io.run();
    REQUIRE(answers.size() == 1);
    const BatchSubmission answer = answers[0];
    answers.clear();
    return answer;
  }
  std::string text(const std::string& name) const {
    std::ifstream file(folder.path / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder;
  boost::asio::io_context io;
  CommandBatchSystem system{io,
                            std::make_unique<ShellCommands>(folder.path),
                            {"PATH=/bin:/usr/bin"},
                            {"PATH=/bin:/usr/bin"}};
  std::vector<BatchSubmission> answers;
};

TEST_CASE("batch: a job that is there is found instead of submitted again") {
  World world;
  world.submit("a", "exit 1");  // the answer is lost, the job is in
  const BatchSubmission lost = world.run_one();
  REQUIRE_FALSE(lost);
  CHECK_FALSE(lost.error().permanent);
  world.submit("a");
  const BatchSubmission again = world.run_one();
  REQUIRE(again);
  CHECK(again->found);
  CHECK(again->id == "old");
  CHECK(world.text("jobs") == "a\n");
  world.submit("b");
  CHECK_FALSE(world.run_one()->found);
  CHECK(world.text("jobs") == "a\nb\n");
}

TEST_CASE("batch: without a look nothing is submitted") {
  World world;
  std::filesystem::remove(world.folder.path / "jobs");
  world.submit("a");
  const BatchSubmission answer = world.run_one();
  REQUIRE_FALSE(answer);
  CHECK_FALSE(answer.error().permanent);
  CHECK(answer.error().message == "no list");
  CHECK_FALSE(std::filesystem::exists(world.folder.path / "jobs"));
}

TEST_CASE("batch: submissions that wait share a look") {
  World world;
  for (int i = 0; i < 150; ++i) world.submit("j" + std::to_string(i));
  world.io.run();
  CHECK(world.answers.size() == 150);
  for (const BatchSubmission& each : world.answers) CHECK(each);
  CHECK(world.text("jobs.looks") == "1\n100\n49\n");
}

TEST_CASE("batch: a name is not submitted twice at a time") {
  World world;
  world.submit("a");
  world.submit("a");
  world.io.run();
  REQUIRE(world.answers.size() == 2);
  REQUIRE_FALSE(world.answers[0]);
  CHECK_FALSE(world.answers[0].error().permanent);
  CHECK(world.answers[1]);
  CHECK(world.text("jobs") == "a\n");
}

TEST_CASE("batch: what cannot be is refused before anything is run") {
  World world;
  world.submit("");
  CHECK(world.run_one().error().about == "name");
  BatchJob job;
  job.name = "a";
  std::ofstream(world.folder.path / "file") << "";
  job.output = world.folder.path / "file" / "out";
  world.submit(job);
  const BatchSubmission answer = world.run_one();
  REQUIRE_FALSE(answer);
  CHECK_FALSE(answer.error().permanent);  // somebody may put it right
  CHECK(answer.error().about == "output");
  job.output = "relative";
  world.submit(job);
  const BatchSubmission refused = world.run_one();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().permanent);
  CHECK(refused.error().about == "output");
  CHECK(world.text("jobs.looks").empty());
}

TEST_CASE("batch: the folder of the output is made when somebody has taken it away") {
  World world;
  BatchJob job;
  job.name = "a";
  job.output = world.folder.path / "jobs-of-ours" / "out";
  world.submit(job);
  CHECK(world.run_one());
  CHECK(std::filesystem::is_directory(job.output.parent_path()));
}

TEST_CASE("batch: a cancel has one answer and that is the first error") {
  World world;
  std::vector<std::string> answers;
  const auto note = [&](const Result<void>& result) {
    answers.push_back(result ? "" : result.error().message);
  };
  world.system.cancel({}, note);
  CHECK(answers.empty());
  world.io.run();
  CHECK(answers == std::vector<std::string>{""});
  world.system.cancel({"0", "3", "0", "3"}, note);
  world.io.restart();
  world.io.run();
  CHECK(answers == std::vector<std::string>{"", "exit code 3"});
}

}  // namespace attune::batch_system_test
