// A client that does not take what is for it.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/server_fixture.h"

namespace attune::server_slow_test {

using namespace attune::test;

TEST_CASE("server: a slow client holds up nobody else and hears all when it listens again") {
  ServerFixture f;
  f.start_server();
  auto& worker = f.start_client({"worker", "w"}, to_json(worker_hello("w", 4)));
  auto& slow = f.start_client();
  auto& other = f.start_client({"client", "d"});
  REQUIRE(f.run_until(
      [&] { return worker.has("welcome") && slow.has("welcome") && other.has("welcome"); }));
  slow.say(f.trial(0));
  other.say(f.trial(1));
  REQUIRE(
      f.run_until([&] { return worker.has("lease", "e-t0-0") && worker.has("lease", "e-t1-0"); }));
  const auto say = [&](const std::string& task, int seq, std::size_t bytes) {
    const auto lease = f.server->coordinator().board().tasks().at(task).lease;
    worker.say({{"type", "info"},
                {"task", task},
                {"lease", lease},
                {"seq", seq},
                {"event", {{"event", "problem"}, {"text", std::string(bytes, 'x')}}}});
  };
  // More than the system takes for it.
  constexpr int kInfos = 30;
  slow.connection->pause_reading();
  for (int seq = 1; seq <= kInfos; ++seq) say("e-t0-0", seq, std::size_t{1} << 20);
  say("e-t1-0", kInfos + 1, 1);
  CHECK(f.run_until([&] { return other.has("info", "e-t1-0"); }));

  slow.connection->resume_reading();
  REQUIRE(f.run_until([&] { return worker.has("say_again", "e-t0-0"); }));
  for (int seq = 1; seq <= kInfos; ++seq) say("e-t0-0", seq, 1);
  const auto heard = [&] {
    std::set<int> all;
    for (const json& each : slow.heard) {
      if (each["type"] == "info") all.insert(each["seq"].get<int>());
    }
    return all.size() == kInfos;
  };
  CHECK(f.run_until(heard));
  CHECK(slow.closed.empty());
}

}  // namespace attune::server_slow_test
