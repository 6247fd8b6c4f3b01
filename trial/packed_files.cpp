#include "trial/packed_files.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace attune {
namespace {

// Major types of RFC 8949.
enum class Major { bytes = 2, text = 3, map = 5 };

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  // The count of a map, the length of a text. Nothing: another type, or of unknown length.
  std::optional<std::uint64_t> head(Major major) {
    if (rest_.empty()) return std::nullopt;
    const auto first = static_cast<unsigned char>(rest_.front());
    const unsigned info = first & 31U;
    if (first >> 5U != static_cast<unsigned>(major) || info > 27) return std::nullopt;
    rest_.remove_prefix(1);
    if (info < 24) return info;
    const std::size_t size = std::size_t{1} << (info - 24);
    if (rest_.size() < size) return std::nullopt;
    std::uint64_t value = 0;
    for (const char byte : rest_.substr(0, size)) {
      value = value << 8U | static_cast<unsigned char>(byte);
    }
    rest_.remove_prefix(size);
    return value;
  }

  std::optional<std::string_view> string(Major major) {
    const auto size = head(major);
    if (!size || *size > rest_.size()) return std::nullopt;
    const std::string_view found = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return found;
  }

 private:
  std::string_view rest_;
};

bool read_files(Reader& reader, PackedFiles& files) {
  const auto count = reader.head(Major::map);
  if (!count) return false;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto path = reader.string(Major::text);
    if (!path) return false;
    const auto content = reader.string(Major::bytes);
    if (!content) return false;
    files.emplace_back(*path, *content);
  }
  return true;
}

}  // namespace

Result<PackedFiles> read_packed(std::string_view bytes) {
  Reader reader(bytes);
  PackedFiles files;
  bool found = false, whole = false;
  if (const auto count = reader.head(Major::map)) {
    whole = true;
    for (std::uint64_t i = 0; whole && i < *count; ++i) {
      const auto key = reader.string(Major::text);
      const bool data = key == "data";
      found = found || data;
      whole = key && (data ? read_files(reader, files) : reader.string(Major::text).has_value());
    }
  }
  if (!whole || !found || !reader.at_end()) return fail("these bytes are no saved checkpoint");
  return files;
}

}  // namespace attune
