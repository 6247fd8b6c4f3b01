#pragma once
// What the journal of attuned holds: frames as payloads, under a header of this format. What the
// dispatcher does is a function of the sequence of records, so that a later daemon goes on where it
// ends (replay.h). docs/journal.md.
#include <string>
#include <string_view>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

// "format" of the header. Format 1 had snapshots without queues, and pieces of another size
// (request_pieces.h). Its journals are read, and go on as they began.
inline constexpr int kJournalFormat = 2;
inline constexpr int kOldestJournalFormat = 1;
bool is_known_format(const json& format);

std::string frame_payload(const Frame& frame);  // its code, then its payload
Frame payload_frame(std::string_view payload);  // of a payload with at least two bytes

}  // namespace attune
