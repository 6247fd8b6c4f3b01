#include "daemon/checkpoint.h"

#include <fmt/format.h>
#include <pthread.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/crc32c.h"

namespace attune {
namespace {

constexpr std::string_view kMagic = "attuned checkpoint ";
constexpr std::string_view kFormat = "1";

}  // namespace

std::string checkpoint_path(const std::string& directory) {
  return directory + "/attuned.checkpoint";
}

std::string encode_checkpoint(const json& state) {
  const std::string text = dump_json(state);
  return fmt::format("{}{} {:08x} {}\n{}", kMagic, kFormat, crc32c(text), text.size(), text);
}

Result<json> decode_checkpoint(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  if (!bytes.starts_with(kMagic) || line == bytes.npos) return fail("it is not a checkpoint");
  const std::string_view header = bytes.substr(kMagic.size(), line - kMagic.size());
  const std::string_view text = bytes.substr(line + 1);
  if (!header.starts_with(std::string(kFormat) + " ")) {
    return fail(fmt::format("format {}: this attuned reads format {}",
                            header.substr(0, header.find(' ')), kFormat));
  }
  if (header != fmt::format("{} {:08x} {}", kFormat, crc32c(text), text.size())) {
    return fail(fmt::format("damaged: \"{}\" stands over {} bytes with the sum {:08x}", header,
                            text.size(), crc32c(text)));
  }
  // Ours, and a search space at the limit lies some levels deep in it.
  json state = TRY(parse_json(text, {.depth = 300, .keys = 1'000'000}));
  if (!state.is_object()) return fail("it holds no object");
  return state;
}

CheckpointWriter::CheckpointWriter(std::string path, Written written)
    : path_(std::move(path)), written_(std::move(written)) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CheckpointWriter::write(json state) {
  {
    const std::lock_guard lock(mutex_);
    ATTUNE_CHECK(!state_);
    state_ = std::move(state);
  }
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "checkpoint");
  }
  changed_.notify_one();
}

void CheckpointWriter::run() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || state_; });
    if (!state_) return;
    const json state = *std::exchange(state_, std::nullopt);
    lock.unlock();
    std::error_code error;  // write_file_atomically says what is wrong with the directory
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
    written_(write_file_atomically(path_, encode_checkpoint(state)));
  }
}

}  // namespace attune
