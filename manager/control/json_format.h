#pragma once
// The version of the JSON that commands print and managers answer (docs/commands.md, "JSON").
#include "base/json.h"

namespace attune {

// Increased only when a key is removed or changes its meaning; new keys do not count.
inline constexpr int kJsonFormat = 1;

// The object with `format` as its first key. Use it for each object that is printed alone or as an
// element of a printed array.
inline json with_format(const json& object) {
  json whole = {{"format", kJsonFormat}};
  whole.update(object);
  return whole;
}

}  // namespace attune
