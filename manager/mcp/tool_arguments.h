#pragma once
// Arguments that several tools take, and what they mean.
#include <cstdint>
#include <string>

#include "manager/control/schema.h"
#include "manager/mcp/tool.h"
#include "manager/store/store_reader.h"

namespace attune {

// The store, and the experiment of the argument `experiment`; without it, the newest.
struct FoundExperiment {
  StoreReader reader;
  StoredExperiment experiment;
};
Result<FoundExperiment> find_experiment(const ToolContext& context, const json& arguments);

// "experiment" where only something is read. A tool that changes something wants it to be named:
// another experiment may have become the newest since the client looked.
json read_experiment_schema();
json named_experiment_schema();
json trial_schema();
json limit_schema(std::int64_t usual, std::int64_t most);

// A checked argument, or the default.
std::int64_t integer_of(const json& arguments, const char* key, std::int64_t usual);
std::string text_of(const json& arguments, const char* key, const std::string& usual);

}  // namespace attune
