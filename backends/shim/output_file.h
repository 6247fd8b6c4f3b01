#pragma once
// One of the two output streams of the trial: from a pipe into a file of bounded size.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace attune::shim {

// Keeps the beginning of what this attempt writes, up to `limit` bytes, and, when there is more,
// the last kTail bytes: set-up and configuration stand at the beginning, the reason of a failure at
// the end. What lies between is dropped; the pipe is emptied in any case, so that the trial never
// waits.
class OutputFile {
 public:
  static constexpr std::size_t kTail = 64 << 10;

  // Appends to the file <folder>/<name>. No symbolic link is followed.
  OutputFile(const std::string& folder, const char* name, std::uint64_t limit);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Makes the pipe; its writing end, for the trial. -1: no more descriptors.
  int make_pipe();
  int pipe() const { return pipe_; }  // the reading end; -1 when there is nothing to wait for

  // Hears all that is taken from now on.
  void set_listener(std::function<void(std::string_view)> listener) {
    listener_ = std::move(listener);
  }

  // Takes up to 64 KiB from the pipe; false when nothing (more) is there for now.
  bool take();
  // Takes what is in the pipe now, and not what comes meanwhile.
  void take_present();
  // Writes what is kept of the end. Call it once, last.
  void finish();

  // What the user should know, each text once; empty: nothing new.
  std::string problem();
  // The last bytes that were taken, at most 500: what a helper program says before it gives up.
  const std::string& recent() const { return recent_; }

 private:
  void keep(std::string_view bytes);
  void write(std::string_view bytes);

  std::string path_;
  std::function<void(std::string_view)> listener_;
  int file_ = -1;
  int pipe_ = -1;
  std::uint64_t limit_;
  std::uint64_t kept_ = 0;     // bytes at the beginning
  std::uint64_t dropped_ = 0;  // of the rest, those that left the tail
  std::string tail_;           // up to twice kTail, so that it is cut rarely
  std::string recent_;
  std::string problem_;
  bool cut_ = false, broken_ = false;
};

}  // namespace attune::shim
