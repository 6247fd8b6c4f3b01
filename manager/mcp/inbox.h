#pragma once
// The messages of a client, in the order in which they came, without those that it has cancelled.
#include <deque>
#include <expected>
#include <optional>

#include "base/json.h"
#include "manager/mcp/line_reader.h"
#include "manager/mcp/rpc.h"

namespace attune {

class Inbox {
 public:
  // What one message may hold, and how many may wait here. They also wait in the pipe when those
  // here have more bytes than one may have.
  static constexpr std::size_t kLineBytes = std::size_t{4} << 20;
  static constexpr std::size_t kWaiting = 64;

  // `fd`: as for LineReader. One thread owns an Inbox.
  explicit Inbox(int fd) : lines_(fd, kLineBytes) {}

  // Waits for the next message: JSON that was not looked at further, or why the line is none.
  // Nothing: the input has ended.
  //
  // A request is carried out without interruption, so a cancellation can only come in time for a
  // request that waits. Such a request is dropped, and gets no answer, as the protocol wants it.
  std::optional<std::expected<json, RpcError>> next();

 private:
  struct Waiting {
    std::expected<json, RpcError> message;
    std::size_t bytes = 0;  // of its line
  };

  void take(InputLine line);
  void cancel(const json& id);
  bool has_room() const;

  LineReader lines_;
  std::deque<Waiting> waiting_;
};

}  // namespace attune
