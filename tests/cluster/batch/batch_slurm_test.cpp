// What Slurm 22.05.8 said, and what is made of it.
#include <catch2/catch.hpp>

#include "cluster/batch/slurm_commands.h"
#include "cluster/batch/slurm_job.h"
#include "cluster/batch/slurm_refusal.h"
#include "cluster/batch/slurm_states.h"
#include "tests/support/temporary_folder.h"

namespace attune::batch_slurm_test {

BatchJob least_job() {
  BatchJob job;
  job.name = "at-e1-t7-a0";
  job.script = "#!/bin/sh\ntrue\n";
  return job;
}

CommandEnd said(std::string errors, int code = 1) {
  CommandEnd end;
  end.status.code = code;
  end.errors = std::move(errors);
  return end;
}

bool has(const std::vector<std::string>& options, const std::string& option) {
  return std::ranges::find(options, option) != options.end();
}

bool asks_for(const std::vector<std::string>& options, const std::string& name) {
  return std::ranges::any_of(options, [&](const auto& each) { return each.starts_with(name); });
}

TEST_CASE("batch: a job with everything becomes options of sbatch") {
  BatchJob job = least_job();
  job.output = "/shared/100%/out";
  job.directory = "/shared";
  job.needs = {1.5, 0.5, 1.5 * (1 << 20), {{"card", 2}, {"none", 0}}};
  job.time_limit = 61;
  job.warning = 20;
  job.partition = "spot";
  job.account = "physics";
  job.qos = "low";
  job.comment = "trial 7";
  job.arguments = {"--constraint=fast", "-Jx"};
  CHECK(slurm_options(job).value() ==
        std::vector<std::string>{"--constraint=fast", "-Jx", "--parsable", "--job-name=at-e1-t7-a0",
                                 "--export=ALL", "--no-requeue", "--output=/shared/100%%/out",
                                 "--chdir=/shared", "--comment=trial 7", "--partition=spot",
                                 "--account=physics", "--qos=low", "--nodes=1", "--ntasks=1",
                                 "--cpus-per-task=2", "--mem=2M", "--gres=gpu:1,card:2", "--time=2",
                                 "--signal=B:USR1@20"});
}

TEST_CASE("batch: what a job does not say is left to the site") {
  const auto options = slurm_options(least_job()).value();
  for (const std::string name : {"--time", "--mem", "--gres", "--signal", "--partition",
                                 "--account", "--qos", "--chdir", "--comment"}) {
    INFO(name);
    CHECK_FALSE(asks_for(options, name));
  }
  CHECK(has(options, "--cpus-per-task=1"));
  CHECK(has(options, "--output=/dev/null"));
}

TEST_CASE("batch: devices in Slurm's own words replace those that the needs say") {
  BatchJob job = least_job();
  job.needs.gpu = 1;
  job.needs.custom["no kind of Slurm's"] = 1;
  job.devices = "gpu:a100:1";
  CHECK(has(slurm_options(job).value(), "--gres=gpu:a100:1"));
}

TEST_CASE("batch: time and memory are rounded up and never become 0 which is everything") {
  const auto [seconds, minutes] =
      GENERATE(table<double, std::string>({{0.1, "1"}, {60, "1"}, {60.5, "2"}, {86400, "1440"}}));
  BatchJob job = least_job();
  job.time_limit = seconds;
  CHECK(has(slurm_options(job).value(), "--time=" + minutes));
  const auto [bytes, mem] = GENERATE(
      table<double, std::string>({{1, "1M"}, {1048576, "1M"}, {1048577, "2M"}, {4e9, "3815M"}}));
  job.needs.memory = bytes;
  CHECK(has(slurm_options(job).value(), "--mem=" + mem));
}

TEST_CASE("batch: a job that Slurm cannot have is refused with what to change") {
  const auto check = [](const std::string& about, const auto& change) {
    BatchJob job = least_job();
    change(job);
    const auto options = slurm_options(job);
    INFO(about);
    REQUIRE_FALSE(options);
    CHECK(options.error().permanent);
    CHECK(options.error().about == about);
    CHECK(options.error().message.find(about) != std::string::npos);
  };
  for (const std::string name : {"", "a,b", "a b", "a|b", "../a"})
    check("name", [&](BatchJob& job) { job.name = name; });
  check("name", [](BatchJob& job) { job.name = std::string(201, 'a'); });
  check("script", [](BatchJob& job) { job.script = "true"; });
  check("script", [](BatchJob& job) { job.script = "#!" + std::string(1 << 20, 'a'); });
  check("output", [](BatchJob& job) { job.output = "/a\\b"; });
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    check("resources.cpu", [&](BatchJob& job) { job.needs.cpu = bad; });
    check("resources.gpu", [&](BatchJob& job) { job.needs.gpu = bad; });
    check("resources.memory", [&](BatchJob& job) { job.needs.memory = bad; });
    check("resources.custom.a", [&](BatchJob& job) { job.needs.custom["a"] = bad; });
    check("timeLimit", [&](BatchJob& job) { job.warning = bad; });
  }
  check("resources.custom.a,b", [](BatchJob& job) { job.needs.custom["a,b"] = 1; });
  for (const double bad : {0.0, -1.0, std::nan(""), 1e18})
    check("timeLimit", [&](BatchJob& job) { job.time_limit = bad; });
  check("timeLimit", [](BatchJob& job) { job.warning = job.time_limit = 60; });
  for (const std::string bad :
       {"", "-", "--", "main", "--array=1-3", "--arr=1-3", "-a1", "--wait", "-W", "--wrap=true",
        "-Q", "--quiet", "--clusters=b", "--test-only"})
    check("arguments", [&](BatchJob& job) { job.arguments = {bad}; });
}

TEST_CASE("batch: names that begin like those of options that are ours may be given") {
  BatchJob job = least_job();
  job.arguments = {"--hold", "--wait-all-nodes=1", "--wckey=a", "--constraint=a", "-pmain", "-H"};
  CHECK(slurm_options(job));
}

TEST_CASE("batch: the lines of squeue become states by name") {
  const BatchStates states = parse_slurm_states(
      "Welcome | to | the cluster | today\n"
      "ok|11|COMPLETED|None\n"
      "e7|12|FAILED|NonZeroExitCode\n"
      "e9|13|FAILED|JobLaunchFailure\n"
      "down|14|NODE_FAIL|None\n"
      "held|15|PENDING|JobHeldUser\n"
      "rq|16|PENDING|BeginTime\n"
      "strange|name|17|RUNNING|None\n"
      "cut|18|RUNN");
  REQUIRE(states.size() == 6);
  CHECK(states.at("ok") == BatchState{"11", BatchPhase::ended, BatchCause::completed, "", ""});
  CHECK(states.at("e7").cause == BatchCause::failed);
  CHECK(states.at("e7").reason == "NonZeroExitCode");
  CHECK(states.at("down").cause == BatchCause::node_failed);
  CHECK(states.at("held").stuck.find("scontrol release") != std::string::npos);
  CHECK(states.at("rq") ==
        BatchState{"16", BatchPhase::pending, BatchCause::none, "BeginTime", ""});
  CHECK(parse_slurm_states("").empty());
  CHECK(parse_slurm_states("\n\n|||\na|1|RUNNING\n").empty());
}

TEST_CASE("batch: of several jobs with one name a living one counts and then the latest") {
  CHECK(parse_slurm_states("a|9|FAILED|None\na|10|COMPLETED|None\n").at("a").id == "10");
  CHECK(parse_slurm_states("a|10|COMPLETED|None\na|9|FAILED|None\n").at("a").id == "10");
  CHECK(parse_slurm_states("a|9|RUNNING|None\na|10|FAILED|None\n").at("a").id == "9");
  CHECK(parse_slurm_states("a|10|FAILED|None\na|9|RUNNING|None\n").at("a").id == "9");
}

TEST_CASE("batch: every end has its cause, and only ends have one") {
  const auto [word, cause] = GENERATE(table<std::string, BatchCause>({
      {"COMPLETED", BatchCause::completed},
      {"FAILED", BatchCause::failed},
      {"NODE_FAIL", BatchCause::node_failed},
      {"PREEMPTED", BatchCause::preempted},
      {"TIMEOUT", BatchCause::time_limit},
      {"OUT_OF_MEMORY", BatchCause::out_of_memory},
      {"BOOT_FAIL", BatchCause::boot_failed},
      {"CANCELLED", BatchCause::cancelled},
      {"DEADLINE", BatchCause::deadline},
      {"REVOKED", BatchCause::revoked},
  }));
  CHECK(slurm_state(word).phase == BatchPhase::ended);
  CHECK(slurm_state(word).cause == cause);
  for (const std::string alive :
       {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING", "A_NEW_ONE"}) {
    CHECK(slurm_state(alive).phase != BatchPhase::ended);
    CHECK(slurm_state(alive).cause == BatchCause::none);
  }
}

TEST_CASE("batch: a pending job is stuck for reasons that do not pass") {
  for (const std::string stuck :
       {"DependencyNeverSatisfied", "launch failed requeued held", "JobHeldAdmin", "JobHeldUser",
        "PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "AccountNotAllowed",
        "JobHoldMaxRequeue", "QOSMaxCpuPerJobLimit", "AssocMaxWallDurationPerJobLimit"}) {
    INFO(stuck);
    CHECK(slurm_stuck(stuck).find(stuck) != std::string::npos);
  }
  for (const std::string passes :
       {"None", "Resources", "Priority", "BeginTime", "Dependency", "Licenses",
        "ReqNodeNotAvail, UnavailableNodes:n4", "AssocGrpCpuLimit", "QOSGrpCpuLimit",
        "QOSMaxJobsPerUserLimit", "QOSMaxCpuPerUserLimit", "AssocMaxJobsLimit"}) {
    INFO(passes);
    CHECK(slurm_stuck(passes).empty());
  }
}

TEST_CASE("batch: a job that a node could not start is told from one that somebody holds") {
  const BatchStates states = parse_slurm_states(
      "a|1|PENDING|launch failed requeued held\n"
      "b|2|PENDING|JobHeldUser\n"
      "c|3|RUNNING|launch failed requeued held\n"
      "d|4|PENDING|Priority\n");
  CHECK(states.at("a").failed_to_start);
  for (const std::string other : {"b", "c", "d"}) CHECK_FALSE(states.at(other).failed_to_start);
}

TEST_CASE("batch: what sbatch says of the job is permanent and names what to change") {
  constexpr auto kFailed = "sbatch: error: Batch job submission failed: ";
  const auto [errors, about] = GENERATE_COPY(table<std::string, std::string>({
      {"sbatch: error: invalid partition specified: nope\n" + std::string(kFailed) +
           "Invalid partition name specified\n",
       "partition"},
      {kFailed + std::string("Invalid account or account/partition combination specified\n"),
       "account"},
      {kFailed + std::string("Invalid qos specification\n"), "qos"},
      {"sbatch: error: CPU count per node can not be satisfied\n" + std::string(kFailed) +
           "Requested node configuration is not available\n",
       "resources.cpu"},
      {"sbatch: error: Memory specification can not be satisfied\n" + std::string(kFailed) +
           "Requested node configuration is not available\n",
       "resources.memory"},
      {kFailed + std::string("Requested node configuration is not available\n"), "resources"},
      {"sbatch: error: Invalid generic resource (gres) specification\n", "resources or gres"},
      {kFailed + std::string("Requested time limit is invalid (missing or exceeds some limit)\n"),
       "timeLimit"},
      {kFailed + std::string("Invalid feature specification\n"), "arguments"},
      {kFailed + std::string("Node count specification invalid\n"), "arguments"},
      {kFailed + std::string("Requested reservation is invalid\n"), "arguments"},
      {"sbatch: unrecognized option '--bogus'\nTry \"sbatch --help\" for more information\n",
       "arguments"},
      {"sbatch: error: Invalid --begin specification\n", "arguments"},
      {"sbatch: error: QOSMaxCpuPerJobLimit\n" + std::string(kFailed) +
           "Job violates accounting/QOS policy (job submit limit, user's size and/or time "
           "limits)\n",
       "resources"},
      {"sbatch: error: our site wants you to say please\n", ""},
  }));
  const BatchRefusal refusal = slurm_refusal(said(errors));
  INFO(refusal.message);
  CHECK(refusal.permanent);
  CHECK(refusal.about == about);
  CHECK(refusal.tells_about == !about.empty());
  CHECK(refusal.message.find(about) != std::string::npos);
  CHECK(refusal.message.find("sbatch: ") == std::string::npos);
  CHECK(refusal.message.find('\n') == std::string::npos);
}

TEST_CASE("batch: what passes is no refusal for ever") {
  constexpr auto kFailed = "sbatch: error: Batch job submission failed: ";
  for (const std::string text :
       {"Unable to contact slurm controller (connect failure)",
        "Socket timed out on send/recv operation", "Slurm backup controller in standby mode",
        "Zero Bytes were transmitted or received", "Transport endpoint is not connected",
        "I/O error writing script/environment to file", "Protocol authentication error",
        "Requested partition configuration not available now",
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"}) {
    INFO(text);
    CHECK_FALSE(slurm_refusal(said(kFailed + text + "\n")).permanent);
  }
  CommandEnd killed = said("");
  killed.status = {0, 9};
  CHECK_FALSE(slurm_refusal(killed).permanent);
  CommandEnd late = said(kFailed + std::string("Invalid qos specification"));
  late.trouble = "sbatch does not answer within 60 s";
  CHECK_FALSE(slurm_refusal(late).permanent);
  CHECK(slurm_refusal(late).message.find("60 s") != std::string::npos);
}

TEST_CASE("batch: a complaint is one line of limited length") {
  CHECK(slurm_complaint(said("squeue: error: a\tb\n\nsqueue: fatal: c\n")) == "a b; c");
  CHECK(slurm_complaint(said("", 3)) == "exit code 3");
  CHECK(slurm_complaint(said(std::string(1 << 20, 'x'))).size() < 1000);
}

TEST_CASE("batch: the id is what sbatch says last") {
  const SlurmCommands slurm({});
  const auto id_of = [&](const std::string& output) {
    CommandEnd end;
    end.output = output;
    const auto submission = slurm.submitted(end);
    return submission ? submission->id : submission.error().permanent ? "permanent" : "again";
  };
  CHECK(id_of("1234\n") == "1234");
  CHECK(id_of("1234;cluster\n") == "1234");
  CHECK(id_of("Welcome!\n1234\n") == "1234");
  CHECK(id_of("") == "again");
  CHECK(id_of("Submitted batch job 12\n") == "again");
}

TEST_CASE("batch: the programs are asked for names of this user") {
  const SlurmCommands slurm({"/s/sbatch", "/s/squeue", "/s/scancel", "me"});
  CHECK(slurm.list({}).arguments == std::vector<std::string>{"/s/squeue", "--noheader", "--array",
                                                             "--states=all", "--me",
                                                             "--format=%j|%i|%T|%r"});
  CHECK(slurm.list({"a", "b"}).arguments.back() == "--name=a,b");
  CHECK(slurm.cancel({"a", "b"}).at(1).arguments ==
        std::vector<std::string>{"/s/scancel", "--user=me", "--name=b"});
  const CommandLine submit = slurm.submit(least_job()).value();
  CHECK(submit.arguments.at(0) == "/s/sbatch");
  CHECK(submit.input == least_job().script);
}

TEST_CASE("batch: the user's defaults do not hide jobs and those for places stay") {
  CHECK(slurm_environment({"PATH=/bin", "SQUEUE_STATES=R", "SBATCH_WAIT=1", "SBATCH_ACCOUNT=a",
                           "SCANCEL_STATE=R", "SLURM_CLUSTERS=b", "SLURM_CONF=/c", "LC_ALL=de"}) ==
        std::vector<std::string>{"PATH=/bin", "SBATCH_ACCOUNT=a", "SLURM_CONF=/c", "LC_ALL=C"});
}

TEST_CASE("batch: a job inherits nothing of the machine and job that submit it") {
  CHECK(sbatch_environment({"PATH=/bin", "SLURM_CONF=/c", "SLURM_JOB_ID=7", "SLURMD_NODENAME=n",
                            "TMPDIR=/t", "CUDA_VISIBLE_DEVICES=1", "SBATCH_ACCOUNT=a",
                            "HOSTNAME=login", "HOME=/root"}) ==
        std::vector<std::string>{"PATH=/bin", "SLURM_CONF=/c", "SBATCH_ACCOUNT=a", "HOME=/root"});
}

TEST_CASE("batch: programs and configuration that are missing are named with the cure") {
  const TemporaryFolder folder;
  const auto none = find_slurm({"PATH=" + folder.path.string()});
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("sbatch is not in PATH") != std::string::npos);
  CHECK(none.error().message.find("slurm-client") != std::string::npos);
  const auto conf = find_slurm({"PATH=/bin", "SLURM_CONF=/nowhere/slurm.conf"});
  REQUIRE_FALSE(conf);
  CHECK(conf.error().message.find("/nowhere/slurm.conf") != std::string::npos);
}

}  // namespace attune::batch_slurm_test
