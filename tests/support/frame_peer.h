#pragma once
// What the tests' managers share, whatever carries their frames to the daemon.
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "protocol/frame.h"

namespace attune {

class FramePeer {
 public:
  virtual ~FramePeer() = default;

  virtual void send(const std::string& code, const std::string& payload) = 0;
  // The next answer; nothing: the daemon has closed its end. Throws after a deadline.
  virtual std::optional<Frame> receive() = 0;

  // All answers until the daemon closes its end.
  std::vector<Frame> receive_all() {
    std::vector<Frame> frames;
    while (auto frame = receive()) frames.push_back(*std::move(frame));
    return frames;
  }

  // All answers to what was sent so far. The daemon needs the capability "sync".
  std::vector<Frame> sync() {
    const std::string token = "sync-" + std::to_string(++tokens_);
    send("PI", token);
    std::vector<Frame> frames;
    while (auto frame = receive()) {
      if (frame->code == "PO" && frame->payload == token) return frames;
      frames.push_back(*std::move(frame));
    }
    throw std::runtime_error("the daemon left before it answered a ping: " + diagnostics());
  }
  // For the text of an exception.
  virtual std::string diagnostics() const { return ""; }

 private:
  int tokens_ = 0;
};

}  // namespace attune
