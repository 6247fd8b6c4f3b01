#include "tests/slurm/slurm_world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "cluster/batch/slurm_commands.h"
#include "os/program_path.h"

namespace attune {
namespace {

constexpr auto kScripts = SLURM_TEST_SCRIPTS;
constexpr int kTries = 400;  // each followed by a pause

std::string search_path() {
  const char* path = ::getenv("PATH");
  return std::string(path ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin";
}

// Runs until `done` is set by something that `io` calls.
template <class T>
T turn_until(boost::asio::io_context& io, const std::optional<T>& done) {
  io.restart();
  while (!done && io.run_one() > 0) {
  }
  if (!done) throw std::runtime_error("no answer");
  return *done;
}

}  // namespace

std::optional<std::string> slurm_is_missing() {
  for (const char* name : {"slurmctld", "slurmd", "sbatch"}) {
    if (!find_in_path(name, search_path())) {
      return fmt::format("{} is not here; scripts/install_deps.sh test installs it", name);
    }
  }
  return std::nullopt;
}

SlurmWorld::SlurmWorld() {
  environment_ =
      slurm_environment({"PATH=" + search_path(), "SLURM_CONF=" + path("slurm.conf").string()});
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const UniqueFd guarded(fds[0]);
  life_.reset(fds[1]);
  ProcessSpec spec;
  spec.arguments = {kScripts + std::string("/slurm_up.sh"), folder_.string()};
  spec.environment = {"PATH=" + search_path(), "SLURM_GUARD=1"};
  spec.directory = "/";
  spec.descriptors = {{0, guarded.get()}, {2, 2}};
  std::optional<ExitStatus> exit;
  const auto up = ChildProcess::spawn(io_, spec, [&](ExitStatus status) { exit = status; });
  if (!up || !turn_until(io_, exit).success()) throw std::runtime_error("slurm_up.sh failed");
  runner_ = std::make_unique<CommandRunner>(io_, environment_, 1);
  system_ = std::make_unique<CommandBatchSystem>(
      io_, std::make_unique<SlurmCommands>(find_slurm(environment_).value()), environment_,
      sbatch_environment(environment_));
}

SlurmWorld::~SlurmWorld() {
  try {
    run(kScripts + std::string("/slurm_down.sh"), {folder_.string()});
  } catch (const std::exception&) {
    life_.reset();  // the guard does it
  }
}

BatchSubmission SlurmWorld::submit(const BatchJob& job) {
  std::optional<BatchSubmission> answer;
  system_->submit(job, [&](const BatchSubmission& each) { answer = each; });
  return turn_until(io_, answer);
}

Result<BatchStates> SlurmWorld::list() {
  std::optional<Result<BatchStates>> answer;
  system_->list([&](const Result<BatchStates>& each) { answer = each; });
  return turn_until(io_, answer);
}

Result<void> SlurmWorld::cancel(const std::string& name) {
  std::optional<Result<void>> answer;
  system_->cancel({name}, [&](const Result<void>& each) { answer = each; });
  return turn_until(io_, answer);
}

BatchState SlurmWorld::wait_for(const std::string& name,
                                const std::function<bool(const BatchState&)>& wanted) {
  std::optional<BatchState> seen;
  for (int i = 0; i < kTries && !(seen && wanted(*seen)); ++i) {
    if (i > 0) pause();
    const auto states = list();
    if (!states) throw std::runtime_error(states.error().message);
    if (states->contains(name)) seen = states->at(name);
  }
  return seen ? *seen : throw std::runtime_error("there is no job " + name);
}

BatchState SlurmWorld::wait_for_phase(const std::string& name, BatchPhase phase) {
  return wait_for(name, [phase](const BatchState& state) { return state.phase == phase; });
}

CommandEnd SlurmWorld::run(const std::string& program, const std::vector<std::string>& arguments) {
  CommandLine command;
  command.arguments = arguments;
  command.arguments.insert(command.arguments.begin(),
                           find_in_path(program, search_path()).value_or(program));
  std::optional<CommandEnd> answer;
  runner_->run(command, [&](const CommandEnd& end) { answer = end; });
  return turn_until(io_, answer);
}

void SlurmWorld::kill_by_file(const std::string& name) {
  std::ifstream file(path(name));
  pid_t pid = 0;
  if (!(file >> pid) || ::kill(pid, SIGKILL) != 0) throw std::runtime_error("no " + name);
  for (int i = 0; i < kTries && ::kill(pid, 0) == 0; ++i) pause();  // until its port is free
}

// It makes itself a daemon. In a session of its own at once: what is left of the group of a child
// that has ended is killed.
void SlurmWorld::start_daemon(const std::string& program, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"--wait", find_in_path(program, search_path())->string(), "-f",
                                    path("slurm.conf").string()};
  words.insert(words.end(), more.begin(), more.end());
  run("setsid", words);
}

void SlurmWorld::kill_node_daemon(const std::string& node) {
  kill_by_file("slurmd." + node + ".pid");
}

void SlurmWorld::start_node_daemon(const std::string& node) {
  start_daemon("slurmd", {"-N", node});
}

void SlurmWorld::kill_controller() { kill_by_file("slurmctld.pid"); }

void SlurmWorld::start_controller() {
  constexpr int kLists = 10;  // each tries for some seconds itself
  start_daemon("slurmctld", {});
  for (int i = 0; i < kLists; ++i) {
    if (list()) return;
    pause();
  }
  throw std::runtime_error("the controller does not start");
}

void SlurmWorld::await_idle_nodes() {
  for (int i = 0; i < kTries; ++i) {
    if (run("sinfo", {"-h", "-p", "main", "-t", "idle", "-o", "%D"}).output == "4\n") return;
    pause();
  }
  throw std::runtime_error("the nodes do not become idle");
}

void SlurmWorld::await_saved(const std::string& name) {
  for (int i = 0; i < kTries; ++i) {
    std::ifstream file(path("state") / "job_state");
    if (std::string(std::istreambuf_iterator<char>(file), {}).find(name) != std::string::npos)
      return;
    pause();
  }
  throw std::runtime_error("the controller does not save its state");
}

void SlurmWorld::pause() {
  boost::asio::steady_timer timer(io_, std::chrono::milliseconds(50));
  std::optional<bool> over;
  timer.async_wait([&](const boost::system::error_code&) { over = true; });
  turn_until(io_, over);
}

SlurmWorld& slurm_world() {
  static SlurmWorld world;
  return world;
}

BatchJob slurm_job(std::string name, const std::string& commands) {
  BatchJob job;
  job.name = std::move(name);
  job.script = "#!/bin/sh\n" + commands + "\n";
  job.needs.cpu = 1;
  return job;
}

}  // namespace attune
