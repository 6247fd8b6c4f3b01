// The control socket, with clients that behave and clients that do not.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <thread>

#include "manager/control/control_address.h"
#include "manager/control/control_client.h"
#include "manager/store/experiment_lock.h"
#include "tests/manager/control/listening_manager.h"
#include "tests/support/temporary_folder.h"

namespace attune::control_test {

namespace fs = std::filesystem;

// `stop` is refused.
Result<json> answer_echo(const json& request) {
  const auto parsed = TRY(parse_control_request(request));
  if (std::holds_alternative<StopRequest>(parsed)) return fail("not now");
  return json{{"echo", to_json(parsed)}};
}

// A client that says anything.
class RawClient {
 public:
  explicit RawClient(const fs::path& directory)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto where = control_address(directory).value();
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    where.path.copy(address.sun_path, sizeof address.sun_path - 1);
    const timeval timeout{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    REQUIRE(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  bool send(const std::string& bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // All that comes up to and with `end`, or up to the end of the connection.
  std::string receive(char end = '\n') {
    std::string text;
    for (char c = 0; ::recv(fd_.get(), &c, 1, 0) == 1;) {
      text += c;
      if (c == end) break;
    }
    return text;
  }

 private:
  UniqueFd fd_;
};

TEST_CASE("control: a request is answered, a refused one with its reason") {
  const TemporaryFolder folder;
  const ListeningManager manager(folder.path, answer_echo);
  const auto answer = ask_manager(folder.path, KillRequest{{"t0001", "t0002"}});
  REQUIRE(answer.has_value());
  CHECK(*answer ==
        json{{"format", 1}, {"echo", {{"command", "kill"}, {"trials", {"t0001", "t0002"}}}}});
  const auto refused = ask_manager(folder.path, StopRequest{});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message == "not now");
  CHECK_FALSE(refused.error().no_manager);

  struct stat status = {};
  REQUIRE(::stat((folder.path / "control").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("control: without a manager the cure is named") {
  const TemporaryFolder folder;
  auto answer = ask_manager(folder.path, StatusRequest{});
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().no_manager);
  CHECK(answer.error().message.find("attune resume " + folder.path.filename().string()) !=
        std::string::npos);

  // It holds the lock, but does not listen yet.
  const auto lock = ExperimentLock::take(folder.path);
  answer = ask_manager(folder.path, StatusRequest{});
  REQUIRE_FALSE(answer.has_value());
  CHECK_FALSE(answer.error().no_manager);
  CHECK(answer.error().message.find("try again") != std::string::npos);
}

TEST_CASE("control: a dead manager's socket is replaced, and the own one removed at the end") {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "control") << "stale";
  {
    const ListeningManager manager(folder.path, answer_echo);
    CHECK(ask_manager(folder.path, StatusRequest{}).has_value());
  }
  CHECK_FALSE(fs::exists(folder.path / "control"));
  CHECK(ask_manager(folder.path, StatusRequest{}).error().no_manager);
}

TEST_CASE("control: a folder whose path is longer than that of a socket may be") {
  const TemporaryFolder folder;
  const fs::path deep = folder.path / std::string(120, 'a') / std::string(120, 'b');
  fs::create_directories(deep);
  const ListeningManager manager(deep, answer_echo);
  CHECK(ask_manager(deep, StatusRequest{}).has_value());
}

TEST_CASE("control: several requests on one connection, in pieces and at once") {
  const TemporaryFolder folder;
  const ListeningManager manager(folder.path, answer_echo);
  RawClient client(folder.path);
  REQUIRE(client.send("{\"command\": \"sta"));
  REQUIRE(client.send("tus\"}\n{\"command\": \"nonsense\"}\nno json\n[1]\n"));
  CHECK(client.receive() == "{\"format\":1,\"ok\":true,\"echo\":{\"command\":\"status\"}}\n");
  CHECK(client.receive().find("unknown command 'nonsense'") != std::string::npos);
  CHECK(client.receive().find("\"ok\":false") != std::string::npos);
  CHECK(client.receive().find("must be an object, not an array") != std::string::npos);
}

TEST_CASE("control: a line without end is cut off, others are served") {
  const TemporaryFolder folder;
  ControlLimits limits;
  limits.line_bytes = 1000;
  const ListeningManager manager(folder.path, answer_echo, limits);
  RawClient client(folder.path);
  (void)client.send(std::string(5000, 'x'));
  CHECK(client.receive().find("at most 1000 bytes") != std::string::npos);
  CHECK(client.receive().empty());
  CHECK(ask_manager(folder.path, StatusRequest{}).has_value());
}

TEST_CASE(
    "control: silent clients are cut off after a while, and at once when there are too many") {
  const TemporaryFolder folder;
  ControlLimits limits;
  limits.clients = 2;
  {
    const ListeningManager manager(folder.path, answer_echo, limits);
    RawClient first(folder.path), second(folder.path);
    REQUIRE(first.send("{\"command\": \"status\"}\n"));
    CHECK_FALSE(first.receive().empty());  // now the second was silent longer
    CHECK(ask_manager(folder.path, StatusRequest{}).has_value());
    CHECK(second.receive().empty());
    REQUIRE(first.send("{\"command\": \"status\"}\n"));
    CHECK_FALSE(first.receive().empty());
  }
  limits.silence = std::chrono::milliseconds(1);
  const ListeningManager manager(folder.path, answer_echo, limits);
  RawClient silent(folder.path);
  CHECK(silent.receive().empty());
}

TEST_CASE("control: a manager that answers without an end is given up") {
  const TemporaryFolder folder;
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const auto where = control_address(folder.path).value();
  where.path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd.get(), 1) == 0);
  const auto lock = ExperimentLock::take(folder.path).value();
  std::thread endless([&] {
    const UniqueFd client(::accept(fd.get(), nullptr, nullptr));
    while (::send(client.get(), "x", 1, MSG_NOSIGNAL) == 1) std::this_thread::yield();
  });
  const auto answer = ask_manager(folder.path, StatusRequest{}, 0.05);
  endless.join();
  REQUIRE_FALSE(answer.has_value());
  CHECK_FALSE(answer.error().no_manager);
}

TEST_CASE("control: a request with a very long list is refused unread") {
  const TemporaryFolder folder;
  const ListeningManager manager(folder.path, answer_echo);
  KillRequest kill{{}};
  for (int i = 0; i < 10'000; ++i) kill.trials.push_back("t" + std::to_string(i));
  CHECK(ask_manager(folder.path, kill).has_value());
  kill.trials.emplace_back("t");
  const auto answer = ask_manager(folder.path, kill);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().message.find("more than 10000 elements") != std::string::npos);
}

TEST_CASE("control: a client that goes away before its answer") {
  const TemporaryFolder folder;
  const ListeningManager manager(folder.path, answer_echo);
  for (int i = 0; i < 50; ++i) {
    RawClient client(folder.path);
    REQUIRE(client.send("{\"command\": \"status\"}\n{\"command\": \"status\"}\n"));
  }
  CHECK(ask_manager(folder.path, StatusRequest{}).has_value());
}

// No descriptor can be opened while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE("control: without descriptors a client waits, and costs nothing") {
  const TemporaryFolder folder;
  boost::asio::io_context io;
  auto server = ControlServer::listen(io, folder.path, answer_echo).value();
  RawClient client(folder.path);
  REQUIRE(client.send("{\"command\": \"status\"}\n"));
  std::size_t handled = 0;
  {
    const NoDescriptors none;
    handled = io.run_for(std::chrono::milliseconds(50));
  }
  CHECK(handled < 10);  // not above: a sanitizer that looks at it opens descriptors
  std::thread serving([&] { io.run(); });
  CHECK(client.receive().find("\"ok\":true") != std::string::npos);
  boost::asio::post(io, [&] { server.reset(); });
  serving.join();
}

TEST_CASE("control: every request is read as it was written") {
  UpdateRequest update;
  update.search_space = {{"x", {{"_type", "choice"}, {"_value", {1, 2}}}}};
  update.concurrency = 4;
  update.max_seconds = 1.5;
  update.max_trials = 100;
  ImportRequest import;
  import.records = {{{{"lr", 0.1}}, 0.9, "old"}, {{{"lr", 0.2}}, std::nan(""), ""}};
  for (const ControlRequest& request :
       {ControlRequest(StopRequest{true}), ControlRequest(KillRequest{{"t1"}}),
        ControlRequest(AddRequest{{{{"lr", 0.5}}}}), ControlRequest(import), ControlRequest(update),
        ControlRequest(UpdateRequest{}), ControlRequest(StatusRequest{})}) {
    const json text = to_json(request);
    INFO(text);
    const auto read = parse_control_request(parse_json(dump_json(text)).value());
    REQUIRE(read.has_value());
    CHECK(read->index() == request.index());
    CHECK(to_json(*read) == text);
  }
  const auto read = parse_control_request(to_json(import)).value();
  CHECK(std::isnan(std::get<ImportRequest>(read).records[1].value.get<double>()));
}

TEST_CASE("control: what is wrong with a request is named") {
  const auto error = [](const std::string& text) {
    const auto request = parse_control_request(parse_json(text).value());
    return request ? std::string("accepted") : request.error().message;
  };
  CHECK(error("{}") == "'command' must be a text, not null");
  CHECK(error(R"({"command": "stop", "kill": 1})") ==
        "'kill' must be true or false, not an integer");
  CHECK(error(R"({"command": "kill"})") == "'trials' must be an array of job ids, not null");
  CHECK(error(R"({"command": "kill", "trials": [1]})") ==
        "'trials' must be an array of job ids, not an integer");
  CHECK(error(R"({"command": "add", "trials": [1]})") ==
        "'trials' must be an array of objects, not an integer");
  CHECK(error(R"({"command": "import", "records": [{}]})") ==
        "'records[].parameters' must be an object, not null");
  CHECK(error(R"({"command": "update", "concurrency": 0})") ==
        "'concurrency' must be from 1 to 100000");
  CHECK(error(R"({"command": "update", "concurrency": 1.5})") ==
        "'concurrency' must be a whole number, not a number");
  CHECK(error(R"({"command": "update", "max_seconds": 0})") ==
        "'max_seconds' must be from 1e-09 to 1000000000000");
  CHECK(error(R"({"command": "update", "search_space": []})") ==
        "'search_space' must be an object, not an array");
}

}  // namespace attune::control_test
