// How fast a coordinator assigns and cancels: a server in one thread, a client and workers that
// answer at once in another, over loopback. One task in fifty does not end by itself, and is
// cancelled when it runs. Prints two lines for each durability.
//   bench_coordinator [TASKS [OUTSTANDING [WORKERS]]]
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cluster/pool/messages.h"
#include "cluster/pool/roles.h"
#include "cluster/pool/server/server.h"
#include "cluster/workload/buffer_board.h"
#include "os/clock.h"
#include "wire/dialer.h"

namespace attune {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Load {
  int tasks = 50'000;
  int outstanding = 1'000;
  int workers = 16;
};

// The client and the workers.
class Others {
 public:
  Others(const std::filesystem::path& directory, const Load& load) : load_(load) {
    for (int i = 0; i < load.workers; ++i) {
      WorkerHello hello;
      hello.id = fmt::format("w{}", i);
      hello.incarnation = "1";
      hello.host = "host";
      hello.key = std::string(64, '1');
      hello.capacity.cpu = 1e6;
      dial(role_file(directory, kWorkerRole), {"worker", hello.id}, to_json(hello),
           [this](Connection& self, const json& m) { work(self, m); });
    }
    client_ = static_cast<int>(dialers_.size());
    dial(role_file(directory, kClientRole), {"client", "c"}, {{"key", std::string(64, '1')}},
         [this](Connection&, const json& m) { hear(m); });
  }
  void run() {
    while (ended_ < load_.tasks) io_.run_one();
  }
  double seconds() const { return std::chrono::duration<double>(end_ - begin_).count(); }
  // In milliseconds: from the submission to the lease, and from the client's cancel to the worker.
  std::vector<double>& waits() { return waits_; }
  std::vector<double>& cancels() { return cancels_; }

 private:
  using Hear = std::function<void(Connection&, const json&)>;

  void dial(const std::filesystem::path& file, const Identity& self, const json& hello,
            const Hear& hear) {
    DialerOptions options;
    options.file = file.string();
    const std::size_t index = dialers_.size();
    connections_.emplace_back();
    dialers_.push_back(std::make_unique<Dialer>(
        io_, options, self, Rng(1),
        Dialer::Handlers{[hello] { return hello; },
                         [this, index, hear](std::unique_ptr<Connection> connection, const json&) {
                           connections_[index] = std::move(connection);
                           Connection& self = *connections_[index];
                           self.start({[&self, hear](const json& m) { hear(self, m); },
                                       [](const std::string&) {},
                                       {}});
                           if (++connected_ == static_cast<int>(dialers_.size())) begin();
                         },
                         {}}));
    dialers_.back()->dial();
  }
  void begin() {
    begin_ = SteadyClock::now();
    for (int i = 0; i < std::min(load_.outstanding, load_.tasks); ++i) submit();
  }
  void submit() {
    TaskSpec spec;
    spec.id = fmt::format("t{}", submitted_++);
    spec.kind = "trial";
    spec.needs.cpu = 1;
    spec.program = R"({"experiment": "e", "job": "t", "parameters": "{}"})";
    sent_[spec.id] = SteadyClock::now();
    say({{"type", "submit"}, {"task", to_json(spec)}});
  }
  void say(const json& message) {
    static_cast<void>(connections_[static_cast<std::size_t>(client_)]->send(message));
  }
  double milliseconds_since_sent(const std::string& id) {
    const auto sent = sent_.extract(id).mapped();
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - sent).count();
  }
  static bool is_held(const std::string& id) { return id.ends_with("00") || id.ends_with("50"); }
  static void end(Connection& self, const json& about, const char* state) {
    static_cast<void>(self.send({{"type", "finished"},
                                 {"task", about["task"]},
                                 {"lease", about["lease"]},
                                 {"state", state},
                                 {"cause", ""},
                                 {"report", ""}}));
  }
  void work(Connection& self, const json& message) {
    const auto id = message.value("task", std::string());
    if (message["type"] == "lease") {
      waits_.push_back(milliseconds_since_sent(id));
      static_cast<void>(
          self.send({{"type", "started"}, {"task", id}, {"lease", message["lease"]}}));
      if (!is_held(id)) end(self, message, "succeeded");
    } else if (message["type"] == "cancel") {
      cancels_.push_back(milliseconds_since_sent(id));
      end(self, message, "cancelled");
    }
  }
  void hear(const json& message) {
    const auto id = message.value("task", std::string());
    if (message["type"] == "state" && message["state"] == "running" && is_held(id)) {
      sent_[id] = SteadyClock::now();
      say({{"type", "cancel"}, {"task", id}, {"how", "stop"}});
    }
    if (message["type"] != "finished") return;
    say({{"type", "forget"}, {"task", message["task"]}});
    end_ = SteadyClock::now();
    ++ended_;
    if (submitted_ < load_.tasks) submit();
  }

  const Load load_;
  boost::asio::io_context io_;
  std::vector<std::unique_ptr<Dialer>> dialers_;
  std::vector<std::unique_ptr<Connection>> connections_;
  int client_ = 0, connected_ = 0, submitted_ = 0, ended_ = 0;
  std::unordered_map<std::string, SteadyClock::time_point> sent_;
  std::vector<double> waits_, cancels_;
  SteadyClock::time_point begin_, end_;
};

double percentile(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

int run(const Load& load, Durability durability, const char* name) {
  char folder[] = "/tmp/attune-bench-XXXXXX";
  if (::mkdtemp(folder) == nullptr) return 1;
  boost::asio::io_context io;
  const SystemClock clock;
  ServerOptions options;
  options.directory = folder;
  options.durability = durability;
  auto server = CoordinatorServer::create(io, real_files(), clock, options,
                                          {make_buffer_board, {}, {}}, Log(), [] {});
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().message);
    return 1;
  }
  auto guard = boost::asio::make_work_guard(io);
  std::thread thread([&] { io.run(); });
  Others others(folder, load);
  others.run();
  fmt::print(
      "{:8} {} tasks, {} outstanding, {} workers: {:.0f} tasks/s, submitted to leased {:.2f} "
      "ms (median), {:.2f} ms (99 %)\n",
      name, load.tasks, load.outstanding, load.workers, load.tasks / others.seconds(),
      percentile(others.waits(), 0.5), percentile(others.waits(), 0.99));
  fmt::print("{:8} {} cancelled, to the worker in {:.2f} ms (median), {:.2f} ms (99 %)\n", name,
             others.cancels().size(), percentile(others.cancels(), 0.5),
             percentile(others.cancels(), 0.99));
  io.stop();
  thread.join();
  server->reset();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  attune::Load load;
  if (argc > 1) load.tasks = std::atoi(argv[1]);
  if (argc > 2) load.outstanding = std::atoi(argv[2]);
  if (argc > 3) load.workers = std::atoi(argv[3]);
  using attune::Durability;
  return attune::run(load, Durability::never, "never") +
         attune::run(load, Durability::each_second, "second") +
         attune::run(load, Durability::always, "always");
}
