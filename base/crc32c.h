#pragma once
// CRC-32C (Castagnoli, as in iSCSI, RFC 3720): "123456789" gives E3069283.
#include <cstdint>
#include <string_view>

namespace attune {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace attune
