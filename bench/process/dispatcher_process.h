#pragma once
// Any dispatcher behind NNI's launch convention, as a manager sees it: `CMD... --exp_params
// BASE64`, commands on descriptor 3, answers on 4, NNI's variables in the environment, a fresh
// directory for its log. Blocking, for one thread, and without deadlines: measuring must cost
// nothing, so that main limits the whole program instead. What cannot be measured any further is an
// exception, which ends it.
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "os/process.h"
#include "os/unique_fd.h"
#include "protocol/frame.h"

namespace attune::bench {

class DispatcherProcess {
 public:
  // `command[0]` is the path of a program. `experiment` is the manager's experiment parameters.
  DispatcherProcess(const std::vector<std::string>& command, const json& experiment);
  ~DispatcherProcess();
  DispatcherProcess(const DispatcherProcess&) = delete;
  DispatcherProcess& operator=(const DispatcherProcess&) = delete;

  void write(std::string_view bytes);
  void send(const std::string& code, const std::string& payload = "");
  Frame receive();
  Frame expect(std::string_view code);  // the next frame, which must be this one

  double resident_mib() const;  // at the moment
  double cpu_seconds() const;   // user and system, so far; in steps of 10 ms
  void wait();                  // until it has ended

 private:
  std::string proc(const std::string& file) const;

  std::string directory_;
  boost::asio::io_context io_;
  UniqueFd to_, from_;
  std::unique_ptr<ChildProcess> process_;
  FrameDecoder decoder_{Framing{}};
  std::string buffer_;
};

}  // namespace attune::bench
