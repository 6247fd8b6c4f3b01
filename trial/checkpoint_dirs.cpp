#include "trial/checkpoint_dirs.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "os/atomic_file.h"
#include "trial/packed_files.h"

namespace attune::checkpoint_dirs {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMarker = ".is_checkpoint";
constexpr const char* kNullMarker = ".null_marker";
constexpr const char* kTemporaryMarker = ".temp_marker";
constexpr const char* kMetadata = ".tune_metadata";

Result<void> write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), std::ssize(bytes));
  stream.close();
  if (!stream) return fail("cannot write " + path.string() + ": " + std::strerror(errno));
  return {};
}

Result<fs::path> make_any(const fs::path& logs, std::int64_t step) {
  if (logs.empty()) return fail("this trial keeps no checkpoints: it has no log directory");
  fs::path folder = logs / ("checkpoint_" + std::to_string(step));
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) fs::create_directories(folder, error);
  if (error) return fail("cannot make " + folder.string() + ": " + error.message());
  TRY(write_file(folder / kMarker, ""));
  return folder;
}

// Whether the path is absolute, leaves its folder through "..", or names no file.
bool leads_out(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return path.empty() || normal.is_absolute() || *normal.begin() == ".." || !normal.has_filename();
}

Result<void> unpack_into(const PackedFiles& files, const fs::path& folder) {
  for (const auto& [name, content] : files) {
    if (leads_out(name)) {
      return fail("a saved checkpoint: \"" + std::string(name) + "\" is no file of a folder");
    }
    std::error_code error;
    fs::create_directories((folder / name).parent_path(), error);
    TRY(write_file(folder / name, content));
  }
  return {};
}

}  // namespace

Result<fs::path> make(const fs::path& logs, std::int64_t step) {
  if (step < 0) return fail("the step of a checkpoint must not be negative");
  return make_any(logs, step);
}

Result<fs::path> make_null(const fs::path& logs) {
  fs::path folder = TRY(make_any(logs, -1));
  TRY(write_file(folder / kNullMarker, ""));
  return folder;
}

Result<fs::path> find(const fs::path& path) {
  std::error_code error;
  fs::path folder = fs::absolute(path, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "checkpoint_3/"
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / kMarker, error)) return folder;
    if (folder == folder.root_path()) break;
  }
  return fail(path.string() +
              " lies in no checkpoint folder: make_checkpoint_dir() makes one to save into");
}

bool is_null(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kNullMarker, error);
}

Result<fs::path> make_permanent(const fs::path& temporary, const fs::path& logs,
                                std::int64_t step) {
  fs::path folder = TRY(make(logs, step));
  std::error_code error;
  constexpr auto kHow = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
  fs::remove(temporary / kTemporaryMarker, error);  // as in Ray: the copy is made without it
  if (!error) fs::copy(temporary, folder, kHow, error);
  if (error) {
    return fail("cannot copy " + temporary.string() + " to " + folder.string() + ": " +
                error.message());
  }
  return folder;
}

Result<void> write_metadata(const fs::path& folder, const json& metadata) {
  return write_file_atomically((folder / kMetadata).string(), dump_json(metadata) + "\n");
}

Result<json> read_metadata(const fs::path& folder) {
  const std::string path = (folder / kMetadata).string();
  auto metadata = parse_json(TRY(read_file(path)));
  if (!metadata) return fail(path + ": " + metadata.error().message);
  if (!metadata->is_object()) return fail(path + ": an object expected");
  return metadata;
}

Result<std::string> pack(const fs::path& folder) {
  json data = json::object();
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const std::string bytes = TRY(read_file(entry->path().string()));
    data[entry->path().lexically_relative(folder).string()] =
        json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  }
  if (error) return fail("cannot read " + folder.string() + ": " + error.message());
  const json object = {{"checkpoint_name", folder.filename().string()}, {"data", std::move(data)}};
  std::string packed;
  json::to_cbor(object, packed);
  return packed;
}

Result<fs::path> unpack(std::string_view bytes, const fs::path& logs) {
  const PackedFiles files = TRY(read_packed(bytes));
  if (logs.empty()) return fail("a checkpoint cannot be unpacked without a log directory");
  std::error_code error;
  fs::create_directories(logs, error);  // mkdtemp() says what is wrong
  std::string pattern = (logs / "checkpoint_tmpXXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail("cannot make " + pattern + ": " + std::strerror(errno));
  }
  Result<void> written = unpack_into(files, pattern);
  if (written) written = write_file(fs::path(pattern) / kMarker, "");
  if (written) written = write_file(fs::path(pattern) / kTemporaryMarker, "");
  if (!written) {
    fs::remove_all(pattern, error);
    return std::unexpected(written.error());
  }
  return pattern;
}

}  // namespace attune::checkpoint_dirs
