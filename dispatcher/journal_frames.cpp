#include "dispatcher/journal_frames.h"

#include "base/check.h"

namespace attune {

bool is_known_format(const json& format) {
  return format.is_number_integer() && format >= kOldestJournalFormat && format <= kJournalFormat;
}

std::string frame_payload(const Frame& frame) { return frame.code + frame.payload; }

Frame payload_frame(std::string_view payload) {
  ATTUNE_CHECK(payload.size() >= 2);
  return {std::string(payload.substr(0, 2)), std::string(payload.substr(2))};
}

}  // namespace attune
