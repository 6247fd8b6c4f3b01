// attune run with a coordinator that does not start, or that cannot be reached.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <iterator>
#include <tuple>

#include "tests/manager/app/program_folder.h"
#include "tests/support/run_until.h"
#include "wire/address_file.h"

namespace attune::program_pool_test {

using Catch::Contains;
namespace fs = std::filesystem;

constexpr char kTrials[] = "trialConcurrency: 2\nmaxTrialNumber: 3\n";

void on_backend(const ProgramFolder& folder, const std::string& more) {
  folder.write("report FINAL 1", kTrials + more);
}

// A program that runs beside the test.
class Beside {
 public:
  Beside(const ProgramFolder& folder, const std::vector<std::string>& arguments)
      : folder_(folder),
        process_(folder.spawn(io_, arguments, [this](ExitStatus status) { exit_ = status; })) {}

  bool until(const std::function<bool()>& enough) { return test::run_until(io_, enough); }
  bool says(const std::string& text) {
    return until([&] { return folder_.text("err").find(text) != std::string::npos; });
  }
  void signal(int number) { ::kill(process_->pid(), number); }
  bool ends() {
    return until([this] { return exit_.has_value(); });
  }
  int code() const { return exit_->signal == 0 ? exit_->code : -exit_->signal; }

 private:
  const ProgramFolder& folder_;
  boost::asio::io_context io_;
  std::optional<ExitStatus> exit_;
  std::unique_ptr<ChildProcess> process_;
};

TEST_CASE("attune run: a coordinator of its own that cannot start ends it with the reason") {
  const ProgramFolder folder;
  on_backend(folder, "backend: pool\npool: {listen: '192.0.2.1:7000'}\n");
  Run run = folder.run_experiment();
  CHECK(run.code == 2);
  CHECK_THAT(run.err, Contains("cannot listen at 192.0.2.1:7000") &&
                          Contains("exp/coordinator/coordinator.out"));
  const Run list = folder.run({"list", "--dir", "exp"});
  CHECK_THAT(list.out, Contains("failed"));
  run = folder.run({"resume", "--dir", "exp", "--daemon", FAKE_DAEMON});
  CHECK(run.code == 2);
  CHECK_THAT(run.err, Contains("cannot listen at 192.0.2.1:7000"));
}

TEST_CASE("attune run: a coordinator that can never be reached ends it at the start") {
  const ProgramFolder folder;
  std::string where, why;
  std::tie(where, why) =
      GENERATE(table<std::string, std::string>({{"gone", "gone does not exist"},
                                                {"gone/client.json", "gone does not exist"},
                                                {"garbage", "garbage/client.json: "},
                                                {"open", "is open to others"}}));
  fs::create_directory(folder.path / "garbage");
  std::ofstream(folder.path / "garbage/client.json") << "{";
  fs::permissions(folder.path / "garbage/client.json", fs::perms::owner_all);
  fs::create_directory(folder.path / "open");
  REQUIRE(write_address_file(folder.path / "open/client.json",
                             {"127.0.0.1:9", "client", Secret::draw()}));
  fs::permissions(folder.path / "open/client.json", fs::perms::all);
  on_backend(folder, "backend: pool\npool: {coordinator: " + where + "}\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--dry-run"}, {}}) {
    const Run run = folder.run_experiment(more);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Contains(why));
  }
}

TEST_CASE("attune run: Slurm that is not there ends it at the start") {
  ProgramFolder folder;
  folder.environment = {"SLURM_CONF=/nonexistent/slurm.conf"};
  on_backend(folder, "backend: slurm\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--dry-run"}, {}}) {
    const Run run = folder.run_experiment(more);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Contains("SLURM_CONF names /nonexistent/slurm.conf"));
  }
}

TEST_CASE("attune run: a coordinator that refuses for good ends it at the start") {
  const ProgramFolder folder;
  const ProgramFolder elsewhere;
  Beside coordinator(elsewhere, {"coordinator", "--dir", "pool"});
  REQUIRE(coordinator.says("listening on"));
  WireAddress address = read_address_file(elsewhere.path / "pool/client.json").value();
  address.secret = Secret::draw();
  fs::create_directory(folder.path / "pool");
  REQUIRE(write_address_file(folder.path / "pool/client.json", address));
  on_backend(folder, "backend: pool\npool: {coordinator: pool}\n");
  const Run run = folder.run_experiment();
  CHECK(run.code == 2);
  CHECK_THAT(run.err, Contains(address.address + " does not know the secret of role client"));
  coordinator.signal(SIGTERM);
  REQUIRE(coordinator.ends());
}

// What was never submitted has not begun anywhere.
TEST_CASE("attune run: trials wait for a coordinator that is away until the user stops it") {
  const ProgramFolder folder;
  fs::create_directory(folder.path / "pool");
  const bool address = GENERATE(false, true);
  if (address)
    REQUIRE(write_address_file(folder.path / "pool/client.json",
                               {"127.0.0.1:9", "client", Secret::draw()}));
  const std::string why =
      address ? "cannot connect to 127.0.0.1:9" : "cannot open " + folder.path.string() + "/pool";
  on_backend(folder, "backend: pool\npool: {coordinator: pool}\n");
  Beside manager(folder, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON});
  REQUIRE(manager.says("the coordinator cannot be reached: " + why));
  REQUIRE(manager.until([&] {
    const ProgramFolder other;
    return other.run({"status", "--dir", (folder.path / "exp").string()}).out.find(why) !=
           std::string::npos;
  }));
  const bool by_signal = GENERATE(false, true);
  if (by_signal) {
    manager.signal(SIGINT);
  } else {
    const ProgramFolder other;
    CHECK(other.run({"stop", "--dir", (folder.path / "exp").string()}).code == 0);
  }
  REQUIRE(manager.ends());
  CHECK(manager.code() == 130);
  for (const StoredTrial& trial : folder.trials())
    CHECK(trial.trial.status == TrialStatus::pending);
}

TEST_CASE("attune run: trials that may run are left when their coordinator is away") {
  const ProgramFolder folder, elsewhere;
  Beside coordinator(elsewhere, {"coordinator", "--dir", "pool", "--workers", "1"});
  REQUIRE(coordinator.says("listening on"));
  REQUIRE(::mkfifo((folder.path / "go").c_str(), 0600) == 0);
  folder.write("report PERIODICAL 1; read x < go; report FINAL 1",
               fmt::format("trialConcurrency: 1\nmaxTrialNumber: 1\nbackend: pool\n"
                           "pool: {{coordinator: {}}}\n",
                           (elsewhere.path / "pool").string()));
  Beside manager(folder, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON});
  REQUIRE(manager.says("connected to the coordinator"));
  REQUIRE(manager.until([&] {
    const auto trials = folder.trials();
    return trials.size() == 1 && trials[0].reports.size() == 1;
  }));
  coordinator.signal(SIGKILL);
  REQUIRE(coordinator.ends());
  REQUIRE(manager.says("the coordinator cannot be reached: "));
  manager.signal(SIGINT);
  REQUIRE(manager.says("once more"));
  manager.signal(SIGINT);
  REQUIRE(manager.ends());
  CHECK(manager.code() == 130);
  CHECK_THAT(folder.text("err"), Contains("attune resume takes them over"));
  CHECK(folder.trials()[0].trial.status == TrialStatus::running);

  std::ofstream(folder.path / "go") << "\n";
  Beside again(elsewhere, {"coordinator", "--dir", "pool", "--workers", "1"});
  const Run resumed = folder.run({"resume", "--dir", "exp", "--daemon", FAKE_DAEMON});
  CAPTURE(resumed.err);
  CHECK(resumed.code == 0);
  again.signal(SIGTERM);
  REQUIRE(again.ends());
}

// 0: there is none.
pid_t coordinator_in(const fs::path& folder) {
  const std::string wanted = std::string("--dir") + '\0' + (folder / "coordinator").string() + '\0';
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    if (words.find(wanted) != std::string::npos) return std::stoi(entry.path().filename());
  }
  return 0;
}

TEST_CASE("attune run: a coordinator of its own that is killed is told of and started again") {
  const ProgramFolder folder;
  REQUIRE(::mkfifo((folder.path / "go").c_str(), 0600) == 0);
  const UniqueFd go(::open((folder.path / "go").c_str(), O_RDWR | O_CLOEXEC));
  folder.write("read x < go; report FINAL 1", "maxTrialNumber: 1\nbackend: pool\n");
  Beside manager(folder, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON});
  REQUIRE(manager.says("connected to the coordinator"));
  const pid_t first = coordinator_in(folder.path / "exp");
  REQUIRE(first > 0);
  ::kill(first, SIGKILL);
  REQUIRE(manager.says("the experiment's coordinator has ended (killed by signal 9 (Killed)); "));
  REQUIRE(manager.until([&] {
    const pid_t second = coordinator_in(folder.path / "exp");
    return second != 0 && second != first;
  }));
  REQUIRE(::write(go.get(), "\n", 1) == 1);
  REQUIRE(manager.ends());
  CHECK(manager.code() == 0);
}

TEST_CASE("attune pool: alone it asks the coordinator of the newest experiment") {
  const ProgramFolder folder, other;
  REQUIRE(::mkfifo((folder.path / "never").c_str(), 0600) == 0);
  folder.write("read x < never", std::string(kTrials) + "backend: pool\n");
  CHECK_THAT(other.run({"pool"}).err,
             Contains("no coordinator in attune-coordinator, and none of"));
  Beside manager(folder, {"run", "e.yaml", "--daemon", FAKE_DAEMON});
  REQUIRE(manager.says("connected to the coordinator"));
  fs::create_directory_symlink(folder.path / "attune-experiments",
                               other.path / "attune-experiments");
  const Run pool = other.run({"pool", "--json"});
  CHECK(pool.code == 0);
  CHECK_THAT(pool.out, Contains("\"workers\""));
  manager.signal(SIGINT);
  REQUIRE(manager.ends());
  CHECK(manager.code() == 130);
}

}  // namespace attune::program_pool_test
