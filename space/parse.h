#pragma once
// NNI's search space JSON to Space. The format: docs/search-space.md.
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "space/space.h"

namespace attune {

// Rejects what cannot be sampled, with the path of the first mistake and the cure:
//   search_space.lr._value: high must exceed low
//   search_space.layer0[1].k._type: unknown type "unifrom"; did you mean "uniform"?
// Degenerate domains (low == high, sigma == 0, one candidate) are constants and fine; an empty
// object is an empty space. Other keys of a parameter than _type, _value, _default and _prior are
// ignored, as in NNI, unless they look like a misspelt one.
// At most 10,000 parameters, and 100,000 candidates in one choice.
Result<Space> parse_space(const json& search_space);

struct SpaceFlaw {
  std::string place;  // in the document: "layer0._value[1].k._type"; empty: the space itself
  std::string path;   // "search_space.layer0[1].k._type"
  std::string message;
};

// The same with all mistakes, at most one of each parameter, in their order. A parameter with a
// mistake is in the space all the same, with some domain, so that a reference to it is not a second
// mistake.
Space parse_space(const json& search_space, std::vector<SpaceFlaw>& flaws);

}  // namespace attune
