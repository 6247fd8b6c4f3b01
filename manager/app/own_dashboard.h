#pragma once
// The dashboard of attune run --dashboard: a process of its own, so that nothing that happens in it
// can harm the experiment. It ends with this program, also when that is killed.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/result.h"
#include "os/process.h"
#include "os/unique_fd.h"

namespace attune {

struct OwnDashboardSetup {
  std::string program;    // attune
  std::string directory;  // the folder of the experiment
  std::string listen;     // as DashboardCommandOptions::listen
  std::vector<std::string> environment;
};

// Lives on the thread of `io`.
class OwnDashboard {
 public:
  // `say` is called with the line that holds the link, and when the dashboard has ended.
  static Result<std::unique_ptr<OwnDashboard>> start(boost::asio::io_context& io,
                                                     const OwnDashboardSetup& setup,
                                                     std::function<void(const std::string&)> say);
  OwnDashboard(const OwnDashboard&) = delete;
  OwnDashboard& operator=(const OwnDashboard&) = delete;

 private:
  OwnDashboard(boost::asio::io_context& io, std::function<void(const std::string&)> say)
      : say_(std::move(say)), output_(io) {}
  void read();

  std::function<void(const std::string&)> say_;
  UniqueFd input_;  // its standard input, which ends with us
  boost::asio::posix::stream_descriptor output_;
  std::array<char, 512> buffer_ = {};
  std::string line_;
  std::unique_ptr<ChildProcess> process_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
