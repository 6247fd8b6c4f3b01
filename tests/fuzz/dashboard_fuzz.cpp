// A client of the dashboard that sends anything. The first byte says whether its requests carry the
// token. Whatever comes, the server answers in HTTP or hangs up, and lives.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "dashboard/dashboard.h"
#include "os/unique_fd.h"
#include "tests/dashboard/fake_view.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/temporary_folder.h"

using namespace attune;

namespace {

class World {
 public:
  World() : address_("unix:" + (folder_.path / "socket").string()), token_(Secret::draw()) {
    source_.let_go = true;
    dashboard_ = Dashboard::start(io_, source_, token_, {.listen = address_}).value();
  }

  std::string bearer() const { return "Authorization: Bearer " + token_.hex() + "\r\n"; }

  // All that the server says to a client that sends this and then nothing more.
  std::string said(std::string_view input) {
    const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un to = {};
    to.sun_family = AF_UNIX;
    std::strcpy(to.sun_path, address_.c_str() + 5);
    ATTUNE_CHECK(::connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    std::string got;
    char buffer[4096];
    std::size_t sent = 0;
    while (true) {
      if (sent < input.size()) {
        const ssize_t count = ::send(client.get(), input.data() + sent, input.size() - sent,
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) sent += static_cast<std::size_t>(count);
        if (count < 0 && errno != EAGAIN) sent = input.size();
        if (sent == input.size()) ::shutdown(client.get(), SHUT_WR);
      }
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(10));
      const ssize_t count = ::recv(client.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (count > 0) got.append(buffer, static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EAGAIN)) return got;
    }
  }

 private:
  TemporaryFolder folder_;
  std::string address_;
  Secret token_;
  boost::asio::io_context io_;
  test::FakeSource source_;
  std::unique_ptr<Dashboard> dashboard_;
};

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  static World world;  // one server for all inputs: an input that harms it shows in the next one
  std::string text(input.substr(1));
  if ((input.front() & 1) != 0) {
    const std::size_t line = text.find("\r\n");
    if (line != std::string::npos) text.insert(line + 2, world.bearer());
  }
  const std::string answer = world.said(text);
  ATTUNE_CHECK(answer.empty() || answer.starts_with("HTTP/1.1 "));
  ATTUNE_CHECK(world.said("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                   .starts_with("HTTP/1.1 200 "));
}
