#pragma once
// The real attuned on pipes, driven by a test. Everything has a deadline, after which it throws:
// a hanging daemon fails the test instead of hanging it.
#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/frame_peer.h"

namespace attune {

class DaemonProcess : public FramePeer {
 public:
  // In a fresh temporary directory, which is its log directory too. `program` is attuned, or one
  // that differs from it in its algorithms only.
  explicit DaemonProcess(std::vector<std::string> arguments,
                         std::map<std::string, std::string> environment = {},
                         const std::string& program = ATTUNED);
  ~DaemonProcess() override;  // kills it if it still runs
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // --exp_params with the capability sync added.
  static std::vector<std::string> exp_params(json experiment);

  // To the socket at which it listens (--listen), instead of the pipes.
  void connect(const std::string& path);

  void write(const std::string& bytes);
  // As many bytes as fit before `patience` passes without any.
  std::size_t write_some(const std::string& bytes, std::chrono::milliseconds patience);
  void send(const std::string& code, const std::string& payload = "") override;
  std::optional<Frame> receive() override;
  void close_in();   // the manager's writing end
  void close_out();  // the manager's reading end
  void signal(int number);
  int wait();                                // exit code; 128 + n when signal n killed it
  std::string log() const;                   // dispatcher.log
  std::string diagnostics() const override;  // what it wrote to stdout and stderr

  const std::string& directory() const { return directory_; }
  pid_t pid() const { return pid_; }

 private:
  std::string read_file(const std::string& name) const;

  std::string directory_;
  pid_t pid_ = 0;
  int to_ = -1, from_ = -1, pidfd_ = -1;
  std::optional<int> exit_code_;
  FrameDecoder decoder_{Framing{}};
};

}  // namespace attune
