#include "base/crc32c.h"

#include <boost/crc.hpp>
#include <cstring>

namespace attune {
namespace {

std::uint32_t by_table(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

#if defined(__x86_64__)
// The processor's own instruction, 20 times as fast as the table: every record of the journal is
// summed when it is written, and once more when a snapshot replaces it.
[[gnu::target("sse4.2")]] std::uint32_t by_processor(std::string_view bytes) {
  std::uint64_t crc = 0xFFFFFFFF;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; left > 0; ++at, --left) {
    rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(*at));
  }
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return by_processor(bytes);
#endif
  return by_table(bytes);
}

}  // namespace attune
