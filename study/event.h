#pragma once
// What happened to a study, in order: the same events give the same study again. A line of a study
// file is one event as JSON; docs/study.md shows them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

struct Event {
  enum class Kind { ask, report, tell, fail, stop, enqueue, import, declare, suggest };

  Kind kind = Kind::ask;
  int slot = -1;           // of optimize() with several threads
  std::int64_t count = 0;  // ask: how many were asked for
  TrialId trial = 0;       // report, tell, fail, stop, suggest
  std::int64_t step = 0;   // report
  bool stop = false;       // report: the verdict
  // ask: [{"id":, "parameters":}, ...]; report, tell: the value; fail: the reason; enqueue: the
  // parameters; import: [{"parameters":, "value":}, ...]; declare: a search space; suggest:
  // {name: value}
  json body = nullptr;
};

json to_json(const Event& event);
Result<Event> event_from_json(const json& line);

// What a file keeps of a value: a number, or those members of an object that are numbers (a boolean
// is one). NaN and infinities become null, as JSON has neither; readable() makes NaN of null again.
json storable(const json& value);
json readable(json stored);

// An error if a file with this value in it could not be read again: it is nested too deep, or an
// object has too many keys. What a study accepts, it must be able to read again.
Result<void> check_readable(const json& value);

}  // namespace attune
