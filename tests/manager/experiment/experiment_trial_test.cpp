// The keys that say how a trial is run and how it reports.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/experiment/experiment_file.h"
#include "manager/experiment/experiment_trial.h"
#include "space/parse.h"
#include "tests/support/temporary_folder.h"

namespace attune::experiment_trial_test {

namespace fs = std::filesystem;

class Folder : public TemporaryFolder {
 public:
  // `more`: lines of the file, from the sixth on.
  Result<Experiment> read(const std::string& command, const std::string& more) const {
    std::ofstream(path / "e.yaml") << "searchSpace:\n"
                                      "  depth: {_type: choice, _value: [1, 2]}\n"
                                      "  rate: {_type: uniform, _value: [0, 1]}\n"
                                      "tuner: {name: TPE}\n"
                                      "trialCommand: " +
                                          command + "\n" + more;
    return read_experiment_file(path / "e.yaml", "/default");
  }
  // Without the name of the file.
  std::string error(const std::string& command, const std::string& more) const {
    const auto experiment = read(command, more);
    if (experiment) return "";
    return experiment.error().message.substr((path / "e.yaml").string().size());
  }
};

TEST_CASE("experiment trial: defaults") {
  const Folder folder;
  const auto e = folder.read("run {rate}", "");
  if (!e) FAIL(e.error().message);
  CHECK(e->program.report.how == ReportRules::How::metrics_file);
  CHECK(e->program.environment.empty());
  CHECK(e->program.templates.empty());
  CHECK_FALSE(e->program.in_trial_folder);
  CHECK(e->program.parameter_names == std::vector<std::string>{"depth", "rate"});
}

TEST_CASE("experiment trial: every key") {
  const Folder folder;
  std::ofstream(folder.path / "case.in") << "rate = {rate}\n";
  std::ofstream(folder.path / "plain.xml") << "<a/>";
  const auto e = folder.read("run {depth}", R"(
environment: {OMP_NUM_THREADS: 4, RATE: "x{rate}"}
templates:
- {template: case.in, file: sub/./case.toml}
- {template: plain.xml, file: plain, format: xml}
trialWorkingDirectory: trial
report:
- {regex: 'a (?<default>\S+)', stream: both}
- {regex: 'b (?P<default>\S+)', stream: stderr}
)");
  if (!e) FAIL(e.error().message);
  const TaskProgram& program = e->program;
  CHECK(program.environment == std::vector<std::pair<std::string, std::string>>{
                                   {"OMP_NUM_THREADS", "4"}, {"RATE", "x{rate}"}});
  REQUIRE(program.templates.size() == 2);
  CHECK(program.templates[0].file == "sub/case.toml");
  CHECK(program.templates[0].format == TemplateFormat::as_toml);
  CHECK(program.templates[0].text == "rate = {rate}\n");
  CHECK(program.templates[1].format == TemplateFormat::as_xml);
  CHECK(program.in_trial_folder);
  REQUIRE(program.report.patterns.size() == 2);
  CHECK(program.report.patterns[0].stream == OutputStream::both);
  CHECK(program.report.patterns[1].stream == OutputStream::err);
  REQUIRE(e->warnings.size() == 1);
  CHECK(e->warnings[0].find("plain.xml has no placeholder") != std::string::npos);
  // What the store keeps says the same.
  const auto again = read_experiment(dump_json(to_document(*e)), folder.path / "x", "/default");
  REQUIRE(again.has_value());
  CHECK(again->program.templates[0].text == program.templates[0].text);
}

TEST_CASE("experiment trial: ways to report") {
  const Folder folder;
  const auto how = [&](const std::string& report) {
    const auto e = folder.read("run", "report: " + report + "\n");
    if (!e) FAIL(e.error().message);
    return e->program.report;
  };
  CHECK(how("metricsFile").how == ReportRules::How::metrics_file);
  CHECK(how("tuneMetric").how == ReportRules::How::tune_metric);
  CHECK(how("{exitCode: true}").how == ReportRules::How::exit_code);
  CHECK(how("{file: out/r.json}").file == "out/r.json");
  CHECK(how("{file: r, regex: '(?<default>.)'}").file_regex == "(?<default>.)");
}

TEST_CASE("experiment trial: what is wrong is told with its line and the cure") {
  const Folder folder;
  std::ofstream(folder.path / "bad.json") << "{\"a\": {rate},\n \"b\": {rat}}";
  std::ofstream(folder.path / "good") << "{rate}";
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  std::ofstream(folder.path / "broken.json") << "{\"a\": {rate}\n \"b\": 3}";
  const auto [command, more, expected] = GENERATE(table<std::string, std::string, std::string>({
      {"run {dept}", "", ":5:1: trialCommand: {dept} is no parameter; did you mean {depth}?"},
      {"'cat <<< {rate}; cat << E'", "", ":5:1: trialCommand: a here-document"},
      {"run", "environment: {A: '{dept}'}", ":6:15: environment.A: {dept} is no parameter"},
      {"run", "environment: {2A: x}", ":6:15: environment.2A: a name of"},
      {"run", "environment: {NNI_X: x}", ":6:15: environment.NNI_X: variables NNI_"},
      {"run", "environment: {A: \"x\\0\"}", ":6:15: environment.A: at most 100000 bytes"},
      {"run", "environment: {A: " + std::string(100'001, 'x') + "}",
       ":6:15: environment.A: at most 100000 bytes"},
      {"run", "environment: {A: [1]}", ":6:15: environment.A: a text or a number"},
      {"run", "trialGpuNumber: 1\nenvironment: {CUDA_VISIBLE_DEVICES: 1}",
       ":7:15: environment.CUDA_VISIBLE_DEVICES: attune sets it"},
      {"run", "templates: [{template: no.in, file: a}]",
       ":6:14: templates[0].template: cannot read"},
      {"run", "templates: [{template: '.', file: a}]", ":6:14: templates[0].template: cannot read"},
      {"run", "templates: [{template: bad.json, file: a.json}]",
       ":6:14: templates[0].template: bad.json: line 2: {rat} is no parameter; did you mean "
       "{rate}?"},
      {"run", "templates: [{template: broken.json, file: a.json}]",
       ":6:14: templates[0].template: broken.json, line 2: what is rendered is no JSON"},
      {"run", "templates: [{template: bad.json, file: ../a}]",
       ":6:34: templates[0].file: the name of a file in the folder"},
      {"run", "templates: [{template: bad.json, file: /a}]",
       ":6:34: templates[0].file: the name of"},
      {"run", "templates: [{template: bad.json, file: .nni/x}]",
       ":6:34: templates[0].file: .nni is attune's own"},
      {"run", "templates: [{template: bad.json, file: a, format: yaml}]",
       ":6:43: templates[0].format: \"yaml\" is none of"},
      {"run", "templates: [{template: pipe, file: a}]",
       ":6:14: templates[0].template: cannot read"},
      {"run", "templates: [{template: good, file: a}, {template: good, file: a/b}]",
       ":6:57: templates[1].file: a cannot be a file and a folder"},
      {"run", "templates: [{template: good, file: a/b}]\nreport: {file: a}",
       ":7:1: report: its file is in the way of a/b, that of a template"},
      {"run", "templates: [{template: good, file: x/.attune-new}]",
       ":6:30: templates[0].file: names that begin with .attune-"},
      {"run", "trialWorkingDirectory: here", ":6:1: trialWorkingDirectory: \"here\" is none of"},
      {"run", "report: nothing", ":6:1: report: \"nothing\" is none of"},
      {"run", "report: []", ":6:1: report: the list is empty"},
      {"run", "report: {stream: stdout}", ":6:1: report: one of regex, file"},
      {"run", "report: {regex: 'a(b'}",
       ":6:10: report.regex: the regular expression is wrong at byte 3"},
      {"run", "report: {regex: 'r (?<loss>.)'}",
       ":6:10: report.regex: no group is named \"default\", the metric that is searched for; write "
       "(?<default>...) around its number, or name one of loss in `objectives`"},
      {"run", "report: [{regex: '(?<default>.)', stream: in}]",
       ":6:35: report[0].stream: \"in\" is none of"},
      {"run", "report: {file: stdout}", ":6:10: report.file: stdout is attune's own"},
      {"run", "report: {file: r, stream: stdout}", ":6:19: report.stream: a file has none"},
      {"run", "report: {file: r, exitCode: true}",
       ":6:19: report.exitCode: it is the result alone"},
      {"run", "report: {rege: x}", ":6:10: report.rege: unknown key; did you mean \"regex\"?"},
  }));
  INFO(command << "\n" << more);
  const std::string error = folder.error(command, more + "\n");
  INFO(error);
  CHECK(error.starts_with(expected));
}

TEST_CASE("experiment trial: what is stored has the templates in it, whatever their bytes") {
  const Folder folder;
  std::string bytes = "{rate}";
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  std::ofstream(folder.path / "a.in") << bytes;
  std::ofstream(folder.path / "b.in") << "{depth}";
  fs::permissions(folder.path / "b.in", fs::perms::owner_all);
  const auto e =
      folder.read("run", "templates: [{template: a.in, file: a}, {template: b.in, file: b.sh}]\n");
  if (!e) FAIL(e.error().message);
  fs::remove(folder.path / "a.in");
  std::ofstream(folder.path / "b.in") << "changed {depth}";
  // Twice: what is resumed can be resumed.
  auto again = read_experiment(dump_json(to_document(*e)), folder.path / "x", "/default");
  if (!again) FAIL(again.error().message);
  again = read_experiment(dump_json(to_document(*again)), folder.path / "x", "/default");
  if (!again) FAIL(again.error().message);
  REQUIRE(again->program.templates.size() == 2);
  CHECK(again->program.templates[0].text == bytes);
  CHECK_FALSE(again->program.templates[0].executable);
  CHECK(again->program.templates[1].text == "{depth}");
  CHECK(again->program.templates[1].executable);
}

TEST_CASE("experiment trial: a parameter that no placeholder names is told") {
  const Folder folder;
  std::ofstream(folder.path / "rate.in") << "{rate}";
  const std::string report = "report: {exitCode: true}\n";
  const auto [command, more, unused] = GENERATE_COPY(table<std::string, std::string, std::string>({
      {"run {rate} {depth}", report, ""},
      {"run {depth}", report + "templates: [{template: rate.in, file: a}]", ""},
      {"run {rate}", report + "environment: {D: '{depth}'}", ""},
      {"run {rate}", report, "depth"},
      {"run", report, "depth, rate"},
      {"run {rate}", "", ""},
      {"run {rate}", report + "arguments: commandLine", ""},
  }));
  INFO(command << "\n" << more);
  const auto e = folder.read(command, more + "\n");
  if (!e) FAIL(e.error().message);
  REQUIRE(e->warnings.size() == (unused.empty() ? 0 : 1));
  if (!unused.empty())
    CHECK(e->warnings[0].starts_with("no placeholder names " + unused + ": write {depth}"));
}

TEST_CASE("experiment trial: a placeholder that is no parameter is an error at its line") {
  const Folder folder;
  CHECK(
      folder.error("run --lr {learning_rate} {depth}", "") ==
      ":5:1: trialCommand: {learning_rate} is no parameter; the search space has depth, rate (for "
      "the text itself write {{learning_rate}})");
  CHECK(folder.error("run {depth}", "environment:\n  LR: '{learning_rate}'\n")
            .starts_with(":7:3: environment.LR: {learning_rate} is no parameter"));
  CHECK(folder.error("run {depth} {{learning_rate}} ${HOME} | awk '{print $1}'", "") == "");
  // A former version took it for text, and so does what resumes its experiments.
  json stored = to_document(folder.read("run {depth}", "").value());
  stored["trialCommand"] = "run {depth} {learning_rate}";
  CHECK(read_stored_experiment(stored, folder.path));
}

TEST_CASE("experiment trial: the objective names the group") {
  const Folder folder;
  const auto e =
      folder.read("run", "objectives: [{metric: loss}]\nreport: {regex: 'r (?<loss>.)'}\n");
  if (!e) FAIL(e.error().message);
  CHECK(e->program.report.objective == "loss");
}

TEST_CASE("experiment trial: names in nested and layered choices") {
  const auto space = parse_space(json::parse(R"({
      "o": {"_type": "choice", "_value": [
          {"_name": "sgd", "lr": {"_type": "uniform", "_value": [0, 1]}},
          {"_name": "adam", "lr": {"_type": "uniform", "_value": [0, 1]},
           "b": {"_type": "uniform", "_value": [0, 1]}}]}})"));
  REQUIRE(space.has_value());
  CHECK(placeholder_names(*space) ==
        std::vector<std::string>{"o", "o._name", "o.lr", "o.lr", "o.b"});
}

}  // namespace attune::experiment_trial_test
