#pragma once
// Which records the two sides of the protocol number (docs/protocol.md, "Exactly once").
#include <string_view>

#include "journal/journal.h"

namespace attune {

// True for commands other than IN; for answers other than ID, ER, and a NO that is transient; and
// for every kept answer.
bool is_numbered(RecordKind kind, std::string_view payload);

}  // namespace attune
