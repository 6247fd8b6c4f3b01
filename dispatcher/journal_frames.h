#pragma once
// Records in the journal of attuned: their payloads are frames, and its header has this format.
// What the dispatcher does is a function of the sequence of records, so that a later daemon can
// continue where the journal ends (replay.h). docs/journal.md.
#include <string>
#include <string_view>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

// The member "format" of the header. Journals of format 1 had snapshots without queues, and pieces
// of another size (request_pieces.h); they can be read, and keep that size.
inline constexpr int kJournalFormat = 2;
inline constexpr int kOldestJournalFormat = 1;
bool is_known_format(const json& format);

std::string frame_payload(const Frame& frame);  // its code, then its payload
Frame payload_frame(std::string_view payload);  // of a payload with at least two bytes

}  // namespace attune
