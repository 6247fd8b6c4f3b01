#pragma once
// The dashboard: an HTTP server for the page, its data and its changes (docs/dashboard.md).
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "dashboard/access.h"
#include "dashboard/http_server.h"
#include "dashboard/stream_board.h"
#include "dashboard/view.h"

namespace attune {

struct DashboardOptions {
  std::string listen = "127.0.0.1:0";  // as for HttpServer::listen()
  bool allow_remote = false;           // listen where other machines can reach it
  AccessRules rules = {};
  std::string version = {};  // of this program
  HttpLimits limits = {};
  StreamRules streams = {};
};

// Lives on the thread of the io_context. `source` answers on three threads of its own: for what is
// quick, for what is heavy, and for changes.
class Dashboard {
 public:
  // `source` outlives it. Errors: the address cannot be used, or other machines could reach it and
  // that was not allowed.
  static Result<std::unique_ptr<Dashboard>> start(boost::asio::io_context& io, ViewSource& source,
                                                  const Secret& token, DashboardOptions options);
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;
  ~Dashboard();

  std::string address() const;
  // What the user opens. The token stands behind "#", which browsers do not send.
  std::string link() const;
  std::string prefix() const;  // of the hidden paths, without slashes (dashboard/access.h)

 private:
  struct State;
  explicit Dashboard(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune
