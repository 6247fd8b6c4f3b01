#pragma once
// A coordinator and workers over real sockets, and a client whose words the test says; in one
// process and thread.
#include <chrono>

#include "cluster/pool/messages.h"
#include "cluster/pool/name_key.h"
#include "cluster/pool/roles.h"
#include "cluster/pool/server/server.h"
#include "cluster/pool/worker/worker_process.h"
#include "cluster/workload/buffer_board.h"
#include "tests/backends/local/gate.h"
#include "tests/cluster/pool/test_trials.h"
#include "tests/support/run_until.h"
#include "wire/address_file.h"

namespace attune::test {

class ServerFixture {
 public:
  struct Client {
    std::unique_ptr<Dialer> dialer;
    std::unique_ptr<Connection> connection;
    std::vector<json> heard;
    std::string closed;  // why

    bool has(std::string_view type, const std::string& task = "") const {
      return std::ranges::any_of(heard, [&](const json& message) {
        return message["type"] == type && (task.empty() || message["task"] == task);
      });
    }
    void say(const json& message) const { REQUIRE(connection->send(message)); }
  };

  void start_server() {
    auto made = make_server();
    if (!made) FAIL(made.error().message);
    server = *std::move(made);
  }
  Result<std::unique_ptr<CoordinatorServer>> make_server() {
    ServerOptions options;
    options.directory = folder.path / "coordinator";
    options.seed = seed;
    options.entropy = ++lives;
    options.coordinator.lost_after = lost_after;
    options.silence = silence;
    options.ping = silence / 4;
    options.look = std::chrono::milliseconds(20);
    return CoordinatorServer::create(io, real_files(), *server_clock, options,
                                     {make_buffer_board, {}, {}}, Log(),
                                     [this] { finished = true; });
  }
  DialerOptions dial(const std::string& role = "client") const {
    DialerOptions options;
    options.file = role_file(folder.path / "coordinator", role).string();
    options.first_pause = std::chrono::milliseconds(5);
    options.longest_pause = std::chrono::milliseconds(50);
    return options;
  }
  void start_worker(const std::string& id, double cpu = 2) {
    WorkerOptions options;
    options.dial = dial("worker");
    options.hello = worker_hello(id, cpu, fmt::format("{}", ++incarnations));
    options.most_tasks = most_tasks;
    options.leave_after = leave_after;
    options.unreachable_after = unreachable_after;
    workers[id] = std::make_unique<WorkerProcess>(
        io, options, Rng(incarnations), Log(),
        WorkerProcess::Handlers{local_backends(io, folder.path, command), [](const std::string&) {},
                                [this, id] { done.insert(id); }});
    workers[id]->begin();
  }
  // A client, or who else is asked for.
  Client& start_client(const Identity& self = {"client", "c"}, json hello = json::object()) {
    if (self.role == "client" && hello.empty()) hello["key"] = test_key(self.name);
    clients.push_back(std::make_unique<Client>());
    Client& client = *clients.back();
    client.dialer = std::make_unique<Dialer>(
        io, dial(self.role), self, Rng(2),
        Dialer::Handlers{[hello] { return hello; },
                         [&client](std::unique_ptr<Connection> connection, const json& welcome) {
                           client.heard.push_back(welcome);
                           client.connection = std::move(connection);
                           client.connection->start(
                               {[&client](json m) { client.heard.push_back(std::move(m)); },
                                [&client](const std::string& why) {
                                  client.closed = why;
                                  client.connection.reset();
                                },
                                {}});
                         },
                         [&client](DialState state, const std::string& why) {
                           if (state == DialState::waiting || state == DialState::refused)
                             client.closed = why;
                         }});
    client.dialer->dial();
    return client;
  }
  // The coordinator has greeted it.
  Client& start_greeted_client(const Identity& self = {"client", "c"}) {
    Client& client = start_client(self);
    REQUIRE(run_until([&] { return client.has("welcome"); }));
    return client;
  }
  // A client, and its trial on the worker "w", which says that it runs.
  Client& start_trial() {
    start_server();
    start_worker("w");
    Client& client = start_greeted_client();
    client.say(trial(0));
    REQUIRE(run_until([&] { return client.has("info"); }));
    return client;
  }
  Client& start_program(const std::string& task, std::int64_t attempt = 0) {
    return start_client({"data", task}, {{"attempt", attempt}, {"key", key_of_program(task)}});
  }
  // Of the present attempt; empty: it has none.
  std::string key_of_program(const std::string& task) const {
    const Board& board = server->coordinator().board();
    const auto found = board.tasks().find(task);
    return found == board.tasks().end() ? ""
                                        : program_key(board.secret(), task, found->second.lease);
  }
  // What somebody of this role knows.
  WireAddress address_for(const std::string& role) const {
    return read_address_file(dial(role).file).value();
  }
  bool run_until(const std::function<bool()>& enough) { return test::run_until(io, enough); }

  json trial(int sequence) {
    return {{"type", "submit"}, {"task", to_json(trial_spec(folder.path, sequence))}};
  }
  static std::vector<std::string> reports(const Client& client, const std::string& id) {
    return report_values(client.heard, id);
  }

  TemporaryFolder folder;
  SystemClock clock;
  const Clock* server_clock = &clock;
  boost::asio::io_context io;
  std::string command = "true";
  double lost_after = 15;
  std::uint64_t most_tasks = 0;                                    // of workers
  std::chrono::milliseconds leave_after{0}, unreachable_after{0};  // of workers
  std::chrono::milliseconds silence{10'000};
  bool finished = false;
  std::set<std::string> done;  // workers that have gone
  std::unique_ptr<CoordinatorServer> server;
  std::map<std::string, std::unique_ptr<WorkerProcess>> workers;
  std::vector<std::unique_ptr<Client>> clients;
  std::uint64_t incarnations = 0, lives = 0;  // of workers, of the coordinator
  std::optional<std::uint64_t> seed;
};

}  // namespace attune::test
