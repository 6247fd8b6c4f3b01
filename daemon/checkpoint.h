#pragma once
// The daemon's state as a file, from which NNI_MODE=resume goes on. docs/protocol.md, "Resume".
//
//   attuned checkpoint 1 CRC LENGTH\n     CRC-32C of the text in 8 hexadecimal digits, its bytes
//   {"tuner": ..., ...}                   JSON
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// The member that tells whether the daemon has answered nothing since.
inline constexpr const char* kClean = "clean";

std::string checkpoint_path(const std::string& directory);

std::string encode_checkpoint(const json& state);

// Errors name the place: another format, a wrong length or sum, text that is no JSON object.
Result<json> decode_checkpoint(std::string_view bytes);

// Writes states to one file, each in place of the one before, on a thread of its own that lives
// from the first write on: a large state takes a while to write, and the disk can be slow.
// Used by one thread.
class CheckpointWriter {
 public:
  using Written = std::function<void(Result<void>)>;

  // `written` is called after each write, on the writing thread. The directory of `path` is made
  // when it is missing.
  CheckpointWriter(std::string path, Written written);
  ~CheckpointWriter();  // after the write in hand
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // The former write must have been reported.
  void write(json state);

 private:
  void run();

  const std::string path_;
  const Written written_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<json> state_;  // to be written next
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace attune
