// The checksum of journals and buffers: the standard's, whatever the processor can do.
#include "base/crc32c.h"

#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <string>

#include "base/rng.h"

namespace attune::crc32c_test {

TEST_CASE("CRC-32C is that of the standard") {
  CHECK(crc32c("123456789") == 0xE3069283);
  CHECK(crc32c("") == 0);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
}

TEST_CASE("CRC-32C by the processor equals CRC-32C by a table, at each length and alignment") {
  Rng rng(7);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(rng.index(256));
  const std::string_view all = bytes;
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t length = 0; length + from <= all.size(); ++length) {
      const std::string_view part = all.substr(from, length);
      boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> table;
      table.process_bytes(part.data(), part.size());
      if (crc32c(part) != table.checksum()) FAIL("from " << from << ", " << length << " bytes");
    }
  }
}

}  // namespace attune::crc32c_test
