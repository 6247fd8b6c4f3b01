#include "manager/mcp/tool_arguments.h"

#include <fmt/format.h>

namespace attune {

Result<FoundExperiment> find_experiment(const ToolContext& context, const json& arguments) {
  StoreReader reader = TRY(StoreReader::open(context.directory));
  StoredExperiment experiment = TRY(reader.find(text_of(arguments, "experiment", "")));
  return FoundExperiment{std::move(reader), std::move(experiment)};
}

json read_experiment_schema() {
  return text_schema(
      "Id, beginning of an id, or name of an experiment (tool list). Without it the newest.");
}

json named_experiment_schema() {
  return text_schema("Id, beginning of an id, or name of an experiment (tool list).");
}

json trial_schema() { return text_schema("Job id (t0012) or number (12) of a trial."); }

json limit_schema(std::int64_t usual, std::int64_t most) {
  return with_default(integer_schema("At most so many elements.", 1, most), usual);
}

std::int64_t integer_of(const json& arguments, const char* key, std::int64_t usual) {
  return arguments.contains(key) ? arguments[key].get<std::int64_t>() : usual;
}

std::string text_of(const json& arguments, const char* key, const std::string& usual) {
  return arguments.contains(key) ? arguments[key].get<std::string>() : usual;
}

}  // namespace attune
