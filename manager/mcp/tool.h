#pragma once
// What a client can call. Each tool is a value; its input is described by a schema, and checked
// against it before the tool is called.
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "os/clock.h"

namespace attune {

// What tools may use. The clock outlives it.
struct ToolContext {
  std::filesystem::path directory;  // a working directory, or the folder of one experiment
  const Clock& clock;
};

struct Tool {
  std::string name, title;
  std::string description;  // for a reader who does not know attune
  json schema;              // of the arguments: object_schema()
  bool changes = false;     // it changes an experiment; only listed with --allow-changes
  // Only of one that changes: it may end or overwrite something; a second equal call does nothing.
  bool destructive = false, idempotent = false;
  // `arguments` fit the schema. The result is an object. An error is a sentence for the client.
  Result<json> (*call)(const ToolContext& context, const json& arguments) = nullptr;
};

std::vector<Tool> reading_tools();   // list, status, best, trials, show, logs, config
std::vector<Tool> changing_tools();  // add, update, kill, stop

}  // namespace attune
