#pragma once
// What a tuner was told since its state was last saved: a tuner that is started anew is told again.
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

struct Adopted {  // proposed by the tuner itself, or not
  TrialId trial = 0;
  Point point;
};
struct Withdrawn {
  TrialId trial = 0;
};
using TunerEvent = std::variant<Adopted, Withdrawn, Outcome, Report>;
using TunerEvents = std::vector<TunerEvent>;

// A state of all events: numbers as one text, names and other JSON once. Loading takes any JSON.
json save_events(const TunerEvents& events);
Result<TunerEvents> load_events(const Space& space, const json& state);

}  // namespace attune
