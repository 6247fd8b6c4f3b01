#pragma once
// Which records the two sides of the protocol number (docs/protocol.md, "Exactly once").
#include <string_view>

#include "journal/journal.h"

namespace attune {

// A command that is not IN; an answer that is neither ID nor ER nor a NO that is transient; every
// kept answer.
bool is_numbered(RecordKind kind, std::string_view payload);

}  // namespace attune
