#pragma once
// What the JSON that commands print, and managers answer, means: docs/commands.md, "JSON".
#include "base/json.h"

namespace attune {

// Another number says that a key was taken away or means something else.
inline constexpr int kJsonFormat = 1;

// The object with `format` in front: each that stands alone, or in an array that is printed.
inline json with_format(const json& object) {
  json whole = {{"format", kJsonFormat}};
  whole.update(object);
  return whole;
}

}  // namespace attune
