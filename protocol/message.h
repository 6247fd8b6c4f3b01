#pragma once
// Frames as messages of a WebSocket, which marks where a message ends. NNI 2.8 to 2.10 send the
// code and then the payload ("GE2"), NNI 3.0 a JSON object ({"type": "GE", "content": "2"}). The
// first message of a manager shows which form it uses.
#include <string>
#include <string_view>

#include "base/result.h"
#include "protocol/frame.h"

namespace attune {

enum class Dialect { v2, v3 };  // of NNI 2.8 to 2.10, of NNI 3.0

// Codes of NNI 3.0's messages about the connection itself. Only Dialect::v3 has them.
inline constexpr std::string_view kBye = "_bye_";  // the sender ends the connection on purpose
inline constexpr std::string_view kNop = "_nop_";  // nothing; keeps the connection alive

// No command of Dialect::v2 begins with a brace.
Dialect dialect_of(std::string_view first_message);

// The frame's code has two characters, or is kBye or kNop; decode() finds out whether a command has
// this code. A missing payload is empty. Errors say what is wrong with the message; the next
// messages can still be read.
Result<Frame> decode_message(Dialect dialect, std::string_view message);

// For Dialect::v3 the text is pure ASCII.
std::string encode_message(Dialect dialect, const Frame& frame);

}  // namespace attune
