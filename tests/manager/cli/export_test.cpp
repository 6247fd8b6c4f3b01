// What is exported can be read by others, and by attune import.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <sstream>

#include "manager/cli/commands/views.h"
#include "manager/control/json_format.h"
#include "manager/interchange/import_file.h"
#include "manager/store/store.h"
#include "os/unique_fd.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::export_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add_trial(Store& store, std::int64_t sequence, const json& parameters, const json& metric,
               TrialStatus status = TrialStatus::succeeded) {
  TrialRecord trial = pending_trial(sequence);
  trial.proposed.parameters = parameters;
  store.add_trial(trial, 1001).value();
  trial.status = status;
  trial.final_metric = metric;
  trial.attempts = 1;
  trial.start_time = 1002;
  trial.end_time = 1003.5;
  if (status == TrialStatus::failed) trial.reason = "exit code 3, \"oops\"\nand more";
  store.change_trial(trial).value();
}

class World {
 public:
  World() : store(begin_experiment(folder.path, "abcd2345")) {
    add_trial(store, 0, {{"lr", 0.1}, {"name", "a,b"}, {"flag", true}},
              {{"accuracy", 0.5}, {"loss", std::nan("")}});
    add_trial(store, 1, {{"lr", 1}, {"layer", {{"_name", "conv"}, {"size", 3}}}},
              {{"accuracy", kInfinity}});
    add_trial(store, 2, {{"lr", 0.3}}, nullptr, TrialStatus::failed);
    store.commit().value();
  }
  std::string exported(const std::string& format) const {
    ExportOptions options;
    options.which.directory = folder.path.string();
    options.format = format;
    Printed printed;
    REQUIRE(view(options, printed.console).has_value());
    return printed.out();
  }
  TemporaryFolder folder;
  Store store;
};

TEST_CASE("export: a bare number is that of the first objective") {
  World world;
  add_trial(world.store, 3, {{"lr", 0.2}}, 0.25);
  world.store.commit().value();
  const std::string rows = world.exported("jsonl");
  const json row = parse_json(rows.substr(rows.rfind('{'))).value();
  CHECK(row["score"] == 0.25);
  CHECK(row["metrics.accuracy"] == 0.25);
}

TEST_CASE("export: csv") {
  const World world;
  CHECK(
      world.exported("csv") ==
      "trial_job_id,sequence,source,status,reason,attempts,failures,reports,started,ended,seconds,"
      "score,last,metrics.accuracy,metrics.loss,parameters.lr,parameters.name,parameters.flag,"
      "parameters.layer\n"
      "t0000,0,algorithm,succeeded,\"\",1,0,0,1002.0,1003.5,1.5,0.5,,0.5,NaN,0.1,\"a,b\",True,\n"
      "t0001,1,algorithm,succeeded,\"\",1,0,0,1002.0,1003.5,1.5,inf,,inf,,1,,,"
      "\"{\"\"_name\"\":\"\"conv\"\",\"\"size\"\":3}\"\n"
      "t0002,2,algorithm,failed,\"exit code 3, \"\"oops\"\"\nand more\",1,0,0,1002.0,1003.5,1.5,,,"
      ",,0.3,,,\n");
}

// A report with a metric as a trial writes it.
TrialReport metric_report(const TrialRecord& trial, std::int64_t sequence, const std::string& value,
                          std::uint64_t position) {
  TrialReport report = report_of(trial, sequence, parse_json(value).value_or(json()), position);
  report.text = dump_json({{"parameter_id", trial.sequence},
                           {"trial_job_id", trial.job_id},
                           {"type", "PERIODICAL"},
                           {"sequence", sequence},
                           {"value", value}});
  report.ran = 2.5;
  return report;
}

TEST_CASE("export: intermediate results, a row for each") {
  World world;
  TrialRecord trial = pending_trial(3);
  world.store.add_trial(trial, 1001).value();
  trial.status = TrialStatus::running;
  trial.attempts = 1;
  world.store.add_attempt(trial, "", 1002).value();
  world.store
      .add_report(trial, metric_report(trial, 0, R"({"accuracy": 0.5, "note": "a,b"})", 40), {})
      .value();
  world.store.add_report(trial, metric_report(trial, 1, "NaN", 80), {}).value();
  TrialReport late = metric_report(trial, 2, R"({"accuracy": 0.75, "loss": 2})", 120);
  late.late = true;
  world.store.add_report(trial, late, {}).value();
  TrialReport final = metric_report(trial, 0, "1", 160);
  final.metric.type = ReportMetricData::Type::final;
  world.store.add_report(trial, final, {}).value();
  world.store.commit().value();
  ExportOptions options;
  options.which.directory = world.folder.path.string();
  options.reports = true;
  CHECK(printed(options) ==
        "trial_job_id,attempt,report,sequence,time,seconds,score,late,ignored,metrics.accuracy,"
        "metrics.note,metrics.loss\n"
        "t0003,0,0,0,1003.0,2.5,0.5,False,\"\",0.5,\"a,b\",\n"
        "t0003,0,1,1,1003.0,2.5,NaN,False,\"\",NaN,,\n"
        "t0003,0,2,2,1003.0,2.5,0.75,True,\"\",0.75,,2\n");
  options.format = "jsonl";
  std::istringstream lines(printed(options));
  std::vector<json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(parse_json(line).value());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["format"] == kJsonFormat);
  CHECK(rows[0]["metrics.note"] == "a,b");
  CHECK(rows[2]["score"] == 0.75);
}

TEST_CASE("export: json lines, also into a file") {
  const World world;
  const std::string text = world.exported("jsonl");
  std::istringstream lines(text);
  std::vector<json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(parse_json(line).value());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["format"] == kJsonFormat);
  CHECK(rows[0]["parameters.name"] == "a,b");
  CHECK(std::isnan(rows[0]["metrics.loss"].get<double>()));
  CHECK(rows[1]["score"] == kInfinity);
  CHECK(rows[1]["parameters.layer"]["size"] == 3);
  CHECK(rows[2]["reason"] == "exit code 3, \"oops\"\nand more");
  CHECK_FALSE(rows[2].contains("score"));

  ExportOptions options;
  options.which.directory = world.folder.path.string();
  options.format = "jsonl";
  options.output = (world.folder.path / "out.jsonl").string();
  // What somebody has put in the way is not written through.
  std::ofstream(world.folder.path / "precious") << "x";
  std::filesystem::create_symlink(world.folder.path / "precious", options.output + ".part");
  Printed printed;
  REQUIRE(view(options, printed.console).has_value());
  CHECK(printed.out().empty());
  CHECK(std::filesystem::file_size(world.folder.path / "precious") == 1);
  std::stringstream written;
  written << std::ifstream(options.output).rdbuf();
  CHECK(written.str() == text);
  options.output = "/nowhere/out.jsonl";
  CHECK(view(options, printed.console).error().message.find("cannot write /nowhere/out.jsonl") !=
        std::string::npos);
}

TEST_CASE("export: what is no file is written into, and never replaced") {
  const World world;
  const auto path = world.folder.path;
  ExportOptions options;
  options.which.directory = path.string();
  options.format = "jsonl";
  Printed printed;

  options.output = (path / "fifo").string();
  REQUIRE(::mkfifo(options.output.c_str(), 0600) == 0);
  const UniqueFd reader(::open(options.output.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  REQUIRE(view(options, printed.console).has_value());
  std::string text(65536, '\0');
  const ssize_t size = ::read(reader.get(), text.data(), text.size());
  REQUIRE(size > 0);
  CHECK(text.substr(0, static_cast<std::size_t>(size)) == world.exported("jsonl"));
  CHECK(std::filesystem::is_fifo(options.output));

  std::filesystem::create_symlink("/dev/full", path / "full");
  options.output = (path / "full").string();
  CHECK(view(options, printed.console).error().message.find("No space left") != std::string::npos);
  CHECK(std::filesystem::is_symlink(options.output));
  CHECK(std::filesystem::is_character_file("/dev/full"));

  std::ofstream(path / "precious") << "x";
  std::filesystem::create_symlink("precious", path / "link");
  options.output = (path / "link").string();
  CHECK(view(options, printed.console).error().message.find("is a symbolic link") !=
        std::string::npos);
  CHECK(std::filesystem::file_size(path / "precious") == 1);

  const UniqueFd opened(::open((path / "precious").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  options.output = "/dev/fd/" + std::to_string(opened.get());
  REQUIRE(view(options, printed.console).has_value());
  std::ostringstream all;
  all << std::ifstream(path / "precious").rdbuf();
  CHECK(all.str() == "x" + world.exported("jsonl"));

  options.output = path.string();
  CHECK(view(options, printed.console).error().message.find("is a directory") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path.string() + ".part"));
}

TEST_CASE("export: one that fails leaves nothing") {
  const World world;
  ExportOptions options;
  options.which.directory = world.folder.path.string();
  options.output = (world.folder.path / "out.csv").string();
  Printed printed;
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit lower{64, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &lower);
  const auto written = view(options, printed.console);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  CHECK_FALSE(written.has_value());
  CHECK_FALSE(std::filesystem::exists(options.output));
  CHECK_FALSE(std::filesystem::exists(options.output + ".part"));
}

std::vector<ImportData::Record> read_as(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / name) << text;
  const auto records = read_import_file(folder.path / name);
  INFO((records ? "" : records.error().message));
  REQUIRE(records.has_value());
  return *records;
}

TEST_CASE("import: what was exported, in both forms") {
  const World world;
  for (const char* format : {"csv", "jsonl"}) {
    INFO(format);
    const auto records = read_as(std::string("x.") + format, world.exported(format));
    REQUIRE(records.size() == 2);  // the failed one has no result
    CHECK(records[0].parameter == json{{"lr", 0.1}, {"name", "a,b"}, {"flag", true}});
    CHECK(records[0].value == 0.5);
    CHECK(records[0].trial_job_id == "t0000");
    CHECK(records[1].parameter == json{{"lr", 1}, {"layer", {{"_name", "conv"}, {"size", 3}}}});
    CHECK(records[1].value == kInfinity);
  }
}

}  // namespace attune::export_test
