#pragma once
// Space back to NNI's search space JSON, for algorithms outside of this program.
#include "base/json.h"
#include "space/space.h"

namespace attune {

// An object from which parse_space() makes an equal space. Constraints are not part of it. Of an
// unread space it is what the manager has sent.
json declaration_of(const Space& space);

}  // namespace attune
