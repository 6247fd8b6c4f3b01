#pragma once
// What the journal of attuned holds: frames as payloads, under a header of this format. What the
// dispatcher does is a function of the sequence of records, so that a later daemon goes on where it
// ends (replay.h). docs/journal.md.
#include <string>
#include <string_view>

#include "protocol/frame.h"

namespace attune {

inline constexpr int kJournalFormat = 1;  // "format" of the header

std::string frame_payload(const Frame& frame);  // its code, then its payload
Frame payload_frame(std::string_view payload);  // of a payload with at least two bytes

}  // namespace attune
