#pragma once
// The settings that all commanders have. Values.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arguments.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

// What all tasks of one kind share.
struct TaskRole {
  TaskSpec common;  // needs, labels, limits, priority
  json program;     // an object that commanders do not interpret
  json parameters;  // the user's own, beside those that the commander gives
};
// `place` is for the errors: "solo.learner".
Result<TaskRole> parse_role(const std::string& place, const json& given);

// A task of that role. Its program is the role's with two more members: "job", the id, and
// "parameters", a text in the form in which a trial gets its parameters. That text holds the role's
// parameters and `parameters`.
TaskSpec task_of(const TaskRole& role, const std::string& id, std::string_view kind,
                 const json& parameters);
// The parameters of a task that task_of() made; null: something else made it.
json parameters_of(const TaskSpec& spec);

// Bounds of the number of live collectors. Between them it follows the room on the workers.
struct Collectors {
  int least = 1, most = 1;
};

struct CommonSettings {
  std::string name;         // of the commander
  std::string run;          // prefix of the ids of its tasks
  std::string policies;     // a directory that all machines share
  std::string coordinator;  // file with the coordinator's address, for programs; empty: not given
  std::string buffer;       // settings of each buffer, JSON text
  TaskRole learner, collector;
  Collectors collectors;
  int failures = 1;  // so many failures of one kind in a row fail the run
};

// Checks `given` against the arguments that all commanders take and `more`. Arguments of the type
// object may hold anything: whoever declares one checks its content.
Result<json> resolve_settings(const std::string& name, const std::vector<Argument>& more,
                              const json& given);
// `resolved` is the result of resolve_settings().
Result<CommonSettings> common_settings(const std::string& name, const json& resolved);

// resolve_arguments(), except that arguments of the type object may hold anything.
Result<json> resolve_open(const std::string& place, std::vector<Argument> declared,
                          const json& given);

}  // namespace attune
