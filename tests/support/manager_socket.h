#pragma once
// The manager's end of a WebSocket, for tests: a server for one client at a time. Everything has a
// deadline, after which it throws. Nothing happens between the calls: no byte is read, no close is
// answered.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/message.h"
#include "tests/support/frame_peer.h"

namespace attune {

class ManagerSocket : public FramePeer {
 public:
  // Has a free port of this machine, where connections are refused until listen().
  explicit ManagerSocket(Dialect dialect);
  ~ManagerSocket() override;
  ManagerSocket(const ManagerSocket&) = delete;
  ManagerSocket& operator=(const ManagerSocket&) = delete;

  std::string url() const;

  void listen(int receive_buffer = 0);  // bytes; 0: the system's choice
  void accept();                        // the next client, up to the end of the handshake
  bool has_client();                    // one has connected, and waits for accept()
  void answer_http(int status);         // to the next client, instead

  // In the dialect of the constructor.
  void send(const std::string& code, const std::string& payload = "") override;
  std::optional<Frame> receive() override;

  void send_message(const std::string& data, bool text = true);
  void send_fragmented(const std::string& data, std::size_t fragment);
  void send_bytes(const std::string& bytes);  // below the WebSocket
  // Waits for the answer; what comes before it is kept for receive(). Returns how much that is.
  std::size_t ping();
  void close(std::uint16_t code);
  void drop();                                      // the connection ends without a word
  std::optional<std::uint16_t> close_code() const;  // of the client

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
