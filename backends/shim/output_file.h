#pragma once
// Copies one of the two output streams of the trial from a pipe into a file of bounded size.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace attune::shim {

// Keeps the first `limit` bytes that this attempt writes and, if there are more, the last kTail
// bytes: the beginning shows set-up and configuration, the end shows the reason of a failure. The
// bytes between are dropped. The pipe is always emptied, so the trial never waits.
class OutputFile {
 public:
  static constexpr std::size_t kTail = 64 << 10;

  // Appends to the file <folder>/<name>. No symbolic link is followed.
  OutputFile(const std::string& folder, const char* name, std::uint64_t limit);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Makes the pipe and returns its writing end, for the trial. -1: no more descriptors.
  int make_pipe();
  int pipe() const { return pipe_; }  // the reading end; -1 if there is nothing to wait for

  // The listener gets all bytes that are taken from now on.
  void set_listener(std::function<void(std::string_view)> listener) {
    listener_ = std::move(listener);
  }

  // Takes up to 64 KiB from the pipe. Returns false if there is nothing (more) for now.
  bool take();
  // Takes what is in the pipe now, but not what comes meanwhile.
  void take_present();
  // Writes the kept end. Call it once, as the last function.
  void finish();

  // A problem for the user; each is returned once. Empty: nothing new.
  std::string problem();
  // The last bytes that were taken, at most 500: the message of a helper program that fails.
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
  std::uint64_t dropped_ = 0;  // bytes between the beginning and the tail
  std::string tail_;           // up to twice kTail, so that it is cut rarely
  std::string recent_;
  std::string problem_;
  bool cut_ = false, broken_ = false;
};

}  // namespace attune::shim
