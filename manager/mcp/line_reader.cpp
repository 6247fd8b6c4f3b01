#include "manager/mcp/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace attune {

std::optional<InputLine> LineReader::next(bool wait) {
  while (true) {
    if (auto line = take_line()) return line;
    if (closed_ || !fill(wait)) return std::nullopt;
  }
}

// A line of what was read so far.
std::optional<InputLine> LineReader::take_line() {
  std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos && closed_ && (skipping_ || !buffer_.empty())) end = buffer_.size();
  InputLine line;
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    if (skipping_ || buffer_.size() > most_bytes_) {
      skipping_ = true;
      buffer_.clear();
      searched_ = 0;
    }
    return std::nullopt;
  }
  line.too_long = skipping_ || end > most_bytes_;
  if (!line.too_long) line.text = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  searched_ = 0;
  skipping_ = false;
  return line;
}

// Reads some bytes, or the end of the input. False: there is nothing to read now.
bool LineReader::fill(bool wait) {
  pollfd ready = {fd_, POLLIN, 0};
  // An error of poll() shows again in read(), which is the one that ends the input.
  if (!wait && ::poll(&ready, 1, 0) == 0) return false;
  char bytes[65536];
  const ssize_t count = ::read(fd_, bytes, sizeof bytes);
  if (count > 0) {
    buffer_.append(bytes, static_cast<std::size_t>(count));
  } else if (count < 0 && errno == EAGAIN) {  // a client may make a shared descriptor non-blocking
    if (!wait) return false;
    ::poll(&ready, 1, -1);
  } else if (count == 0 || errno != EINTR) {
    closed_ = true;
  }
  return true;
}

}  // namespace attune
