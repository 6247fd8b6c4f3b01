// The server over real sockets: what it answers, and what it survives.
#include "dashboard/dashboard.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <list>

#include "base/json.h"
#include "dashboard/page_files.h"
#include "tests/dashboard/fake_view.h"
#include "tests/dashboard/http_client.h"
#include "tests/support/temporary_folder.h"

namespace attune::dashboard_test {

using test::FakeSource;
using test::HttpClient;

struct World {
  explicit World(DashboardOptions options = {}) {
    options.version = "1.2.3";
    dashboard = Dashboard::start(io, source, token, std::move(options)).value();
  }
  HttpClient client() { return HttpClient(io, dashboard->address()); }
  std::string head(const std::string& line, const std::string& more = "") const {
    return line + " HTTP/1.1\r\nHost: " + dashboard->address() + "\r\n" + more;
  }
  std::string bearer() const { return "Authorization: Bearer " + token.hex() + "\r\n"; }
  std::string get(const std::string& path, const std::string& more = "") const {
    return head("GET " + path, more) + "\r\n";
  }
  std::string post(const std::string& path, const std::string& body, std::string more = "") const {
    more += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
    return head("POST " + path, more + "\r\n") + "\r\n" + body;
  }

  boost::asio::io_context io;
  FakeSource source;
  Secret token = Secret::draw();
  std::unique_ptr<Dashboard> dashboard;
};

bool has_status(const std::string& response, int status) {
  return response.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

std::string body_of(const std::string& response) {
  return response.substr(response.find("\r\n\r\n") + 4);
}

std::string field(const std::string& response, const std::string& name) {
  const std::size_t begin = response.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 4;
  return response.substr(value, response.find("\r\n", value) - value);
}

TEST_CASE("dashboard: the page needs no token, and runs nothing but its own scripts") {
  World world;
  HttpClient client = world.client();
  const std::string page = client.ask(world.get("/"));
  CHECK(has_status(page, 200));
  CHECK(field(page, "Content-Type") == "text/html; charset=utf-8");
  CHECK(
      field(page, "Content-Security-Policy").starts_with("default-src 'none'; script-src 'self'"));
  CHECK(field(page, "Content-Security-Policy").find("unsafe") == std::string::npos);
  CHECK(field(page, "X-Content-Type-Options") == "nosniff");
  CHECK(body_of(page).starts_with("<!doctype html>"));
  const std::string packed = client.ask(world.get("/index.html", "Accept-Encoding: gzip\r\n"));
  CHECK(field(packed, "Content-Encoding") == "gzip");
  CHECK(body_of(packed).starts_with("\x1f\x8b"));
  const std::string smaller = client.ask(world.get("/", "Accept-Encoding: gzip, br\r\n"));
  CHECK(field(smaller, "Content-Encoding") == "br");
  CHECK(has_status(client.ask(world.get("/missing.js")), 404));
  CHECK(has_status(client.ask(world.get("/../dashboard.cpp")), 400));
  CHECK(client.hangs_up());  // after a request that it could not read
}

TEST_CASE("dashboard: the page is light") {
  std::size_t bytes = 0;
  for (const char* name : {"index.html", "page.js", "page.css"}) {
    const PageFile* file = find_page_file(name);
    REQUIRE(file != nullptr);
    CHECK_FALSE(file->plain.empty());
    bytes += file->brotli.size();
  }
  CHECK(bytes < 80'000);
  CHECK(find_page_file("index.html")->plain.find("vendor/") == std::string::npos);
  CHECK(find_page_file("licences.txt")->plain.find("MIT") != std::string::npos);
}

TEST_CASE("dashboard: data need the token, or the cookie and the key of a log-in") {
  World world;
  HttpClient client = world.client();
  CHECK(has_status(client.ask(world.get("/api/v1/plain")), 401));
  CHECK(has_status(client.ask(world.get("/api/v1/plain", world.bearer())), 200));
  CHECK(has_status(client.ask(world.get("/elsewhere", world.bearer())), 404));
  CHECK(has_status(client.ask(world.get("/api/v1/change", world.bearer())), 405));
  const std::string wrong = R"({"token":")" + Secret::draw().hex() + R"("})";
  CHECK(has_status(client.ask(world.post("/api/v1/session", wrong)), 401));
  CHECK(has_status(client.ask(world.post("/api/v1/session", "{")), 401));
  const std::string login = R"({"token":")" + world.token.hex() + R"("})";
  const std::string session = client.ask(world.post("/api/v1/session", login));
  REQUIRE(has_status(session, 200));
  const json answer = parse_json(body_of(session)).value();
  CHECK(answer["read_only"] == false);
  CHECK(answer["version"] == "1.2.3");
  const std::string set = field(session, "Set-Cookie");
  const std::string cookie = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  const std::string key = "Attune-Key: " + answer["key"].get<std::string>() + "\r\n";
  CHECK(has_status(client.ask(world.get("/api/v1/plain", cookie)), 401));
  CHECK(has_status(client.ask(world.get("/api/v1/plain", key)), 401));
  CHECK(has_status(client.ask(world.get("/api/v1/plain", cookie + key)), 200));
  CHECK(has_status(client.ask(world.get("/api/v1/session", cookie + key)), 200));
  const std::string origin = "Origin: http://" + world.dashboard->address() + "\r\n";
  CHECK(has_status(client.ask(world.post("/api/v1/change", "{}", cookie + key)), 403));
  CHECK(has_status(client.ask(world.post("/api/v1/change", "{}", cookie + origin + key)), 200));
  CHECK(has_status(client.ask(world.post("/api/v1/change", "{}",
                                         cookie + key + "Origin: http://evil.example\r\n")),
                   403));
}

TEST_CASE("dashboard: who is not known may send little") {
  World world;
  const std::string body = R"({"token":")" + std::string(2000, 'a') + "\"}";
  CHECK(has_status(world.client().ask(world.post("/api/v1/session", body)), 413));
  CHECK(has_status(world.client().ask(world.post("/api/v1/change", body)), 413));
  CHECK(has_status(world.client().ask(world.post("/api/v1/change", body, world.bearer())), 200));
  const std::string chunked = world.head("POST /api/v1/change",
                                         "Content-Type: application/json\r\n"
                                         "Transfer-Encoding: chunked\r\n") +
                              "\r\n7d0\r\n" + std::string(2000, ' ') + "\r\n0\r\n\r\n";
  CHECK(has_status(world.client().ask(chunked), 413));
  const std::string prefix = "/" + world.dashboard->prefix();
  CHECK(has_status(world.client().ask(world.post(prefix + "/api/v1/hidden-change", body)), 200));
}

TEST_CASE("dashboard: a change that waits does not hold up who only looks") {
  World world;
  HttpClient slow = world.client(), quick = world.client();
  slow.send(world.post("/api/v1/slow-change", "{}", world.bearer()));
  CHECK(has_status(quick.ask(world.get("/api/v1/plain", world.bearer())), 200));
  world.source.let_go = true;
  world.source.let_go.notify_all();
  CHECK(has_status(slow.response(), 200));
}

TEST_CASE("dashboard: clients that read nothing do not keep others out") {
  World world({.limits = {.connections = 8}});
  std::string many;
  for (int i = 0; i < 200; ++i) many += world.get("/page.js");
  std::list<HttpClient> deaf;
  for (int i = 0; i < 20; ++i) {
    deaf.emplace_back(world.io, world.dashboard->address());
    deaf.back().send(many);
    world.io.poll();
  }
  HttpClient client = world.client();
  CHECK(has_status(client.ask(world.get("/")), 200));
}

TEST_CASE("dashboard: localhost is this server in IPv4 and in IPv6") {
  World world;
  const std::string address = world.dashboard->address();
  const UniqueFd six(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 to = {};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  const bool has_six = six && ::bind(six.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  if (!has_six) return;  // this machine has no IPv6
  REQUIRE(::listen(six.get(), 1) == 0);
  socklen_t size = sizeof to;
  REQUIRE(::getsockname(six.get(), reinterpret_cast<sockaddr*>(&to), &size) == 0);
  // Of a port of which somebody else has one half.
  const std::string taken = "127.0.0.1:" + std::to_string(ntohs(to.sin6_port));
  const auto refused = Dashboard::start(world.io, world.source, world.token, {.listen = taken});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("::1") != std::string::npos);
  const UniqueFd client(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  to.sin6_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  CHECK(::connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
}

TEST_CASE("dashboard: clients that do not hang up do not keep others out") {
  World world({.limits = {.connections = 8}});
  std::list<HttpClient> done;
  for (int i = 0; i < 20; ++i) {
    done.emplace_back(world.io, world.dashboard->address());
    CHECK(has_status(done.back().ask("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"), 200));
  }
}

TEST_CASE("dashboard: a change is JSON") {
  World world;
  HttpClient client = world.client();
  const std::string form = world.head("POST /api/v1/change", world.bearer() +
                                                                 "Content-Type: text/plain\r\n"
                                                                 "Content-Length: 2\r\n") +
                           "\r\n{}";
  CHECK(has_status(client.ask(form), 415));
}

TEST_CASE("dashboard: hidden paths lie below the prefix, and nothing else does") {
  World world;
  HttpClient client = world.client();
  const std::string prefix = "/" + world.dashboard->prefix();
  CHECK(prefix.find(world.token.hex()) == std::string::npos);
  CHECK(has_status(client.ask(world.get(prefix + "/api/v1/hidden")), 200));
  CHECK(has_status(client.ask(world.post(prefix + "/api/v1/hidden-change", "{}")), 200));
  // Clients of other programs do not say what they send.
  CHECK(
      has_status(client.ask(world.head("POST " + prefix + "/api/v1/hidden-change") + "\r\n"), 200));
  for (const char* path :
       {"/", "/api/v1/plain", "/api/v1/session", "/api/v1/stream", "/index.html"}) {
    INFO(path);
    CHECK(has_status(client.ask(world.get(prefix + path)), 404));
  }
  CHECK(has_status(client.ask(world.get(prefix + prefix + "/api/v1/hidden")), 404));
  std::string other = prefix;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& wrong : {std::string(), other, "/" + world.token.hex()}) {
    INFO(wrong);
    CHECK(has_status(client.ask(world.get(wrong + "/api/v1/hidden", world.bearer())), 404));
    CHECK(has_status(client.ask(world.post(wrong + "/api/v1/hidden-change", "{}", world.bearer())),
                     404));
  }
  CHECK(has_status(
      client.ask(world.get(prefix + "/api/v1/hidden", "Origin: http://evil.example\r\n")), 403));
  World read_only({.rules = {.hosts = {}, .read_only = true}});
  HttpClient reader = read_only.client();
  const std::string other_prefix = "/" + read_only.dashboard->prefix();
  CHECK(has_status(reader.ask(read_only.get(other_prefix + "/api/v1/hidden")), 200));
  CHECK(has_status(reader.ask(read_only.post(other_prefix + "/api/v1/hidden-change", "{}")), 403));
}

TEST_CASE("dashboard: foreign names and sites are refused before anything else") {
  World world;
  HttpClient client = world.client();
  CHECK(has_status(client.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403));
  CHECK(has_status(client.ask("GET / HTTP/1.1\r\n\r\n"), 403));
  CHECK(has_status(client.ask(world.get("/", "Origin: http://evil.example\r\n")), 403));
}

TEST_CASE("dashboard: a failure of one answer ends neither the server nor the connection") {
  World world;
  HttpClient client = world.client();
  const std::string broken = client.ask(world.get("/api/v1/broken", world.bearer()));
  CHECK(has_status(broken, 500));
  CHECK(body_of(broken).find("broken") != std::string::npos);
  CHECK(has_status(client.ask(world.get("/api/v1/plain", world.bearer())), 200));
}

TEST_CASE("dashboard: what is heavy does not hold up what is quick") {
  World world;
  HttpClient slow = world.client(), quick = world.client();
  slow.send(world.get("/api/v1/heavy", world.bearer()));
  CHECK(has_status(quick.ask(world.get("/api/v1/plain", world.bearer())), 200));
  world.source.let_go = true;
  world.source.let_go.notify_all();
  CHECK(has_status(slow.response(), 200));
}

TEST_CASE("dashboard: requests that are no HTTP, or too large") {
  World world({.limits = {.header_bytes = 4096, .body_bytes = 100}});
  CHECK(has_status(world.client().ask("\x16\x03\x01 hello\r\n\r\n"), 400));
  CHECK(
      has_status(world.client().ask(world.get("/", "X: " + std::string(8000, 'x') + "\r\n")), 431));
  CHECK(has_status(world.client().ask(world.post("/api/v1/change", std::string(200, ' '))), 413));
  CHECK(has_status(world.client().ask(world.get("/" + std::string(2000, 'a'))), 404));
}

TEST_CASE("dashboard: clients that stay silent are disconnected") {
  using namespace std::chrono_literals;
  World world({.limits = {.request = 1ms, .idle = 1ms}});
  HttpClient silent = world.client();
  CHECK(silent.hangs_up());
  World patient({.limits = {.request = 1ms}});
  HttpClient half = patient.client();
  half.send("GET / HTTP/1.1\r\nHost: local");
  CHECK(half.hangs_up());
}

TEST_CASE("dashboard: of too many connections the one that waits longest is closed") {
  World world({.limits = {.connections = 8}});
  std::list<HttpClient> idle;
  for (int i = 0; i < 40; ++i) {
    idle.emplace_back(world.io, world.dashboard->address());
    world.io.poll();
  }
  HttpClient client = world.client();
  CHECK(has_status(client.ask(world.get("/")), 200));
  CHECK(idle.front().hangs_up());
  CHECK(has_status(idle.back().ask(world.get("/")), 200));
}

TEST_CASE("dashboard: clients that never end their requests do not keep others out") {
  World world({.limits = {.connections = 8}});
  std::list<HttpClient> slow;
  for (int i = 0; i < 20; ++i) {
    slow.emplace_back(world.io, world.dashboard->address());
    slow.back().send("GET / HTTP/1.1\r\nHost: local");
    world.io.poll();
  }
  HttpClient client = world.client();
  CHECK(has_status(client.ask(world.get("/")), 200));
  CHECK(slow.front().hangs_up());
  CHECK(has_status(client.ask(world.get("/")), 200));
}

TEST_CASE("dashboard: a stream tells the state, and each change") {
  World world({.streams = {.pace = std::chrono::milliseconds(1)}});
  HttpClient client = world.client();
  client.send(world.get("/api/v1/stream?experiment=abc", world.bearer()));
  std::string got = client.await("id: 1\n");
  CHECK(got.find("Content-Type: text/event-stream") != std::string::npos);
  CHECK(client.await("of abc\n\n").find("event: state\nid: 1\ndata: line 1\ndata: of abc\n\n") !=
        std::string::npos);
  world.source.changed("abc");
  client.await("id: 2\n");
  world.source.changed("another");
  world.source.changed("");
  CHECK(client.await("id: 3\n").find("id: 3\n") != std::string::npos);
  HttpClient stranger = world.client();
  CHECK(has_status(stranger.ask(world.get("/api/v1/stream")), 401));
}

TEST_CASE("dashboard: streams show that they live, and end with their client") {
  World world({.streams = {.alive = std::chrono::milliseconds(1), .most = 1}});
  {
    HttpClient client = world.client();
    client.send(world.get("/api/v1/stream", world.bearer()));
    CHECK(client.await(": alive").find(": alive\n\n") != std::string::npos);
    HttpClient second = world.client();
    CHECK(has_status(second.ask(world.get("/api/v1/stream", world.bearer())), 503));
  }
  CHECK(test::run_until(world.io, [&] {
    HttpClient next = world.client();
    next.send(world.get("/api/v1/stream", world.bearer()));
    return has_status(next.await("\r\n"), 200);
  }));
}

TEST_CASE("dashboard: two requests that come at once are answered in order") {
  World world;
  HttpClient client = world.client();
  client.send(world.get("/missing") + world.get("/"));
  CHECK(has_status(client.response(), 404));
  CHECK(has_status(client.response(), 200));
}

TEST_CASE("dashboard: addresses that cannot be used are errors") {
  boost::asio::io_context io;
  FakeSource source;
  const auto error = [&](const std::string& listen) {
    const auto started = Dashboard::start(io, source, Secret::draw(), {.listen = listen});
    return started ? "" : started.error().message;
  };
  CHECK(error("0.0.0.0:0").find("--allow-remote") != std::string::npos);
  CHECK(error("nonsense").find("nonsense") != std::string::npos);
  CHECK(error("unix:/nonexistent/x").find("unix:/nonexistent/x") != std::string::npos);
  CHECK(Dashboard::start(io, source, Secret::draw(), {.listen = "0.0.0.0:0", .allow_remote = true})
            .has_value());
}

TEST_CASE("dashboard: a unix socket is its user's alone") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "socket").string();
  boost::asio::io_context io;
  FakeSource source;
  {
    const auto dashboard =
        Dashboard::start(io, source, Secret::draw(), {.listen = "unix:" + file}).value();
    struct stat status = {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK_FALSE(Dashboard::start(io, source, Secret::draw(), {.listen = "unix:" + file}));
  }
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace attune::dashboard_test
