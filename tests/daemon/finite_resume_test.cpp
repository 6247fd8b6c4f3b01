// The real daemon under NNI's manager as it is, without our capabilities: an experiment over twelve
// points that is stopped or killed, and resumed, or goes on when there is no new one.
#include <catch2/catch.hpp>
#include <csignal>
#include <optional>
#include <set>

#include "base/base64.h"
#include "tests/support/daemon_process.h"
#include "tests/support/manager_socket.h"
#include "tests/support/nni_manager.h"
#include "tests/support/temporary_folder.h"

namespace attune::finite_resume_test {

constexpr int kConcurrency = 3;
constexpr std::size_t kPoints = 12;

const std::string kGrid = R"({"a":{"_type":"choice","_value":[1,2,3,4]},
                              "b":{"_type":"choice","_value":["x","y","z"]}})";
const std::string kBatch = R"({"all":{"_type":"choice","_value":[
    {"n":0},{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},
    {"n":6},{"n":7},{"n":8},{"n":9},{"n":10},{"n":11}]}})";

enum class Wire { pipes, websocket };

// One life of the daemon after the other, over the same checkpoint directory.
struct Lives {
  Lives(std::string tuner_, Wire wire_) : tuner(std::move(tuner_)), wire(wire_) {}

  void begin(const std::string& mode) {
    const json params = {{"tuner", {{"name", tuner}, {"classArgs", {{"seed", 3}}}}}};
    std::map<std::string, std::string> environment = {
        {"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}};
    if (wire == Wire::websocket) {
      socket.emplace(Dialect::v3);
      socket->listen();
      environment["NNI_TUNER_COMMAND_CHANNEL"] = socket->url();
    }
    process.emplace(std::vector<std::string>{"--exp_params", base64_encode(dump_json(params))},
                    environment);
    if (socket) socket->accept();
  }
  void end(bool kill) {
    if (kill) {
      process->signal(SIGKILL);
    } else {
      send("TE");
    }
    process->wait();
    process.reset();
    socket.reset();
  }

  void send(const std::string& code, const std::string& payload = "") {
    if (socket) {
      socket->send(code, payload);
    } else {
      process->send(code, payload);
    }
  }
  std::optional<Frame> receive() { return socket ? socket->receive() : process->receive(); }

  const std::string tuner;
  const Wire wire;
  TemporaryFolder folder;
  std::optional<ManagerSocket> socket;
  std::optional<DaemonProcess> process;
};

// Trials until the manager is told that there is no more, or has so many.
std::size_t run_alone(const std::string& tuner, std::vector<std::string> more, json params = {}) {
  params["tuner"] = {{"name", tuner}, {"classArgs", {{"seed", 3}}}};
  more.insert(more.end(), {"--exp_params", base64_encode(dump_json(params))});
  DaemonProcess daemon(more);
  NniManager manager(kGrid, kConcurrency, /*runs_again=*/false);
  manager.create(daemon);
  while (manager.evaluated().size() < 2 * kPoints) {
    if (!manager.finish_one(daemon, std::to_string(manager.trials.size() % 7))) break;
  }
  return manager.evaluated().size();
}

TEST_CASE("a finite space does not end under NNI's manager where NNI's tuner repeats itself") {
  const std::string tuner = GENERATE("Evolution", "GP", "Anneal", "SMAC");
  CAPTURE(tuner);
  CHECK(run_alone(tuner, {}) == 2 * kPoints);
  CHECK(run_alone(tuner, {"--when-exhausted", "stop"}) == kPoints);
  CHECK(run_alone(tuner, {}, {{"whenExhausted", "stop"}}) == kPoints);
  CHECK(run_alone(tuner, {}, {{"capabilities", {"reason"}}}) == kPoints);
}

TEST_CASE("a finite space does not end under NNI's manager with a WebSocket either") {
  ManagerSocket socket(GENERATE(Dialect::v2, Dialect::v3));
  socket.listen();
  const json params = {{"tuner", {{"name", "Evolution"}, {"classArgs", {{"seed", 3}}}}}};
  DaemonProcess daemon({"--exp_params", base64_encode(dump_json(params))},
                       {{"NNI_TUNER_COMMAND_CHANNEL", socket.url()}});
  socket.accept();
  NniManager manager(kGrid, kConcurrency, /*runs_again=*/false);
  manager.create(socket);
  while (manager.evaluated().size() < 2 * kPoints) {
    REQUIRE(manager.finish_one(socket, std::to_string(manager.trials.size() % 7)));
  }
}

TEST_CASE("a finite space ends under NNI's manager where it ends with NNI's tuner") {
  const std::string tuner = GENERATE("GridSearch", "Random", "TPE", "auto");
  CAPTURE(tuner);
  CHECK(run_alone(tuner, {}) == kPoints);
  CHECK(run_alone(tuner, {"--when-exhausted", "repeat"}) == 2 * kPoints);
}

TEST_CASE("a finite search that is stopped or killed and resumed visits every point, each once") {
  const std::string tuner = GENERATE("GridSearch", "Batch", "TPE", "Random", "auto");
  const auto wire = GENERATE(Wire::pipes, Wire::websocket);
  const bool kill = GENERATE(true, false);
  CAPTURE(tuner, wire == Wire::pipes, kill);
  Lives daemon(tuner, wire);
  NniManager manager(tuner == "Batch" ? kBatch : kGrid, kConcurrency,
                     /*runs_again=*/wire == Wire::websocket);
  daemon.begin("start");
  manager.create(daemon);
  int value = 0;
  for (int life = 0; life < 3; ++life) {
    for (int i = 0; i < life + 1; ++i) {
      REQUIRE(manager.finish_one(daemon, std::to_string(++value)));
    }
    daemon.end(kill);
    daemon.begin("resume");
    manager.resume(daemon);
  }
  while (manager.finish_one(daemon, std::to_string(++value))) {
    REQUIRE(value < 40);
  }
  CHECK(manager.no_more);
  const auto evaluated = manager.evaluated();
  const std::set<std::string> different(evaluated.begin(), evaluated.end());
  CHECK(different.size() == kPoints);
  CHECK(evaluated.size() == kPoints);
}

}  // namespace attune::finite_resume_test
