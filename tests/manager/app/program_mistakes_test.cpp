// Mistakes in experiment files: all are said at once, each at its place, and nothing is made.
#include "tests/manager/app/mistakes.h"

namespace attune::program_mistakes_test {

const std::string kSpace = "searchSpace: {lr: {_type: uniform, _value: [0, 1]}}\n";

TEST_CASE("attune run: mistakes in the experiment file") {
  const Mistake mistake = GENERATE(values<Mistake>({
      {"several, in the order of the file",
       "maxTrialNumber: 1e3\n" + kSpace +
           "trialCommand: run {lr}\n"
           "tuner:\n"
           "  nam: TPE\n"
           "checkpoint: {keep: 0, frequency: often}\n"
           "objectives:\n"
           "  - metric: a\n"
           "    mode: down\n",
       {"e.yaml:1:1: maxTrialNumber: a whole number expected, not a number",
        "e.yaml:5:3: tuner.nam: unknown key; did you mean \"name\"?",
        "e.yaml:6:14: checkpoint.keep: a whole number from 1",
        "e.yaml:6:23: checkpoint.frequency: a whole number expected, not a string",
        "e.yaml:9:5: objectives[0].mode: \"down\" is none of minimize, maximize"}},
      {"a misspelt key is not missing, too",
       "searchSpce: {lr: {_type: uniform, _value: [0, 1]}}\ntrialComand: run {lr}\n",
       {"e.yaml:1:1: searchSpce: unknown key; did you mean \"searchSpace\"?",
        "e.yaml:2:1: trialComand: unknown key; did you mean \"trialCommand\"?"}},
      {"what refers to a key that is wrong is not",
       kSpace + "trialCommand: run\nobjectivs: [{metric: a}]\n"
                "stop: {metric: {a: 1}}\nreport: {regex: 'x=(?<a>.*)'}\n",
       {"e.yaml:3:1: objectivs: unknown key; did you mean \"objectives\"?"}},
      {"placeholders in several places",
       kSpace + "trialCommand: |\n  cd src\n  run {lrr} {momentum}\nenvironment:\n"
                "  RATE: '{learning_rate}'\n",
       {"e.yaml:2:1: trialCommand: line 2: {lrr} is no parameter; did you mean {lr}? (For the text "
        "itself write {{lrr}}.); line 2: {momentum} is no parameter; the search space has lr",
        "e.yaml:6:3: environment.RATE: {learning_rate} is no parameter"}},
      {"a key twice, a tag",
       kSpace + "trialCommand: run\nseed: 1\nseed: 2\nexperimentName: !mine\n",
       {"e.yaml:4:1: seed: the key appears twice; keep one of them",
        "e.yaml:5:17: experimentName: the tag !mine is not supported; a text that begins with ! "
        "needs quotes"}},
      {"a command that YAML takes for a mapping",
       kSpace + "trialCommand: {lr}\n",
       {"e.yaml:2:1: trialCommand: a text expected, not an object ({\"lr\":null}); a text that "
        "begins with { needs quotes"}},
      {"templates, report, working directory",
       kSpace + "trialCommand: run\ntemplates:\n  - {template: none.txt, file: a}\n"
                "  - {template: e.yaml, file: ../b, format: ini}\n"
                "report: {file: stdout}\ntrialWorkingDirectory: here\n",
       {"e.yaml:4:6: templates[0].template: cannot read",
        "e.yaml:5:24: templates[1].file: the name of a file in the folder of the trial",
        "e.yaml:5:36: templates[1].format: \"ini\" is none of json, toml, xml, text",
        "e.yaml:6:10: report.file: stdout is attune's own",
        "e.yaml:7:1: trialWorkingDirectory: \"here\" is none of code, trial"}},
      {"durations and amounts",
       kSpace + "trialCommand: run\nmaxTrialDuration: 10 min\nresources:\n  memory: 4 gigs\n"
                "retries: {lost: 2.5}\n",
       {"e.yaml:3:1: maxTrialDuration: a positive number of seconds, or a text such as 90s",
        "e.yaml:5:3: resources.memory: a number of bytes, or a text such as 512MB",
        "e.yaml:6:11: retries.lost: a whole number expected"}},
      {"points to try first",
       kSpace + "trialCommand: run\ninitialPoints:\n  - {lr: 0.5}\n  - {lr: 2}\n  - {rate: 1}\n",
       {"e.yaml:5:5: initialPoints[1]: ", "e.yaml:6:5: initialPoints[2]: "}},
      {"a pool and a training service",
       kSpace + "trialCommand: run\nbackend: pool\npool: {worker: 2, labels: [a, 1]}\n"
                "trainingService: {platform: local, gpuIndices: [0, -1]}\n",
       {"e.yaml:4:8: pool.worker: unknown key; did you mean \"workers\"?",
        "e.yaml:4:31: pool.labels[1]: a text expected, not an integer (1)",
        "e.yaml:5:36: trainingService.gpuIndices: numbers of GPUs expected"}},
      {"a simulation",
       kSpace + "trialCommand: run\nseed: x\nsimulation:\n  epoch: 5\n  noise: loud\n"
                "  delays: {stop: -1}\n",
       {"e.yaml:3:1: seed: a whole number expected",
        "e.yaml:5:3: simulation.epoch: unknown argument \"epoch\"; did you mean \"epochs\"?",
        "e.yaml:6:3: simulation.noise: a number in [0, 1000000000] expected",
        "e.yaml:7:12: simulation.delays.stop: a number in [0, 1000000000] expected"}},
      {"trials of a simulation that end twice",
       kSpace + "trialCommand: run\nsimulation: {failRate: 0.6, lostRate: 0.6}\n",
       {"e.yaml:3:14: simulation.failRate: failRate and lostRate are more than 1 together"}},
      {"no mapping", "just a text\n", {"e.yaml:1:1: an object of keys expected"}},
  }));
  check_mistake(mistake);
}

TEST_CASE("attune run: what is no YAML is explained") {
  const Mistake mistake = GENERATE(values<Mistake>({
      {"a tab", "searchSpace:\n\tlr: 1\n", {"e.yaml:2:1: a tab; YAML indents with spaces only"}},
      {"a tab behind blanks",
       "tuner:\n  name: TPE\n  \tclassArgs: {}\n",
       {"e.yaml:3:3: a tab; YAML indents with spaces only"}},
      {"a colon in a text",
       "trialCommand: echo loss: {lr}\n",
       {"e.yaml:1:24: a `: ` within a text begins another value; put it in quotes: 'echo loss: "
        "{lr}'"}},
      {"a colon in a text with quotes",
       "a: 1\ntrialCommand: echo 'loss: 1'\n",
       {"e.yaml:2:25: a `: ` within a text begins another value; put it in quotes: \"echo 'loss: "
        "1'\""}},
      {"a brace",
       "trialCommand: {lr} --fast\nb: 1\n",
       {"e.yaml:1:15: a text that begins with { means something else in YAML; put it in quotes: "
        "'{lr} --fast'"}},
      {"a bracket",
       "trialCommand: [ -f x ] && run\n",
       {"e.yaml:1:15: a text that begins with [ means something else in YAML; put it in quotes"}},
      {"a bracket that is not closed",
       "trialCommand: run\nconstraints: [x < 1\nseed: 1\n",
       {"e.yaml:2:14: this [ is not closed, or a comma is missing in it"}},
      {"a comma that is missing",
       "searchSpace:\n  x: {_type: uniform _value: [0, 1]}\n",
       {"e.yaml:2:6: this { is not closed, or a comma is missing in it: the end, or a comma, was "
        "expected in line 2, column 28"}},
      {"quotes around a part",
       "trialCommand: \"my run\" --fast\n",
       {"e.yaml:1:15: a text that begins with \" means something else in YAML; put it in quotes: "
        "'\"my run\" --fast'"}},
      {"other characters",
       "trialCommand: run\nexperimentName: @home\n",
       {"e.yaml:2:17: a text that begins with @ means something else in YAML; put it in quotes: "
        "'@home'"}},
      {"a star", "regex: *x\n", {"e.yaml:1:8: a text that begins with * means something else"}},
      {"indented too deep",
       "seed: 1\n  debug: true\n",
       {"e.yaml:2:3: indented deeper than the line above, whose key seed has its value already"}},
      {"indented like nothing",
       "tuner:\n    name: TPE\n  classArgs: {}\n",
       {"e.yaml:3:3: the indentation fits no line above"}},
      {"no blank behind the colon",
       "seed:1\ndebug: true\n",
       {"e.yaml:1:5: a blank is missing behind the colon"}},
      {"no key", "seed\ndebug: true\n", {"e.yaml:1:1: no key: each line of a mapping is `key: "}},
      {"a bracket too many", "seed: ]\n", {"e.yaml:1:7: nothing is open that this bracket closes"}},
      {"a backslash",
       "r: \"\\s\"\n",
       {"e.yaml:1:7: a backslash in double quotes begins an escape"}},
      {"a list in the line of its key", "a: - b\n", {"e.yaml:1:4: a list begins in a line of its"}},
  }));
  check_mistake(mistake);
}

TEST_CASE("attune run: tabs in JSON are none") {
  check_mistake({"a comma that is missing",
                 "{\n\t\"seed\": 1\n\t\"debug\": true\n}\n",
                 {"e.yaml:1:1: this { is not closed, or a comma is missing in it"}});
}

}  // namespace attune::program_mistakes_test
