#pragma once

namespace attune {

// Version of handshake and messages. Both sides must have the same: a hello with another one is
// refused with an error that names both versions.
inline constexpr int kWireVersion = 2;

}  // namespace attune
