#pragma once
// Reads lines from a descriptor of which the other end cannot be trusted.
#include <cstddef>
#include <optional>
#include <string>

namespace attune {

struct InputLine {
  std::string text;       // without the line end
  bool too_long = false;  // the line had more bytes than allowed; `text` is empty
};

// Bytes of a line that is too long are thrown away as they come, so that a client cannot fill the
// memory. The bytes after the last line end are a line, too. One thread owns a LineReader.
class LineReader {
 public:
  // `fd` stays open, and outlives the reader. A line may have at most `most_bytes`.
  LineReader(int fd, std::size_t most_bytes) : fd_(fd), most_bytes_(most_bytes) {}

  // The next line. `wait`: waits for it; nothing: the input has ended, or cannot be read. Else only
  // takes what is there; nothing: no whole line is.
  std::optional<InputLine> next(bool wait);

 private:
  std::optional<InputLine> take_line();
  bool fill(bool wait);

  int fd_;
  std::size_t most_bytes_;
  std::string buffer_;
  std::size_t searched_ = 0;  // the first bytes of buffer_, which hold no line end
  bool skipping_ = false;     // in a line that is too long
  bool closed_ = false;
};

}  // namespace attune
