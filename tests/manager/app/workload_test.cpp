// What is wrong with the file of a workload, said with its line and in its own words.
#include "manager/app/workload.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::workload_test {

constexpr const char* kGood =
    "commander: solo\n"
    "learner: {command: ./learner}\n"
    "collector:\n"
    "  command: ./collector\n"
    "buffer: {policy: uniform}\n";

// What is said of the file w.yaml, without the folder in front; empty: nothing is wrong.
std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "w.yaml") << text;
  const auto made = read_workload(folder.path / "w.yaml", folder.path / "pool", 1);
  if (made) return *made ? "" : "trials";
  const std::string& message = made.error().message;
  const std::string front = folder.path.string() + "/";
  return message.starts_with(front) ? message.substr(front.size()) : message;
}

TEST_CASE("workload: one that is right") {
  CHECK(error_of(kGood).empty());
  CHECK(error_of("commander: trials\n") == "trials");
}

TEST_CASE("workload: errors name line and key as the user wrote it") {
  const auto [more, wanted] = GENERATE(table<std::string, std::string>({
      {"  limits: {attemps: 3}\n",
       "w.yaml:5:12: collector.limits.attemps: unknown key; did you mean \"attempts\"?"},
      {"  limits:\n    run: -1\n", "w.yaml:6:5: collector.limits.run: "},
      {"  needs:\n    cpu: 1\n    cpus: 1\n",
       "w.yaml:7:5: collector.needs.cpus: unknown key; did you mean \"cpu\"?"},
      {"  needs: {cpu: lots}\n", "w.yaml:5:11: collector.needs.cpu: "},
      {"  needs: 1\n", "w.yaml:5:3: collector.needs: "},
      {"  needs:\n    gpu: lots\n", "w.yaml:6:5: collector.needs.gpu: "},
      {"policies: 1\n", "w.yaml:5:1: policies: "},
      {"  labels: fast\n", "w.yaml:5:3: collector.labels: "},
      {"  priority: x\n", "w.yaml:5:3: collector.priority: an integer expected"},
      {"  environment: {A B: 1}\n", "w.yaml:5:17: collector.environment.A B: a name of letters"},
      {"  environment: {ATTUNE_X: 1}\n", "w.yaml:5:17: collector.environment.ATTUNE_X: variables"},
      {"  needs: {gpu: 1}\n  environment: {CUDA_VISIBLE_DEVICES: 1}\n",
       "w.yaml:6:17: collector.environment.CUDA_VISIBLE_DEVICES: attune sets it"},
      {"  codeDirectory: 3\n", "w.yaml:5:3: collector.codeDirectory: a text expected"},
      {"  environment: 1\n", "w.yaml:5:3: collector.environment: an object expected"},
      {"  codeDirectory: nowhere\n", "w.yaml:5:3: collector.codeDirectory: "},
      {"  codeDirectory: nowhere\n", "nowhere is not a directory"},
      {"collectors: 0\n", "w.yaml:5:1: collectors: an integer in [1, 10000] expected, not 0"},
      {"\ncolectors: 2\n", "w.yaml:6:1: colectors: unknown key; did you mean \"collectors\"?"},
      {"evaluation:\n  intervall: 3\n",
       "w.yaml:6:3: evaluation.intervall: unknown key; did you mean \"interval\"?"},
      {"evaluation: {task: {}}\n", "w.yaml:5:14: evaluation.task.command: missing"},
      {"run: ../x\n", "w.yaml:5:1: run: "},
  }));
  std::string text = kGood;
  text.insert(text.find("buffer:"), more);
  INFO(text);
  CHECK_THAT(error_of(text), Catch::Contains(wanted));
}

// The place is no part of the words, which may look like one.
TEST_CASE("workload: a key that looks like a place and a message") {
  std::string text = kGood;
  text.insert(text.find("buffer:"), "  limits:\n    'run: no': 1\n");
  CHECK_THAT(error_of(text),
             Catch::StartsWith("w.yaml:6:5: collector.limits.run: no: unknown key. Known: queue"));
  text = kGood;
  text.insert(text.find("buffer:"), "  labels: ['a: b']\n");
  CHECK_THAT(error_of(text),
             Catch::StartsWith("w.yaml:5:3: collector.labels: the label \"a: b\" cannot be used"));
}

TEST_CASE("workload: its jobs of Slurm are as those of an experiment") {
  const auto read = [](const std::string& more) -> Result<std::optional<SlurmSettings>> {
    const TemporaryFolder folder;
    std::ofstream(folder.path / "w.yaml") << kGood << more;
    return read_workload_slurm(folder.path / "w.yaml");
  };
  CHECK_FALSE(read("")->has_value());
  const auto pilots = read("slurm: {mode: pilots, timeLimit: 2h, pilot: {cpu: 4}}\n");
  REQUIRE(pilots);
  CHECK((*pilots)->mode == SlurmSettings::Mode::pilots);
  CHECK((*pilots)->time_limit == 7200);
  CHECK((*pilots)->prefix.empty());
  CHECK(error_of(std::string(kGood) + "slurm: {mode: jobs}\n").empty());
  const auto [more, wanted] = GENERATE(table<std::string, std::string>({
      {"slurm: {partion: x}\n", "w.yaml:6:9: slurm.partion: unknown key"},
      {"slurm: {listen: 'h:1'}\n", "w.yaml:6:9: slurm.listen: say --listen HOST:PORT to"},
      {"slurm: {arguments: [x]}\n", "there can be no job for it: arguments: \"x\" is no option"},
      {"evaluation: {task: {command: e, needs: {cpu: 8}}}\n"
       "slurm: {mode: pilots, pilot: {cpu: 4}}\n",
       "w.yaml:6:33: evaluation.task.needs: there can be no job for it: pilot: no trial fits"},
  }));
  const auto wrong = read(more);
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().message, Catch::Contains(wanted));
}

TEST_CASE("workload: errors of a buffer name the line of its setting") {
  std::string text = kGood;
  text.replace(text.find("buffer:"), std::string::npos, "buffer:\n  policy: uniform\n  batch: 0\n");
  CHECK_THAT(error_of(text), Catch::StartsWith("w.yaml:7:3: buffer.batch: a whole number"));
}

TEST_CASE("workload: the commanders are named when none is") {
  CHECK(error_of("learner: {}\n") ==
        "w.yaml:1:1: commander: missing: one of trials, naive, solo, one_vs_one");
  CHECK_THAT(error_of("\ncommander: sola\n"),
             Catch::StartsWith(
                 "w.yaml:2:1: commander: unknown commander \"sola\"; did you mean \"solo\"?"));
  CHECK_THAT(error_of("commander: trials\ncollectors: 1\n"),
             Catch::StartsWith("w.yaml:2:1: collectors: "));
}

}  // namespace attune::workload_test
