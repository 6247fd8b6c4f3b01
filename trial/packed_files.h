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

// Takes any bytes. Reads only the form above, so that no input makes it recurse; a library that
// reads all of CBOR recurses as deep as the bytes say. An error: the bytes have another form.
Result<PackedFiles> read_packed(std::string_view bytes);

}  // namespace attune
