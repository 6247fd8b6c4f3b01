#include "dashboard/dashboard.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "base/json.h"
#include "dashboard/answer_thread.h"
#include "dashboard/page_files.h"

namespace attune {
namespace {

using Answer = std::shared_ptr<HttpAnswer>;

// Neither scripts nor styles from elsewhere, nor in the text of a document: so text that a trial
// has chosen can never run.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::size_t kSessionBytes = 1024;  // of a log-in

void protect(HttpResponse& response) {
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Cache-Control", "no-store");
}

HttpResponse json_response(int status, const json& body) {
  return HttpResponse::text(status, "application/json", dump_json(body));
}

HttpResponse error_response(int status, const std::string& why) {
  return json_response(status, {{"format", 1}, {"error", why}});
}

void send(const Answer& answer, HttpResponse response) {
  protect(response);
  answer->send(std::move(response));
}

bool is_loopback_or_allowed(const HttpServer& server, const DashboardOptions& options) {
  return server.is_loopback() || options.allow_remote;
}

}  // namespace

struct Dashboard::State {
  State(boost::asio::io_context& context, ViewSource& views, const Secret& token,
        DashboardOptions chosen)
      : io(context),
        source(views),
        options(std::move(chosen)),
        access(options.rules, token),
        quick(views),
        heavy(views),
        changing(views),
        board(
            context,
            [this](const std::string& subject, StreamBoard::Done done) {
              return make_event(subject, std::move(done));
            },
            options.streams) {
    // So that the first page finds what it asks for, although it was long to read.
    quick.add([](View& view) { event_of(view, ""); });
  }

  void handle(HttpRequest request, const Answer& answer) {
    if (const auto refusal = access.check_sender(request))
      return send(answer, error_response(refusal->status, refusal->why));
    if (access.take_prefix(request.target)) return handle_hidden(std::move(request), answer);
    const auto& path = request.target.path;
    if (const PageFile* file = page_file(request.target)) return send_file(request, *file, answer);
    if (path.size() == 3 && path[0] == "api" && path[2] == "session")
      return handle_session(request, answer);
    const bool stream = path.size() == 3 && path[0] == "api" && path[2] == "stream";
    const CallKind kind =
        stream ? CallKind{.known = true, .allowed = request.method == "GET"} : source.kind(request);
    if (!check_place(request, kind, false, answer)) return;
    if (const auto refusal = access.check_user(request, kind.changes))
      return send(answer, error_response(refusal->status, refusal->why));
    if (kind.changes && !request.header("content-type").starts_with("application/json"))
      return send(answer, error_response(415, "send JSON, as Content-Type application/json"));
    if (stream) return open_stream(request, answer);
    hand_over(std::move(request), answer, thread_for(kind));
  }

  // Who is not known may only log in.
  std::size_t body_limit(HttpRequest head) const {
    const bool known = !access.check_sender(head) &&
                       (!access.check_user(head, false) || access.take_prefix(head.target));
    return known ? options.limits.body_bytes : kSessionBytes;
  }

  // The clients of hidden paths are not ours: they know neither the session nor what a body must be
  // declared as. A page of another site could send such a body, but not to a path that it knows.
  void handle_hidden(HttpRequest request, const Answer& answer) {
    const CallKind kind = source.kind(request);
    if (!check_place(request, kind, true, answer)) return;
    if (const auto refusal = access.check_prefixed(kind.changes))
      return send(answer, error_response(refusal->status, refusal->why));
    hand_over(std::move(request), answer, thread_for(kind));
  }

  // A change waits for a manager, which may be slow or stopped.
  AnswerThread& thread_for(const CallKind& kind) {
    return kind.changes ? changing : kind.heavy ? heavy : quick;
  }

  // False: there is nothing to ask for, and that was answered.
  static bool check_place(const HttpRequest& request, const CallKind& kind, bool hidden,
                          const Answer& answer) {
    if (!kind.known || kind.hidden != hidden) {
      send(answer, error_response(404, "there is nothing at this address"));
      return false;
    }
    if (!kind.allowed)
      send(answer, error_response(405, "this address does not take " + request.method));
    return kind.allowed;
  }

  // Null: the address is none of a file of the page.
  static const PageFile* page_file(const HttpTarget& target) {
    std::string name;
    for (const std::string& segment : target.path) name += (name.empty() ? "" : "/") + segment;
    return find_page_file(name.empty() ? "index.html" : name);
  }

  static void send_file(const HttpRequest& request, const PageFile& file, const Answer& answer) {
    if (request.method != "GET" && request.method != "HEAD")
      return send(answer, error_response(405, "files of the page can only be read"));
    const std::string accepted = request.header("accept-encoding");
    const bool brotli = accepted.find("br") != std::string::npos;
    const bool gzip = accepted.find("gzip") != std::string::npos;
    HttpResponse response = HttpResponse::text(200, media_type(file.name),
                                               std::string(brotli ? file.brotli
                                                           : gzip ? file.gzip
                                                                  : file.plain));
    if (brotli || gzip) response.headers.emplace_back("Content-Encoding", brotli ? "br" : "gzip");
    response.headers.emplace_back("Vary", "Accept-Encoding");
    send(answer, std::move(response));
  }

  void handle_session(const HttpRequest& request, const Answer& answer) const {
    json state = {{"format", 1}, {"read_only", access.read_only()}, {"version", options.version}};
    if (request.method == "GET") {
      if (const auto refusal = access.check_user(request, false))
        return send(answer, error_response(refusal->status, refusal->why));
      return send(answer, json_response(200, state));
    }
    if (request.method == "DELETE") {
      HttpResponse response = json_response(200, {{"format", 1}});
      response.headers.emplace_back("Set-Cookie", access.clear_cookie(request));
      return send(answer, std::move(response));
    }
    if (request.method != "POST")
      return send(answer, error_response(405, "this address does not take " + request.method));
    const auto body = parse_json(request.body);
    const bool has_token =
        body && body->is_object() && body->contains("token") && (*body)["token"].is_string();
    if (!has_token || !access.knows((*body)["token"].get<std::string>()))
      return send(answer, error_response(401,
                                         "the token is not that of this server; open the link "
                                         "that attune dashboard has printed"));
    state["key"] = access.key();
    HttpResponse response = json_response(200, state);
    response.headers.emplace_back("Set-Cookie", access.set_cookie(request));
    send(answer, std::move(response));
  }

  void open_stream(const HttpRequest& request, const Answer& answer) {
    if (board.is_full())
      return send(answer, error_response(503, "too many pages are open; close some"));
    board.add(request.target.value("experiment"), answer->stream());
  }

  void hand_over(HttpRequest request, Answer answer, AnswerThread& worker) {
    const std::size_t bytes = request.body.size();
    // The task gives the answer away: its end must come on this thread.
    auto task = [this, request = std::move(request), answer](View& view) mutable {
      HttpResponse response = answer_of(view, request);
      boost::asio::post(io, [answer = std::move(answer), response = std::move(response)]() mutable {
        send(answer, std::move(response));
      });
    };
    if (!worker.add(std::move(task), bytes))
      send(answer, error_response(503, "too many requests wait; ask again later"));
  }

  // A bug or a lack of memory in one answer does not end the server.
  static HttpResponse answer_of(View& view, const HttpRequest& request) {
    try {
      return view.answer(request);
    } catch (const std::exception& error) {
      return error_response(500, std::string("the dashboard failed: ") + error.what());
    }
  }

  static View::Event event_of(View& view, const std::string& subject) {
    try {
      return view.event(subject);
    } catch (const std::exception& error) {
      return {"failure", "", dump_json({{"error", error.what()}})};
    }
  }

  bool make_event(const std::string& subject, StreamBoard::Done done) {
    return quick.add([this, subject, done = std::move(done)](View& view) mutable {
      View::Event event = event_of(view, subject);
      boost::asio::post(io, [done = std::move(done), event = std::move(event)]() mutable {
        done(std::move(event));
      });
    });
  }

  boost::asio::io_context& io;
  ViewSource& source;
  DashboardOptions options;
  Access access;
  AnswerThread quick, heavy, changing;
  StreamBoard board;
  std::unique_ptr<HttpServer> server;
};

Dashboard::Dashboard(std::unique_ptr<State> state) : state_(std::move(state)) {}

Dashboard::~Dashboard() {
  state_->source.watch({});
  state_->server.reset();
}

Result<std::unique_ptr<Dashboard>> Dashboard::start(boost::asio::io_context& io, ViewSource& source,
                                                    const Secret& token, DashboardOptions options) {
  auto state = std::make_unique<State>(io, source, token, std::move(options));
  State* plain = state.get();
  state->server = TRY(HttpServer::listen(
      io, state->options.listen,
      [plain](HttpRequest request, const Answer& answer) {
        plain->handle(std::move(request), answer);
      },
      [plain](const HttpRequest& head) { return plain->body_limit(head); }, state->options.limits));
  if (!is_loopback_or_allowed(*state->server, state->options))
    return fail(fmt::format(
        "{}: other machines could reach this address, and the connection is not encrypted. Listen "
        "at 127.0.0.1, and reach it through ssh -L or a TLS proxy; --allow-remote listens anyway",
        state->options.listen));
  source.watch([plain](const std::string& subject) { plain->board.changed(subject); });
  return std::unique_ptr<Dashboard>(new Dashboard(std::move(state)));
}

std::string Dashboard::address() const { return state_->server->address(); }

std::string Dashboard::prefix() const { return state_->access.prefix(); }

std::string Dashboard::link() const {
  const std::string& address = state_->server->address();
  const std::string host = address.starts_with("unix:") ? "localhost" : address;
  return fmt::format("http://{}/#token={}", host, state_->access.token().hex());
}

}  // namespace attune
