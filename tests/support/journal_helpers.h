#pragma once
// What the tests of journals in files share besides their world.
#include <sys/stat.h>

#include "tests/support/journal_world.h"

namespace attune {

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline unsigned mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

inline std::vector<std::string> payloads(const JournalWorld& world, RecordKind kind) {
  const auto records = records_in(world.bytes());
  REQUIRE(records);
  std::vector<std::string> found;
  for (const auto& record : *records) {
    if (record.kind == kind) found.push_back(record.payload);
  }
  return found;
}

}  // namespace attune
