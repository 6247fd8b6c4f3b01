// Real processes; see local_fixture.h.
#include "tests/backends/local/local_fixture.h"

namespace attune::local_backend_test {

using namespace test;

TEST_CASE("local backend: a trial finds its files and environment, and its metrics come back") {
  LocalFixture f(R"(cat; pwd; env | sort | grep -E '^(NNI_|ATTUNE_|KEPT)'; echo oops >&2
               report PERIODICAL 0 0.25; report FINAL 0 0.5)");
  f.start(3);
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  REQUIRE(f.reports.size() == 2);
  CHECK(f.reports_before_end == 2);
  CHECK(f.reports[1].metric.value == 0.5);
  CHECK(f.problems.empty());
  const std::string folder = f.trial(3).string();
  CHECK(read_text(f.trial(3) / "stdout") ==
        f.directory.string() + "\nATTUNE_ATTEMPT=0\nATTUNE_CHECKPOINT_DIR=" + folder +
            "/checkpoint\nKEPT=yes\nNNI_CODE_DIR=" + f.directory.string() +
            "\nNNI_EXP_ID=experiment\nNNI_OUTPUT_DIR=" + folder +
            "\nNNI_PLATFORM=local\nNNI_SYS_DIR=" + folder +
            "\nNNI_TRIAL_JOB_ID=t3\nNNI_TRIAL_SEQ_ID=3\n");
  CHECK(read_text(f.backend->stderr_path("t3")) == "oops\n");
  CHECK(read_text(fs::path(folder) / "parameter.cfg") == trial_start(3).parameter_text);
}

TEST_CASE("local backend: how a trial ended is told") {
  struct Row {
    std::string command;
    Ending how;
    std::string detail;
  };
  const Row row = GENERATE(
      values<Row>({{"true", Ending::succeeded, "exit code 0"},
                   {"exit 3", Ending::failed, "exit code 3"},
                   {"kill -SEGV $$", Ending::signalled, "killed by signal 11 (Segmentation fault)"},
                   {"kill -9 $$", Ending::signalled, "killed by signal 9 (Killed)"},
                   {"bash -c 'kill -SEGV $$'; exit $?", Ending::failed,
                    "exit code 139, which a shell gives for signal 11 (Segmentation fault)"},
                   {"no_such_program", Ending::failed, "exit code 127"}}));
  CAPTURE(row.command);
  LocalFixture f(row.command);
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == row.how);
  CHECK(f.finished[0].detail == row.detail);
  CHECK(f.reports.empty());
  CHECK(f.problems.empty());
}

TEST_CASE("local backend: what a trial used is told") {
  LocalFixture f(
      "head -c 30000000 /dev/zero | tail -c 20000000 > /dev/null; i=0; "
      "while [ $i -lt 20000 ]; do i=$((i+1)); done");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].cpu_seconds > 0.001);
  CHECK(f.finished[0].max_rss > 10e6);  // tail keeps what it will print
  CHECK(f.finished[0].max_rss < 1e9);
  CHECK(f.finished[0].time > 1.6e9);
}

TEST_CASE("local backend: lack of memory is told from other kills") {
  // The trial stands in for the kernel: it counts a kill, and kills itself.
  const auto counted = GENERATE(0, 1);
  CAPTURE(counted);
  LocalFixture f("echo oom_kill " + std::to_string(7 + counted) + " > events; kill -9 $$",
                 [](LocalBackendOptions& options) {
                   options.memory_events = options.code_directory / "events";
                 });
  std::ofstream(f.directory / "events") << "low 0\noom 2\noom_kill 7\n";
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == (counted == 1 ? Ending::out_of_memory : Ending::signalled));
  if (counted == 1) CHECK(f.finished[0].detail == "out of memory: killed by signal 9 (Killed)");
}

TEST_CASE("local backend: reports arrive while the trial runs") {
  LocalFixture f("report PERIODICAL 0 1; read line < go; report FINAL 0 2");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  CHECK(f.finished.empty());
  std::ofstream(f.directory / "go") << "on\n";
  REQUIRE(f.run_to_end());
  CHECK(f.reports.size() == 2);
}

TEST_CASE("local backend: a flood of metrics arrives whole and in order") {
  constexpr int kCount = 100'000;
  LocalFixture f(
      "awk -v id=$NNI_TRIAL_JOB_ID 'BEGIN { for (i = 0; i < 100000; ++i) { "
      "r = sprintf(\"{\\\"parameter_id\\\": 0, \\\"trial_job_id\\\": \\\"%s\\\", \\\"type\\\": "
      "\\\"PERIODICAL\\\", \\\"sequence\\\": %d, \\\"value\\\": \\\"%d\\\"}\", id, i, i); "
      "printf \"ME%06d%s\\n\", length(r) + 1, r } }' >> $NNI_SYS_DIR/.nni/metrics");
  f.start();
  REQUIRE(f.run_to_end());
  REQUIRE(f.problems.empty());
  REQUIRE(f.reports.size() == kCount);
  bool in_order = true;
  for (int i = 0; i < kCount; ++i) in_order = in_order && f.reports[i].metric.sequence == i;
  CHECK(in_order);
}

TEST_CASE("local backend: of 100 MB of output the beginning and the end are kept") {
  LocalFixture f(
      "echo first; head -c 100000000 /dev/zero; grep VmHWM /proc/$PPID/status >&2; "
      "echo last; report FINAL 0 1",
      [](LocalBackendOptions& options) { options.output_limit = 1'000'000; });
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  CHECK(f.reports.size() == 1);
  REQUIRE(f.problems.size() == 1);
  CHECK(f.problems[0].find("stdout: the trial writes more than 1000000 bytes") !=
        std::string::npos);
  const std::string text = read_text(f.trial() / "stdout");
  CHECK(text.size() > 1'000'000);
  CHECK(text.size() < 1'200'000);
  CHECK(text.starts_with("first\n"));
  CHECK(text.ends_with("last\n"));
  CHECK(text.find("bytes are left out]") != std::string::npos);
  std::istringstream memory(read_text(f.backend->stderr_path("t0")));  // of the shim, at most
  std::string name;
  double kilobytes = 1e9;
  memory >> name >> kilobytes;
  CHECK(kilobytes < 50'000);
}

TEST_CASE("local backend: output within the limit is whole, and goes on in the next attempt") {
  LocalFixture f("echo attempt $ATTUNE_ATTEMPT; echo bad >&2",
                 [](LocalBackendOptions& options) { options.output_limit = 10; });
  f.start(0, 0);
  REQUIRE(f.run_to_end(1));
  f.start(0, 1);
  REQUIRE(f.run_to_end(2));
  CHECK(f.problems.empty());
  CHECK(read_text(f.trial() / "stdout") == "attempt 0\nattempt 1\n");
  CHECK(read_text(f.backend->stderr_path("t0")) == "bad\nbad\n");
}

TEST_CASE("local backend: a trial that closes its output, or gives it away, holds nobody up") {
  LocalFixture f(GENERATE("exec >&- 2>&-; report FINAL 0 1", "(sleep 1000 &) ; report FINAL 0 1",
                          "head -c 1000000 /dev/zero & report FINAL 0 1"));
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  CHECK(f.reports.size() == 1);
}

TEST_CASE("local backend: metrics that cannot be used are explained") {
  LocalFixture f(
      "echo hello >> $NNI_SYS_DIR/.nni/metrics; NNI_TRIAL_JOB_ID=other report FINAL 0 1");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.reports.empty());
  REQUIRE(f.problems.size() == 2);
  CHECK(f.problems[0].find("byte 0") != std::string::npos);
  CHECK(f.problems[1].find("NNI_TRIAL_JOB_ID") != std::string::npos);
}

TEST_CASE("local backend: metrics that are no numbers, or come in pieces, arrive") {
  LocalFixture f(R"(report PERIODICAL 0 NaN
    r="{\"parameter_id\": 0, \"trial_job_id\": \"$NNI_TRIAL_JOB_ID\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"7\"}"
    printf 'ME%06d' $((${#r}+1)) >> $NNI_SYS_DIR/.nni/metrics; read line < go
    echo "$r" >> $NNI_SYS_DIR/.nni/metrics)");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  std::ofstream(f.directory / "go") << "on\n";
  REQUIRE(f.run_to_end());
  REQUIRE(f.reports.size() == 2);
  CHECK(f.reports[0].text.find("NaN") != std::string::npos);
  CHECK(f.reports[1].metric.value == 7);
  CHECK(f.reports[1].position == fs::file_size(f.trial() / ".nni/metrics"));
}

TEST_CASE("local backend: the last metric before a crash comes before the end") {
  LocalFixture f("report FINAL 0 1; kill -9 $$");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::signalled);
  CHECK(f.reports_before_end == 1);
  CHECK_FALSE(f.reports.at(0).late);
}

TEST_CASE("local backend: a running trial gets one more configuration") {
  LocalFixture f("read line < go; cat $NNI_SYS_DIR/parameter_1.cfg");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.backend->give_parameter("t0", 1, "second").has_value());
  std::ofstream(f.directory / "go") << "on\n";
  REQUIRE(f.run_to_end());
  CHECK(read_text(f.trial() / "stdout") == "second");
  SECTION("which its next attempt does not find") {
    f.start(0, 1);
    CHECK_FALSE(fs::exists(f.trial() / "parameter_1.cfg"));
  }
}

TEST_CASE("local backend: many trials at once") {
  LocalFixture f("report FINAL 0 $NNI_TRIAL_SEQ_ID");
  for (int i = 0; i < 20; ++i) f.start(i);
  REQUIRE(f.run_to_end(20));
  CHECK(f.reports.size() == 20);
}

TEST_CASE("local backend: the command gets the parameters as arguments") {
  const auto how = GENERATE(TrialArguments::command_line, TrialArguments::json_file);
  LocalFixture f("printf '%s\\n'", [&](LocalBackendOptions& options) { options.arguments = how; });
  f.start();
  REQUIRE(f.run_to_end());
  const std::string folder = f.trial().string();
  const std::string checkpoint = "--st_checkpoint_dir\n" + folder + "/checkpoint\n";
  if (how == TrialArguments::command_line) {
    CHECK(read_text(f.trial() / "stdout") == "--lr\n0.5\n--name\na b\n" + checkpoint);
  } else {
    CHECK(read_text(f.trial() / "stdout") ==
          "--st_config_json_filename\n" + folder + "/config.json\n" + checkpoint);
    CHECK(read_text(fs::path(folder) / "config.json") == R"({"lr":0.5,"name":"a b"})");
  }
}

TEST_CASE("local backend: files and folders are for the user alone") {
  LocalFixture f("echo x; echo y >&2");
  f.start();
  REQUIRE(f.run_to_end());
  const auto mode = [&](const char* name) {
    return fs::symlink_status(f.trial() / name).permissions();
  };
  for (const char* name : {"parameter.cfg", "stdout", "stderr", ".nni/metrics", "spool.0"}) {
    CAPTURE(name);
    CHECK(mode(name) == (fs::perms::owner_read | fs::perms::owner_write));
  }
  for (const char* name : {"", ".nni", "checkpoint"}) {
    CAPTURE(name);
    CHECK(mode(name) == fs::perms::owner_all);
  }
}

TEST_CASE("local backend: the trial has the limits of a program, not those of the manager") {
  LocalFixture f("ulimit -n; cat /proc/self/oom_score_adj; ls /proc/self/fd | wc -l",
                 [](LocalBackendOptions& options) { options.file_limit = 123; });
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(read_text(f.trial() / "stdout") == "123\n500\n4\n");  // 0, 1, 2, and that of ls
}

TEST_CASE("local backend: GPUs are hidden, or assigned and given back") {
  const auto gpus = GENERATE(GpuUse::hide, GpuUse::assign);
  LocalFixture f("echo $CUDA_VISIBLE_DEVICES", [&](LocalBackendOptions& options) {
    options.gpus = gpus;
    options.gpu_indices = {4, 2};
    options.trials_per_gpu = 3;
  });
  CHECK(f.backend->capacity().gpu == (gpus == GpuUse::assign ? 6 : 0));
  for (int i = 0; i < 3; ++i) {
    TrialStart start = trial_start(i);
    start.resources.gpu = 1;
    REQUIRE(f.try_start(start).has_value());
    REQUIRE(f.run_to_end(i + 1));
  }
  const auto shown = [&](int i) { return read_text(f.trial(i) / "stdout"); };
  if (gpus == GpuUse::hide) {
    CHECK(shown(0) == "-1\n");
  } else {
    CHECK(shown(0) == "4\n");
    CHECK(shown(1) == "2\n");
    CHECK(shown(2) == "4\n");
    REQUIRE(f.places.size() == 3);
    CHECK(f.places[1].job_id == trial_start(1).job_id);
    CHECK(f.places[1].gpus == "2");
    CHECK(f.places[1].waits_for.empty());
  }
  if (gpus == GpuUse::hide) CHECK(f.places.empty());
}

TEST_CASE("local backend: backends of one machine share its GPUs") {
  const auto gpus = std::make_shared<GpuRotation>(std::vector<GpuName>{"4", "2"}, 1);
  const auto options_of = [&](const std::string& experiment) {
    return [&gpus, experiment](LocalBackendOptions& options) {
      options.experiment_id = experiment;
      options.gpus = GpuUse::assign;
      options.shared_gpus = gpus;
    };
  };
  LocalFixture one("echo $CUDA_VISIBLE_DEVICES", options_of("one"));
  LocalFixture other("echo $CUDA_VISIBLE_DEVICES", options_of("other"));
  TrialStart start = trial_start(0);
  start.resources.gpu = 1;
  REQUIRE(one.try_start(start));
  REQUIRE(other.try_start(start));
  REQUIRE(one.run_to_end());
  REQUIRE(other.run_to_end());
  CHECK(read_text(one.trial() / "stdout") == "4\n");
  CHECK(read_text(other.trial() / "stdout") == "2\n");
  start = trial_start(1);
  start.resources.gpu = 2;
  REQUIRE(other.try_start(start));
  REQUIRE(other.run_to_end(2));
  CHECK(read_text(other.trial(1) / "stdout") == "4,2\n");
}

TEST_CASE("local backend: what cannot be started is an error, and nothing follows") {
  LocalFixture f("true");
  f.start(0);
  const auto twice = f.try_start(trial_start(0, 1));
  REQUIRE_FALSE(twice.has_value());
  CHECK(twice.error().message.find("runs already") != std::string::npos);
  REQUIRE(f.run_to_end());
  // Of an attempt that was forgotten the spool is kept.
  f.start(0);
  REQUIRE(f.run_to_end(2));
  CHECK(fs::exists(f.trial() / "spool.0.forgotten"));

  TrialStart path = trial_start(1);
  path.job_id = "../t1";
  CHECK_FALSE(f.try_start(path).has_value());
  fs::remove_all(f.directory / "experiment");
  std::ofstream(f.directory / "experiment") << "a file";
  CHECK_FALSE(f.try_start(trial_start(1)).has_value());
  fs::remove(f.directory / "experiment");
  f.start(1);  // which does not run already
  REQUIRE(f.run_to_end(3));

  LocalBackendOptions options = local_options("/nowhere", "true");
  CHECK_FALSE(LocalBackend::create(f.io, options, [] {}).has_value());
  options = local_options(f.directory, "true");
  options.shim = "/nowhere/attune-shim";
  const auto no_shim = LocalBackend::create(f.io, options, [] {});
  REQUIRE_FALSE(no_shim.has_value());
  CHECK(no_shim.error().message.find("/nowhere/attune-shim") != std::string::npos);
}

}  // namespace attune::local_backend_test
