// Trials whose result is a file, or their exit code.
#include "tests/backends/local/gate.h"
#include "tests/backends/local/local_report_fixture.h"

namespace attune::local_result_file_test {

using namespace test;

using Lines = std::vector<std::string>;

TEST_CASE("result file: JSON, a number, or what a regular expression finds last") {
  const auto [command, regex, expected] = GENERATE(table<std::string, std::string, std::string>(
      {{"echo 0.25", "", "F0 0.25"},
       {"echo '{\"default\": 1, \"b\": 2}'", "", R"(F0 {"default":1,"b":2})"},
       {"echo NaN", "", "F0 null"},
       {"printf 'cost 3\\ncost 4\\n\\nend'", R"(cost (?<default>\S+))", R"(F0 {"default":4})"},
       {"printf '\\ncost 4'", R"(cost (?<default>\S+))", R"(F0 {"default":4})"}}));
  ReportRules rules;
  rules.how = ReportRules::How::result_file;
  rules.file = "out/result";
  rules.file_regex = regex;
  auto local =
      ending("mkdir -p $NNI_OUTPUT_DIR/out; (" + command + ") > $NNI_OUTPUT_DIR/out/result", rules);
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{expected});
  CHECK(local.finished[0].how == Ending::succeeded);
}

TEST_CASE("result file: one in a folder that was moved away meanwhile counts") {
  LocalFixture f("echo ready > $GATES/line; read x < $GATES/go; echo 0.25 > result",
                 [](LocalBackendOptions& options) {
                   options.report.how = ReportRules::How::result_file;
                   options.report.file = "result";
                   options.run_in_trial_folder = true;
                   options.environment.push_back("GATES=" + options.code_directory.string());
                 });
  Lifeline line(f.directory / "line");
  Gate go(f.directory / "go");
  f.start();
  REQUIRE(line.wait_for_byte());
  fs::rename(f.directory / "experiment", f.directory / "elsewhere");
  go.let(1);
  REQUIRE(f.run_to_end());
  INFO(f.finished[0].detail);
  CHECK(f.finished[0].how == Ending::succeeded);
  CHECK(shown(f) == Lines{"F0 0.25"});
}

TEST_CASE("result file: one that cannot be read fails the trial, with the reason") {
  const auto [command, reason] = GENERATE(
      table<std::string, std::string>({{":", "No such file"},
                                       {"mkdir $R", "no regular file"},
                                       {"mkfifo $R", "no regular file"},
                                       {"ln -s /etc/passwd $R", "symbolic link"},
                                       {"truncate -s 1G $R", "larger than"},
                                       {"echo '[1' > $R", "JSON"},
                                       {"echo '[1]' > $R", "a JSON number or object expected"}}));
  ReportRules rules;
  rules.how = ReportRules::How::result_file;
  rules.file = "result.json";
  auto local = ending("R=$NNI_OUTPUT_DIR/result.json; " + command, rules);
  local.start();
  REQUIRE(local.run_to_end());
  INFO(local.finished[0].detail);
  CHECK(local.finished[0].how == Ending::failed);
  CHECK(local.finished[0].detail.starts_with("the result file result.json: "));
  CHECK(local.finished[0].detail.find(reason) != std::string::npos);
  CHECK(local.reports.empty());
}

TEST_CASE("result file: one without a number for the objective fails the trial") {
  const auto [command, regex, reason] = GENERATE(table<std::string, std::string, std::string>(
      {{"echo '{\"foo\": 1}'", "", "no number for \"default\""},
       {"echo '{\"default\": \"x\"}'", "", "{\"default\":\"x\"}"},
       {"printf 'cost 3\\ncost ****\\nend\\n'", R"(cost (?<default>\S+))", "'cost ****'"},
       {"echo nothing", R"(cost (?<default>\S+))", "no line of it matches"},
       {"echo; head -c 1000000 /dev/zero | tr '\\0' a | fold -w 900 | sed 's/$/= x/'",
        R"(\S+=(?<default>[\d.]+))", "takes too long"}}));
  ReportRules rules;
  rules.how = ReportRules::How::result_file;
  rules.file = "result";
  rules.file_regex = regex;
  auto local = ending("(" + command + ") > $NNI_OUTPUT_DIR/result", rules);
  local.start();
  REQUIRE(local.run_to_end());
  INFO(local.finished[0].detail);
  CHECK(local.finished[0].how == Ending::failed);
  CHECK(local.finished[0].detail.find(reason) != std::string::npos);
  CHECK(local.reports.empty());
}

TEST_CASE("result file: that of an earlier attempt does not count") {
  ReportRules rules;
  rules.how = ReportRules::How::result_file;
  rules.file = "result.json";
  auto local = ending("[ $ATTUNE_ATTEMPT = 1 ] || echo 1 > $NNI_OUTPUT_DIR/result.json", rules);
  local.start(0, 0);
  REQUIRE(local.run_to_end(1));
  local.start(0, 1);
  REQUIRE(local.run_to_end(2));
  CHECK(local.finished[1].how == Ending::failed);
}

TEST_CASE("exit code: a result up to 125, and a failure above and by a signal") {
  const auto [command, how, expected] = GENERATE(
      table<std::string, Ending, Lines>({{"exit 0", Ending::succeeded, {R"(F0 {"default":0})"}},
                                         {"exit 7", Ending::succeeded, {R"(F0 {"default":7})"}},
                                         {"no_such_program_x", Ending::failed, {}},
                                         {"kill -SEGV $$", Ending::signalled, {}}}));
  ReportRules rules;
  rules.how = ReportRules::How::exit_code;
  auto local = ending(command, rules);
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(local.finished[0].how == how);
  CHECK(shown(local) == expected);
}

TEST_CASE("result file: one that an earlier manager has read need not be there any more") {
  LocalBackendOptions options;
  LocalFixture local("", [&](LocalBackendOptions& own) {
    own.command = "echo 3 > $NNI_OUTPUT_DIR/result.json";
    own.report.how = ReportRules::How::result_file;
    own.report.file = "result.json";
    options = own;
  });
  local.start();
  REQUIRE(local.run_to_end());
  REQUIRE(shown(local) == Lines{"F0 3"});
  const std::uint64_t final = local.reports[0].position;
  fs::remove(local.trial() / "result.json");
  replace_manager(local, options, final);
  REQUIRE(local.run_to_end());
  CHECK(local.reports.empty());
  CHECK(local.finished[0].how == Ending::succeeded);
}

TEST_CASE("result file: its folder is the trial's to make") {
  ReportRules rules;
  rules.how = ReportRules::How::result_file;
  rules.file = "out/r.json";
  auto local = ending("cd $NNI_OUTPUT_DIR && mkdir out && echo 1.5 > out/r.json", rules);
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{"F0 1.5"});
}

}  // namespace attune::local_result_file_test
