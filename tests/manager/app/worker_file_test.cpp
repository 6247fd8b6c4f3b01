// The file by which a worker learns what to run.
#include "manager/app/worker_file.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/app/workload.h"
#include "tests/support/temporary_folder.h"

namespace attune::worker_file_test {

using Catch::Contains;
namespace fs = std::filesystem;

// Nothing in it is the default.
TaskProgram program_in(const fs::path& code) {
  TaskProgram program;
  program.command = "run {x} 'é'";
  program.code_directory = code;
  program.arguments = TrialArguments::python_line;
  program.parameter_names = {"x", "y.z"};
  program.environment = {{"B", "{x}"}, {"A", "1"}};  // in this order
  program.templates = {
      {"case.in", "sub/case.toml", TemplateFormat::as_toml, std::string("\0\xff{x}", 5), true}};
  program.in_trial_folder = true;
  program.report.how = ReportRules::How::lines;
  program.report.patterns = {{"(?<loss>.*)", OutputStream::both}, {"b", OutputStream::err}};
  program.report.file = "r.txt";
  program.report.file_regex = "(?<loss>.)";
  program.report.objective = "loss";
  program.gpus = GpuUse::assign;
  program.trials_per_gpu = 3;
  program.output_limit = 1'000'000'000'000'000'000;
  return program;
}

json content_of(const fs::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

fs::path write(const fs::path& file, const json& content) {
  std::ofstream(file) << dump_json(content);
  return file;
}

TEST_CASE("worker file: what is written is read") {
  const TemporaryFolder folder;
  const TaskProgram program = program_in(folder.path);
  const auto file = write_worker_file({"abc", folder.path, program});
  REQUIRE(file);
  const auto read = read_worker_file(*file);
  if (!read) FAIL(read.error().message);
  CHECK(read->id == "abc");
  CHECK(read->directory == folder.path);
  CHECK(to_json(read->program) == to_json(program));
  CHECK(read->program.templates[0].text == program.templates[0].text);
  CHECK(read->program.environment == program.environment);
  CHECK(read->program.output_limit == program.output_limit);
  // The same content is the same file, other content another one.
  CHECK(*write_worker_file({"abc", folder.path, program}) == *file);
  CHECK(*write_worker_file({"abd", folder.path, program}) != *file);
}

TEST_CASE("worker file: that of another version is refused") {
  const TemporaryFolder folder;
  const fs::path file = *write_worker_file({"abc", folder.path, program_in(folder.path)});
  json other = content_of(file);
  SECTION("an experiment file, as it once was") {
    other = {{"experiment", "abc"},
             {"directory", folder.path.string()},
             {"document", {{"trialCommand", "true"}}}};
  }
  SECTION("a later one") { other["form"] = 4; }
  SECTION("no object") { other = json::array(); }
  const auto read = read_worker_file(write(folder.path / "other.json", other));
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message, Contains("other.json is of another version of attune"));
}

TEST_CASE("worker file: what is missing or wrong in it is named") {
  const TemporaryFolder folder;
  const json good = content_of(*write_worker_file({"abc", folder.path, program_in(folder.path)}));
  const auto [pointer, value] = GENERATE(table<std::string, std::string>({
      {"/experiment", R"("../x")"},
      {"/directory", "1"},
      {"/program", "[]"},
      {"/program/command", "null"},
      {"/program/arguments", R"("shell")"},
      {"/program/parameter_names", "[1]"},
      {"/program/environment", R"([["A", "1"]])"},
      {"/program/templates/0/base64", R"("?")"},
      {"/program/templates/0/format", R"("yaml")"},
      {"/program/in_trial_folder", "0"},
      {"/program/report/how", R"("somehow")"},
      {"/program/report/patterns/1/stream", R"("in")"},
      {"/program/gpus", "2"},
      {"/program/trials_per_gpu", "0"},
      {"/program/output_limit", "-1"},
  }));
  INFO(pointer << " = " << value);
  json bad = good;
  bad[json::json_pointer(pointer)] = *parse_json(value);
  CHECK_FALSE(read_worker_file(write(folder.path / "bad.json", bad)));
  bad = good;
  bad[json::json_pointer("/program/code_directory")] = (folder.path / "gone").string();
  CHECK_THAT(read_worker_file(write(folder.path / "bad.json", bad)).error().message,
             Contains("gone, is not there on this machine"));
  CHECK_THAT(read_worker_file(folder.path / "none.json").error().message,
             Contains("need a directory that they share"));
}

// Nothing is searched for: no word of its command is a placeholder.
TEST_CASE("worker file: that of a role holds what the role says") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path / "code");
  std::ofstream(folder.path / "w.yaml") << "commander: solo\n"
                                           "learner:\n"
                                           "  command: learn {none} {x}\n"
                                           "  codeDirectory: code\n"
                                           "  environment: {THREADS: 4, TEXT: '{none}'}\n"
                                           "  needs: {cpu: 1, gpu: 1}\n"
                                           "collector: {command: collect}\n"
                                           "buffer: {policy: uniform}\n";
  const auto made = read_workload(folder.path / "w.yaml", folder.path / "pool", 1);
  if (!made) FAIL(made.error().message);
  int roles = 0;
  for (const auto& entry : fs::directory_iterator(folder.path / "pool" / "workers")) {
    const auto read = read_worker_file(entry.path());
    if (!read) FAIL(read.error().message);
    CHECK(read->id == "coordinator");
    CHECK(read->directory == folder.path / "pool");
    ++roles;
    if (read->program.command == "collect") {
      CHECK(read->program.gpus == GpuUse::inherit);
      CHECK(read->program.code_directory == folder.path);
      continue;
    }
    CHECK(read->program.command == "learn {none} {x}");
    CHECK(read->program.code_directory == folder.path / "code");
    CHECK(read->program.parameter_names.empty());
    CHECK(read->program.environment ==
          std::vector<std::pair<std::string, std::string>>{{"THREADS", "4"}, {"TEXT", "{none}"}});
    CHECK(read->program.gpus == GpuUse::assign);
    CHECK_FALSE(content_of(entry.path()).contains("document"));
  }
  CHECK(roles == 2);
}

}  // namespace attune::worker_file_test
