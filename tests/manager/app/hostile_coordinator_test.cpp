// attune run with a coordinator that knows the secret and says what it likes: numbers that are none
// reach neither the state of the manager nor its store.
#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <utility>

#include "cluster/pool/roles.h"
#include "cluster/pool/trial_event.h"
#include "tests/manager/app/program_folder.h"
#include "tests/support/run_until.h"
#include "wire/address_file.h"
#include "wire/handshake.h"
#include "wire/json_frames.h"
#include "wire/tls_session.h"

namespace attune::hostile_coordinator_test {

using boost::asio::ip::tcp;
using Catch::Contains;

// One connection of a manager. What is said to it is any text.
class Peer {
 public:
  using Heard = std::function<void(Peer& peer, const json& message)>;
  Peer(tcp::socket socket, const Secrets& secrets, Heard heard)
      : socket_(std::move(socket)), handshake_(secrets, draw_bytes()), heard_(std::move(heard)) {
    read();
  }
  void say(const std::string& text) {
    REQUIRE(tls_->write(framed(text)));
    write(tls_->take_ciphertext());
  }

 private:
  static std::string framed(const std::string& text) {
    std::string frame;
    for (const int shift : {24, 16, 8, 0})
      frame += static_cast<char>(static_cast<unsigned char>(text.size() >> shift));
    return frame + text;
  }
  void write(const std::string& bytes) {
    boost::system::error_code gone;  // it has ended
    boost::asio::write(socket_, boost::asio::buffer(bytes), gone);
  }
  void read() {
    socket_.async_read_some(boost::asio::buffer(chunk_),
                            [this](const boost::system::error_code& error, std::size_t size) {
                              if (error) return;
                              take_in(chunk_.substr(0, size));
                              read();
                            });
  }
  void take_in(std::string bytes) {
    if (!tls_) {
      decoder_.feed(bytes);
      while (!handshake_.done()) {
        const auto next = decoder_.next().value();
        if (!next) return;
        const auto answer = handshake_.hear(*next);
        REQUIRE(answer);
        if (!handshake_.done()) write(framed(dump_json(*answer)));
      }
      tls_.emplace(TlsSession::Side::server, handshake_.key());
      bytes = decoder_.take_rest();
    }
    REQUIRE(tls_->feed(bytes));
    write(tls_->take_ciphertext());
    decoder_.feed(tls_->take_plaintext());
    while (const auto next = decoder_.next().value()) heard_(*this, *next);
  }

  tcp::socket socket_;
  ServerHandshake handshake_;
  std::optional<TlsSession> tls_;
  JsonFrameDecoder decoder_;
  std::string chunk_ = std::string(1 << 16, '\0');
  const Heard heard_;
};

// Where managers find a coordinator in `folder`.
class HostileCoordinator {
 public:
  HostileCoordinator(boost::asio::io_context& io, const std::filesystem::path& folder,
                     Peer::Heard heard)
      : secrets_{{kClientRole, Secret::draw()}},
        acceptor_(io, {boost::asio::ip::address_v4::loopback(), 0}),
        heard_(std::move(heard)) {
    std::filesystem::create_directory(folder);
    const std::string address = fmt::format("127.0.0.1:{}", acceptor_.local_endpoint().port());
    REQUIRE(write_address_file(role_file(folder, kClientRole),
                               {address, kClientRole, secrets_.at(kClientRole)}));
    accept();
  }
  std::size_t connections() const { return peers_.size(); }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
      if (error) return;
      peers_.push_back(std::make_unique<Peer>(std::move(socket), secrets_, heard_));
      accept();
    });
  }

  const Secrets secrets_;
  tcp::acceptor acceptor_;
  const Peer::Heard heard_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

std::string info(const std::string& task, int seq, const std::string& type,
                 const std::string& time) {
  return fmt::format(
      R"({{"type": "info", "task": "{}", "attempt": 0, "seq": {}, "event": {{"event": "report",)"
      R"( "text": "{{\"parameter_id\": 0, \"trial_job_id\": \"t0000\", \"type\": \"{}\",)"
      R"( \"sequence\": 0, \"value\": \"1\"}}", "time": {}, "position": {}}}}})",
      task, seq, type, time, seq);
}

TEST_CASE("attune run: numbers of a coordinator that are none cost a message or a connection") {
  ProgramFolder folder;
  folder.write(
      "true", "trialConcurrency: 1\nmaxTrialNumber: 1\nbackend: pool\npool: {coordinator: pool}\n");
  boost::asio::io_context io;
  std::map<std::string, int> said;  // by the type, and its task
  std::string task;
  std::unique_ptr<HostileCoordinator> coordinator;
  coordinator = std::make_unique<HostileCoordinator>(
      io, folder.path / "pool", [&](Peer& peer, const json& message) {
        const std::string type = message["type"];
        const int times = ++said[type];
        if (type == "hello") {
          peer.say(R"({"type": "welcome", "epoch": 1, "ping": 100, "silence": 600})");
        } else if (type == "submit") {
          task = message["task"]["id"];
          peer.say(times == 1 ? info(task, 1, "PERIODICAL", "NaN") : info(task, 2, "FINAL", "5"));
        } else if (type == "ack" && message["seq"] == 1) {
          peer.say(
              fmt::format(R"({{"type": "state", "task": "{}", "attempt": 0, "state": "running",)"
                          R"( "worker": "w", "host": "h", "seconds": -Infinity, "cause": ""}})",
                          task));
        } else if (type == "ack") {
          json end = to_json(TrialEvent(TrialFinished{.job_id = "t0000", .detail = "", .time = 6}));
          end["position"] = 2;
          peer.say(dump_json({{"type", "finished"},
                              {"task", task},
                              {"attempt", 0},
                              {"state", "succeeded"},
                              {"cause", ""},
                              {"report", dump_json(end)}}));
        }
      });
  std::optional<ExitStatus> exit;
  const auto manager = folder.spawn(io, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON},
                                    [&](ExitStatus status) { exit = status; });
  REQUIRE(test::run_until(io, [&] { return exit.has_value(); }));
  const std::string err = folder.text("err");
  INFO(err);
  CHECK(exit->code == 0);
  CHECK_THAT(err, Contains("its worker says what cannot be understood") && Contains("\"time\""));
  CHECK_THAT(err, Contains("it says what cannot be understood") && Contains("\"seconds\""));
  CHECK(coordinator->connections() == 2);
  const auto trials = folder.trials();
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].trial.status == TrialStatus::succeeded);
  REQUIRE(trials[0].reports.size() == 1);
  CHECK(trials[0].reports[0].time == 5);
}

}  // namespace attune::hostile_coordinator_test
