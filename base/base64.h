#pragma once
// RFC 4648, standard alphabet, padded.
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune {

std::string base64_encode(std::string_view bytes);

// Strict: no white space, padding required, unused bits zero. An error names the position of a
// wrong character.
Result<std::string> base64_decode(std::string_view text);

}  // namespace attune
