#pragma once
// The settings that the commanders have in common. Values.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arguments.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

// What all tasks of one kind have in common.
struct TaskRole {
  TaskSpec common;  // needs, labels, limits, priority
  json program;     // an object, not looked into
  json parameters;  // of the user's own, beside those that the commander gives
};
// `place` is for the errors: "solo.learner".
Result<TaskRole> parse_role(const std::string& place, const json& given);

// A task of that role. Its program is that of the role, with "parameters", the text of
// a payload with `parameters`, and with "job", the id.
TaskSpec task_of(const TaskRole& role, const std::string& id, std::string_view kind,
                 const json& parameters);
// The parameters of a task that task_of made; null: somebody else made it.
json parameters_of(const TaskSpec& spec);

// How many collectors are live at a time. As many as the workers have room for, in these bounds.
struct Collectors {
  int least = 1, most = 1;
};

struct CommonSettings {
  std::string name;         // of the commander
  std::string run;          // what the ids of its tasks begin with
  std::string policies;     // a directory that all machines share
  std::string coordinator;  // the file of its address, for the tasks; empty: not told
  std::string buffer;       // settings of each buffer, JSON text
  TaskRole learner, collector;
  Collectors collectors;
  int failures = 1;  // of one kind in a row with which the run has failed
};

// `given` checked against what all commanders take and `more`; arguments of the type object may
// hold anything, and whoever declares them looks into them.
Result<json> resolve_settings(const std::string& name, const std::vector<Argument>& more,
                              const json& given);
// Of what resolve_settings gave.
Result<CommonSettings> common_settings(const std::string& name, const json& resolved);

// resolve_arguments, except that arguments of the type object may hold anything.
Result<json> resolve_open(const std::string& place, std::vector<Argument> declared,
                          const json& given);

}  // namespace attune
