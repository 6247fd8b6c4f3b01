#pragma once

namespace attune {

// Of the messages on the wire; both sides must have the same.
inline constexpr int kWireVersion = 2;

}  // namespace attune
