#pragma once
// The files of a checkpoint folder as bytes. CBOR: {"checkpoint_name": text, "data": {path:
// bytes}}, of known lengths.
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace attune {

// Path and content, as they stand; both point into what was read.
using PackedFiles = std::vector<std::pair<std::string_view, std::string_view>>;

// Any bytes may come, and nothing of them is nested as deep as they say: a library that takes all
// of CBOR recurses. The error: they are none of the above.
Result<PackedFiles> read_packed(std::string_view bytes);

}  // namespace attune
