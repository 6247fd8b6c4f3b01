#include "wire/message_socket.h"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"
#include "tests/trial/fake_coordinator.h"

namespace attune::message_socket_test {

using namespace attune::test;
using std::chrono::milliseconds;

TEST_CASE("message socket: what waits for the handshake does not keep it busy") {
  const TemporaryFolder folder;
  const std::string file = folder.path / "program.json";
  FakeCoordinator silent(file);
  const SystemClock clock;
  auto socket =
      MessageSocket::connect(read_address_file(file).value(), "t", milliseconds(10'000), clock);
  REQUIRE(socket);
  const FakePeer peer = silent.accept();
  REQUIRE(socket->say({{"type", "hello"}}));
  REQUIRE(socket->turn(milliseconds(0)) == false);  // the first frame of the handshake has left
  CHECK(socket->has_outgoing());
  const milliseconds wait(50);
  const double before = clock.now();
  REQUIRE(socket->turn(wait) == false);
  CHECK(clock.now() - before >= 0.049);  // a wait ends no sooner, however slow the machine is
}

}  // namespace attune::message_socket_test
