#pragma once
// What a study is made with.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/trial.h"
#include "os/durability.h"

namespace attune {

// A tuner or an assessor as `attuned --list` shows them, with its classArgs.
struct Algorithm {
  std::string name;
  json arguments = json::object();
};

enum class IfExists {
  fail,  // an existing file is an error
  // It is continued; an error if it was made with another space or other options. `concurrency` may
  // differ: that of the file counts.
  continue_
};

struct StudyOptions {
  Algorithm tuner = {.name = "auto"};
  std::optional<Algorithm> assessor = {};
  // The direction of the metric "default", if `objectives` is empty; an error if `objectives` say
  // minimize. An optimize_mode in the arguments must say the same.
  bool maximize = false;
  std::vector<Objective> objectives = {};     // the first decides, but within the limits
  std::vector<std::string> constraints = {};  // docs/search-space.md
  std::vector<json> initial_points = {};      // tried first, in this order
  std::uint64_t seed = 0;                     // unless the tuner's arguments have one
  std::optional<int> max_trials = {};         // of the study; at least 1
  std::optional<int> concurrency = {};        // a hint for the tuner; at least 1
  std::string file = {};                      // empty: nothing is written
  IfExists if_exists = IfExists::fail;
  // How safe the records in the file are. The call that writes a record also flushes the file
  // before it returns; with each_second at most once a second.
  Durability durability = Durability::never;
};

}  // namespace attune
