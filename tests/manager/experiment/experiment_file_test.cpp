#include "manager/experiment/experiment_file.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::experiment_file_test {

namespace fs = std::filesystem;

class Folder : public TemporaryFolder {
 public:
  Result<Experiment> read(const std::string& text, const std::string& name = "e.yaml") const {
    write(name, text);
    return read_experiment_file(path / name, "/default");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
  }
};

const std::string kLeast =
    "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\n"
    "trialCommand: run\n"
    "tuner: {name: TPE}\n";

TEST_CASE("experiment file: defaults") {
  const Folder folder;
  const auto e = folder.read(kLeast);
  REQUIRE(e.has_value());
  CHECK(dump_json(e->search_space) == R"({"x":{"_type":"uniform","_value":[0,1]}})");
  CHECK(e->space.params.size() == 1);
  CHECK(e->program.command == "run");
  CHECK(e->program.code_directory == folder.path);
  CHECK(e->working_directory == "/default");
  CHECK(e->trial_concurrency == 1);
  CHECK_FALSE(e->max_trial_number.has_value());
  CHECK_FALSE(e->max_experiment_seconds.has_value());
  CHECK_FALSE(e->seed.has_value());
  CHECK(e->log_level == "info");
  CHECK(e->assessor.is_null());
}

TEST_CASE("experiment file: without a tuner it is auto") {
  Folder folder;
  const std::string least = "searchSpace: {}\ntrialCommand: run\n";
  CHECK(folder.read(least)->tuner["name"] == "auto");
  const auto with_arguments =
      folder.read(least + "tuner: {classArgs: {optimize_mode: maximize}}\n");
  REQUIRE(with_arguments);
  CHECK(with_arguments->tuner["name"] == "auto");
  CHECK(with_arguments->tuner["classArgs"]["optimize_mode"] == "maximize");
  CHECK(folder.read(least + "advisor: {name: Hyperband}\n")->tuner.is_null());
}

TEST_CASE("experiment file: every key, in YAML and in JSON") {
  const Folder folder;
  fs::create_directory(folder.path / "code");
  folder.write("space.json", R"({"x": {"_type": "choice", "_value": ["yes", 1e-5]}})");
  const std::string yaml = R"(
experimentName: "123"
searchSpaceFile: space.json
trialCommand: python3 trial.py
trialCodeDirectory: code
trialConcurrency: 4
trialGpuNumber: 0
maxExperimentDuration: 1.5h
maxTrialNumber: 20
maxTrialDuration: 90
tuner:
  name: TPE
  classArgs: {optimize_mode: maximize}
assessor: {name: Medianstop}
trainingService: {platform: local}
debug: true
experimentWorkingDirectory: out
seed: 7
useAnnotation: false
deprecated: {includeIntermediateResults: true}
)";
  auto e = folder.read(yaml);
  if (!e) FAIL(e.error().message);
  if (GENERATE(false, true)) {
    const auto json_text = parse_yaml(yaml, "").value().value.dump();
    e = folder.read(json_text, "e.json");
    if (!e) FAIL(e.error().message);
  }
  CHECK(e->name == "123");
  CHECK(dump_json(e->search_space) == R"({"x":{"_type":"choice","_value":["yes",1e-05]}})");
  CHECK(e->program.code_directory == folder.path / "code");
  CHECK(e->trial_concurrency == 4);
  CHECK(e->program.gpus == GpuUse::hide);
  CHECK(e->max_experiment_seconds == 5400.0);
  CHECK(e->max_trial_number == 20);
  CHECK(e->max_trial_seconds == 90.0);
  CHECK(e->log_level == "debug");
  CHECK(e->working_directory == folder.path / "out");
  CHECK(e->seed == 7u);
  CHECK(e->include_intermediate_results);

  const json parameters = daemon_parameters(*e);
  CHECK(parameters["maxTrialNumber"] == 20);
  CHECK(parameters["trialConcurrency"] == 4);
  CHECK(dump_json(parameters["capabilities"]) ==
        R"(["sync","pause","checkpoint","reason","error"])");
  CHECK(dump_json(parameters["tuner"]) ==
        R"({"name":"TPE","classArgs":{"optimize_mode":"maximize"}})");
  CHECK_FALSE(parameters.contains("searchSpace"));
}

TEST_CASE("experiment file: what attune adds to NNI's schema") {
  const Folder folder;
  const auto e = folder.read(kLeast + R"(
trialGpuNumber: 1
trainingService: {platform: local, gpuIndices: "0,2", maxTrialNumberPerGpu: 2}
arguments: commandLine
outputLimit: 1MB
resources: {cpu: 0.5, memory: 2GiB, custom: {licence: 1}}
capacity: {custom: {licence: 3}}
queueTrials: true
checkpoint: {frequency: 5, atEnd: true, keep: 3, budget: 1.5GB, deleteAtEnd: true}
retries:
  failed: 2
  signalled: restart
  outOfMemory: {limit: 4, how: resume}
  lost: skip
objectives:
  - {metric: accuracy, mode: maximize}
  - {metric: seconds}
  - {metric: megabytes, limit: 64}
stop:
  metric: {accuracy: 0.99, seconds: 3}
  metricBelow: {loss: 0.1}
  plateau: {trials: 20, tolerance: 0.001}
  trials: 100
  wallTime: 2h
  trialTime: 10h
  cost: 12.5
  failures: 5
  reports: 1000
  trial: {epoch: 81}
constraints: ["x < 0.9"]
initialPoints: [{x: 0.5}]
)");
  if (!e) FAIL(e.error().message);
  CHECK(e->trial.resources == Resources{0.5, 1, 2 * 0x1p30, {{"licence", 1}}});
  CHECK(e->capacity.custom.at("licence") == 3);
  CHECK(e->space.constraints.size() == 1);
  CHECK(e->gpu_indices == std::vector{0, 2});
  CHECK(e->program.trials_per_gpu == 2);
  CHECK(e->program.arguments == TrialArguments::command_line);
  CHECK(e->program.output_limit == 1'000'000);
  CHECK(e->queue_trials);
  CHECK(e->trial.checkpoint_frequency == 5);
  CHECK(e->trial.checkpoint_at_end);
  CHECK(e->checkpoint.keep == 3);
  CHECK(e->checkpoint.budget == 1.5e9);
  CHECK(e->checkpoint.delete_at_end);
  const Retries& retries = e->trial.retries;
  CHECK(retries[FailureClass::failed].limit == 2);
  CHECK(retries[FailureClass::failed].how == RetryHow::resume_or_restart);
  CHECK(retries[FailureClass::signalled].limit == 1);
  CHECK(retries[FailureClass::signalled].how == RetryHow::restart);
  CHECK(retries[FailureClass::out_of_memory].limit == 4);
  CHECK(retries[FailureClass::lost].how == RetryHow::skip);
  CHECK(retries[FailureClass::stopped].how == RetryHow::resume_or_restart);
  CHECK(e->stop.reach_up == std::map<std::string, double>{{"accuracy", 0.99}});
  CHECK(e->stop.reach_down == std::map<std::string, double>{{"loss", 0.1}, {"seconds", 3}});
  CHECK(e->stop.plateau->trials == 20);
  CHECK(e->stop.max_finished == 99);
  CHECK(e->stop.max_evaluations == 999);
  CHECK(e->max_experiment_seconds == 7200);
  CHECK(e->stop.max_trial_seconds == 36000);
  CHECK(e->stop.max_cost == 12.5);
  CHECK(e->stop.max_failed == 5);
  CHECK(e->trial.stop.at("epoch") == 81);
  CHECK(e->initial_points.size() == 1);
  const json parameters = daemon_parameters(*e);
  CHECK(dump_json(parameters["objectives"]) ==
        R"([{"metric":"accuracy","mode":"maximize"},{"metric":"seconds","mode":"minimize"},)"
        R"({"metric":"megabytes","mode":"minimize","limit":64.0}])");
  CHECK(dump_json(parameters["constraints"]) == R"(["x < 0.9"])");

  // What the store keeps says the same, wherever it is read.
  const auto again = read_experiment(dump_json(to_document(*e)), "/elsewhere/e", "/elsewhere");
  if (!again) FAIL(again.error().message);
  CHECK(dump_json(to_document(*again)) == dump_json(to_document(*e)));
  CHECK(again->program.code_directory == folder.path);
  CHECK(again->stop.max_finished == 99);
}

TEST_CASE("experiment file: a stored simulation from before it was checked is read") {
  const Folder folder;
  const std::string text =
      "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\ntrialCommand: run\n";
  json stored = to_document(folder.read(text).value());
  stored["simulation"] = {{"epoch", 3}};
  CHECK(read_stored_experiment(stored, "/elsewhere"));
  CHECK_FALSE(folder.read(text + "simulation: {epoch: 3}\n"));
}

TEST_CASE("experiment file: a search space that is too large for YAML can be kept") {
  const Folder folder;
  // Each option is a list of its own, of which there may be many.
  json space = {{"x", {{"_type", "choice"}, {"_value", json::array()}}}};
  for (int i = 0; i < 201; ++i) space["x"]["_value"].push_back(std::vector<int>(1000, i));
  folder.write("space.json", dump_json(space));
  const auto e =
      folder.read("searchSpaceFile: space.json\ntrialCommand: run\ntuner: {name: TPE}\n");
  REQUIRE(e);
  CHECK(check_resumable(*e).has_value());
  const auto again = read_stored_experiment(to_document(*e), "/elsewhere");
  if (!again) FAIL(again.error().message);
  CHECK(again->search_space == space);
}

TEST_CASE("experiment file: the kept one has what it named in it") {
  const Folder folder;
  folder.write("space.yaml", "x: {_type: uniform, _value: [0, 1]}\n");
  auto e =
      folder.read("searchSpaceFile: space.yaml\ntrialCommand: run\ntuner: {name: TPE}\nseed: 3\n");
  REQUIRE(e);
  e->tuner["classArgs"]["seed"] = 3;
  const auto again = read_experiment(dump_json(to_document(*e)), "/elsewhere/e", "/elsewhere");
  if (!again) FAIL(again.error().message);
  CHECK(again->search_space == e->search_space);
  CHECK(again->tuner["classArgs"]["seed"] == 3);
}

TEST_CASE("experiment file: errors name the line, the key and the cure") {
  struct Row {
    std::string text, message;
  };
  const Row row = GENERATE(values<Row>({
      {kLeast + "trialConcurency: 2\n",
       ":4:1: trialConcurency: unknown key; did you mean \"trialConcurrency\"?"},
      {kLeast + "colour: red\n", ":4:1: colour: unknown key; known are experimentName"},
      {kLeast + "\nmaxTrialNumber: many\n",
       ":5:1: maxTrialNumber: a whole number expected, not a string (\"many\")"},
      {kLeast + "maxTrialNumber: 0\n", ":4:1: maxTrialNumber: a whole number from 1"},
      {kLeast + "maxTrialNumber: 2.5\n", "a whole number expected"},
      {kLeast + "trialConcurrency: \"2\"\n", "a whole number expected, not a string"},
      {kLeast + "trialGpuNumber: 1\nresources: {gpu: 1}\n", ":4:1: trialGpuNumber: resources.gpu"},
      {"trialCommand: run\ntuner: {name: TPE}\nsearchSpace:\n  lr:\n    _type: unifrom\n    "
       "_value: [0, 1]\n",
       ":5:5: searchSpace.lr._type: unknown type \"unifrom\""},
      {kLeast + "experimentName: " + std::string(1001, 'n') + "\n",
       ":4:1: experimentName: longer than 1000 bytes"},
      {"searchSpace: {}\ntrialCommand: \"run\\0\"\ntuner: {name: TPE}\n",
       ":2:1: trialCommand: a byte 0 is in it"},
      {kLeast + "resources: {cpus: 1}\n",
       ":4:13: resources.cpus: unknown key; did you mean \"cpu\"?"},
      {kLeast + "resources: {cpu: -1}\n", ":4:13: resources.cpu: a number from 0 on"},
      {kLeast + "resources: {memory: 4 GiBi}\n", ":4:13: resources.memory: a number of bytes"},
      {kLeast + "resources: {custom: {licence: many}}\n",
       ":4:22: resources.custom.licence: a number expected"},
      {kLeast + "checkpoint: {keep: 0}\n", ":4:14: checkpoint.keep: a whole number from 1"},
      {kLeast + "retries: {faild: 1}\n", "retries.faild: unknown key; did you mean \"failed\"?"},
      {kLeast + "retries:\n  lost: again\n",
       ":5:3: retries.lost: \"again\" is none of skip, restart, resume, resumeOrRestart"},
      {kLeast + "stop: {metric: {accuracy: 0.9}}\n",
       ":4:17: stop.metric.accuracy: it is no metric of `objectives`"},
      {kLeast + "stop: {plateau: {tolerance: 1}}\n", "stop.plateau.trials: missing"},
      {kLeast + "objectives:\n  - {metric: a}\n  - {metric: a}\n",
       ":6:6: objectives[1].metric: there are two of that name"},
      {kLeast + "objectives: [{metric: a, limit: 2}]\n",
       "objectives[0].limit: the first objective is what trials are ranked by"},
      {kLeast + "objectives: [{metric: a, mode: up}]\n",
       "objectives[0].mode: \"up\" is none of minimize, maximize"},
      {kLeast + "initialPoints: [3]\n", ":4:17: initialPoints[0]: an object expected"},
      {kLeast + "constraints: x < 1\n", ":4:1: constraints: a list of texts expected"},
      {kLeast + "constraints: [\"xx < 1\"]\n", ":4:15: constraints[0]: \"xx < 1\": unknown"},
      {kLeast + "backend: cloud\n",
       ":4:1: backend: \"cloud\" is none of local, pool, slurm, simulated"},
      {kLeast + "trainingService: {platform: local, gpuIndices: first}\n",
       "trainingService.gpuIndices: numbers of GPUs"},
      {kLeast + "backend: pool\npool: {listen: abc}\n", ":5:8: pool.listen: address 'abc'"},
      {kLeast + "backend: pool\npool: {listen: 'x:99999'}\n", ":5:8: pool.listen: "},
      {kLeast + "pool: {listen: '0.0.0.0:7000'}\n", ":4:8: pool.listen: 0.0.0.0 is no address"},
      {kLeast + "pool: {listen: '0.0.0.0:7000', advertise: head}\n", ":4:32: pool.advertise: "},
      {kLeast + "pool: {advertise: 'head:7000'}\n", ":4:8: pool.advertise: "},
      {kLeast + "debug: yes\n", ":4:1: debug: true or false expected, not a string (\"yes\")"},
      {kLeast + "maxExperimentDuration: 10 minutes\n",
       ":4:1: maxExperimentDuration: a positive number of seconds"},
      {kLeast + "maxExperimentDuration: -1\n", "positive"},
      {kLeast + "maxExperimentDuration: 1e999\n", "positive"},
      {kLeast + "logLevel: loud\n", ":4:1: logLevel:"},
      {kLeast + "trialCodeDirectory: nowhere\n", ":4:1: trialCodeDirectory: "},
      {kLeast + "useAnnotation: true\n", ":4:1: useAnnotation:"},
      {kLeast + "seed: -1\n", ":4:1: seed:"},
      {kLeast + "assessor:\n  nam: Medianstop\n",
       ":5:3: assessor.nam: unknown key; did you mean \"name\"?"},
      {kLeast + "assessor:\n  classArgs: {}\n",
       ":4:1: assessor: exactly one of name and className"},
      {kLeast + "assessor: Medianstop\n", ":4:1: assessor: an object expected, not a string"},
      {kLeast + "assessor: {name: Medianstop, classArgs: 3}\n",
       "assessor.classArgs: an object expected"},
      {kLeast + "assessor: {name: Medianstop, stoppedTrials: best}\n",
       ":4:30: assessor.stoppedTrials: \"best\" is none of ignore, last, worst, extrapolated"},
      {kLeast + "advisor: {name: Hyperband, stoppedTrials: last}\n",
       "advisor.stoppedTrials: unknown key"},
      {kLeast + "advisor: {name: Hyperband}\n", ":4:1: advisor: there is also a tuner"},
      {kLeast + "trainingService:\n  platform: remote\n",
       ":5:3: trainingService.platform: only local"},
      {kLeast + "searchSpaceFile: s.json\n", ":4:1: searchSpaceFile: exactly one of"},
      {kLeast + "trialCommand: again\n", ":4:1: trialCommand: the key appears twice"},
      {kLeast + "authorName: me\n", "version 1 schema"},
      {"searchSpace: {}\ntuner: {name: TPE}\n", "trialCommand: missing"},
      {"trialCommand: run\ntuner: {name: TPE}\n", "exactly one of searchSpace and searchSpaceFile"},
      {"searchSpaceFile: none.json\ntrialCommand: run\ntuner: {name: TPE}\n", "none.json"},
      {kLeast + "seed: 1\ntuner: {name: TPE}\n", "appears twice"},
      {"seed: 1\nsearchSpace: {}\ntrialCommand: run\ntuner: {name: TPE, classArgs: {seed: 2}}\n",
       ":1:1: seed: there is also"},
      {"[1, 2]", "an object of keys expected"},
      {"a: [1, 2\nb: 3\n", ":1:4: this [ is not closed"},
      {"a: {lr} b\n",
       ":1:4: a text that begins with { means something else in YAML; put it in quotes"},
      {"a: \"\\s\"\n", "write the text in single quotes"},
      {"a: &x [*x]\n", ""},
      {"a: !!binary aGk=\n", "tag"},
      {"\t", ""},
      {kLeast + "experimentName: caf\xe9\n", ":4:20: not UTF-8 (byte 0xE9)"},
      {"", ""},
  }));
  CAPTURE(row.text);
  const Folder folder;
  const auto e = folder.read(row.text);
  REQUIRE_FALSE(e.has_value());
  CAPTURE(e.error().message);
  CHECK(e.error().message.find(row.message) != std::string::npos);
  CHECK(e.error().message.find(folder.path.string()) != std::string::npos);
}

TEST_CASE("experiment file: an assessor beside an advisor is a warning with its place") {
  const Folder folder;
  const std::string least =
      "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\ntrialCommand: 'x'\n";
  const auto both = folder.read(least + "assessor: {name: ASHA}\nadvisor: {name: BOHB}\n");
  REQUIRE(both.has_value());
  REQUIRE(both->warnings.size() == 1);
  CHECK_THAT(both->warnings[0],
             Catch::Contains(":3:1: assessor: it has no effect beside an advisor"));
  for (const char* alone : {"assessor: {name: ASHA}\n", "advisor: {name: BOHB}\n"}) {
    const auto one = folder.read(least + alone);
    REQUIRE(one.has_value());
    CHECK(one->warnings.empty());
  }
}

TEST_CASE("experiment file: a key without effect on the backend is a warning with its place") {
  struct Row {
    std::string text;
    std::vector<std::string> warnings;  // what each contains; none: no warning
  };
  const auto row = GENERATE(values<Row>({
      {"pool: {workers: 2}\n", {":4:1: pool: it has no effect with backend: local"}},
      {"slurm: {mode: jobs}\nbackend: local\n", {":4:1: slurm: it has no effect"}},
      {"backend: pool\nslurm: {mode: jobs}\n",
       {":5:1: slurm: it has no effect with backend: pool"}},
      {"backend: slurm\npool: {workers: 2}\n",
       {":5:1: pool: it has no effect with backend: slurm"}},
      {"backend: pool\nqueueTrials: true\n"
       "trainingService: {platform: local, gpuIndices: [0]}\n",
       {":6:36: trainingService.gpuIndices: it has no effect",
        ":5:1: queueTrials: it has no effect"}},
      {"backend: pool\nqueueTrials: true\ncapacity: {cpu: 2}\npool: {workers: 2}\n", {}},
      {"queueTrials: true\ntrainingService: {platform: local, gpuIndices: [0]}\n", {}},
      {"backend: simulated\npool: {workers: 2}\n", {}},
      {"report: tuneMetric\narguments: commandLine\ndecisions: in-step\n",
       {":6:1: decisions: it has no effect with this `report`"}},
      {"report: tuneMetric\narguments: commandLine\ndecisions: free\n", {}},
      {"decisions: in-step\n", {}},
  }));
  CAPTURE(row.text);
  const Folder folder;
  const auto e = folder.read(kLeast + row.text);
  REQUIRE(e.has_value());
  REQUIRE(e->warnings.size() == row.warnings.size());
  for (std::size_t i = 0; i < row.warnings.size(); ++i)
    CHECK_THAT(e->warnings[i], Catch::Contains(row.warnings[i]));
}

TEST_CASE("experiment file: decisions are in step only where trials can wait") {
  const auto [text, in_step] = GENERATE(table<std::string, bool>({
      {"", false},
      {"decisions: free\n", false},
      {"decisions: in-step\n", true},
      {"decisions: in-step\nbackend: pool\n", true},
      {"decisions: in-step\nreport: {exitCode: true}\n", false},
  }));
  CAPTURE(text);
  const Folder folder;
  const auto e = folder.read(kLeast + text);
  REQUIRE(e.has_value());
  CHECK(e->program.in_step == in_step);
  CHECK(read_stored_experiment(to_document(*e), folder.path)->program.in_step == in_step);
  const auto wrong = folder.read(kLeast + "decisions: always\n");
  REQUIRE_FALSE(wrong.has_value());
  CHECK_THAT(wrong.error().message,
             Catch::Contains(":4:1: decisions: \"always\" is none of free, in-step"));
}

TEST_CASE("experiment file: what cannot be read is an error") {
  CHECK_FALSE(read_experiment_file("/nowhere/e.yaml", "/").has_value());
  CHECK_FALSE(read_experiment_file("/tmp", "/").has_value());
  const auto endless = read_experiment_file("/dev/zero", "/");
  REQUIRE_FALSE(endless.has_value());
  CHECK(endless.error().message == "/dev/zero is larger than 67108864 bytes");
}

}  // namespace attune::experiment_file_test
