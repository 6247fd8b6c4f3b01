#include "manager/cli/commands/requests.h"

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "manager/cli/commands/manager_answer.h"
#include "manager/cli/commands/shell_words.h"
#include "manager/control/json_format.h"
#include "manager/experiment/experiment_space.h"
#include "manager/interchange/import_file.h"
#include "manager/store/experiment_lock.h"
#include "manager/store/store_reader.h"
#include "os/atomic_file.h"
#include "os/standard_output.h"

namespace attune {
namespace {

// A request is a line of bounded length (ControlLimits::line_bytes).
constexpr std::size_t kRecordsPerRequest = 1000;

Result<StoredExperiment> find_experiment(const ExperimentChoice& which) {
  StoreReader reader = TRY(StoreReader::open(which.directory));
  return reader.find(which.experiment);
}

// The manager's answer. Nothing: no manager runs, and a message has told the user. `options`: as
// for manager_answer().
Result<std::optional<json>> ask(const StoredExperiment& experiment, const ControlRequest& request,
                                const Console& console, const std::string& options = "") {
  auto answer = manager_answer(experiment, request, options);
  if (answer) return *std::move(answer);
  if (!answer.error().no_manager) return fail(answer.error().message);
  put_text(console.err, terminal_text(fmt::format("attune: {}\n", answer.error().message)));
  return std::nullopt;
}

// Prints the answer as JSON, or else the sentence.
int tell(const ExperimentChoice& which, const json& answer, const std::string& sentence,
         const Console& console) {
  if (which.json) {
    print_json(console, answer);
  } else {
    print_text(console, sentence + "\n");
  }
  return kExitOk;
}

Result<AddRequest> read_trials(const std::string& text_or_file) {
  const std::size_t first = text_or_file.find_first_not_of(" \t\n");
  const bool is_text =
      first != std::string::npos && (text_or_file[first] == '{' || text_or_file[first] == '[');
  const std::string text = is_text ? text_or_file : TRY(read_file(text_or_file));
  const json parsed = TRY(parse_json(text));
  AddRequest add;
  for (const json& each : parsed.is_array() ? parsed : json::array({parsed})) {
    if (!each.is_object())
      return fail(
          fmt::format("the parameters of a trial are an object, not {}", json_type_name(each)));
    add.trials.push_back(each);
  }
  if (add.trials.empty()) return fail("there is no trial to add");
  return add;
}

}  // namespace

Result<int> request(const StopOptions& options, const Console& console) {
  const StoredExperiment experiment = TRY(find_experiment(options.which));
  const auto answer = TRY(ask(experiment, StopRequest{options.kill}, console));
  if (!answer) return kExitNoManager;
  if (options.wait) ExperimentLock::await_free(experiment.directory);
  return tell(
      options.which, *answer,
      fmt::format("experiment {} {}", experiment.id, options.wait ? "has stopped" : "stops"),
      console);
}

Result<int> request(const KillOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  KillRequest kill;
  for (const std::string& name : options.trials)
    kill.trials.push_back(TRY(reader.trial(experiment, name)).job_id);
  const auto answer = TRY(ask(experiment, kill, console));
  if (!answer) return kExitNoManager;
  return tell(options.which, *answer, fmt::format("stopping {}", fmt::join(kill.trials, ", ")),
              console);
}

Result<int> request(const AddOptions& options, const Console& console) {
  const StoredExperiment experiment = TRY(find_experiment(options.which));
  const AddRequest add = TRY(read_trials(options.parameters));
  const auto answer = TRY(ask(experiment, add, console));
  if (!answer) return kExitNoManager;
  std::string names;
  for (const json& each : answer->value("trials", json::array()))
    names += " " + (each.is_string() ? each.get<std::string>() : dump_json(each));
  return tell(options.which, *answer, fmt::format("{} added:{}", add.trials.size(), names),
              console);
}

Result<int> request(const ImportOptions& options, const Console& console) {
  const StoredExperiment experiment = TRY(find_experiment(options.which));
  std::vector<ImportData::Record> records = TRY(read_import_file(options.file));
  const std::size_t count = records.size();
  json answer = with_format({{"imported", 0}, {"left_out", 0}, {"records", count}, {"why", ""}});
  if (options.dry_run)
    return tell(options.which, answer, fmt::format("{} results could be imported", count), console);
  for (std::size_t begin = 0; begin < count; begin += kRecordsPerRequest) {
    ImportRequest part;
    for (std::size_t i = begin; i < std::min(begin + kRecordsPerRequest, count); ++i)
      part.records.push_back(std::move(records[i]));
    const auto done = TRY(ask(experiment, part, console, " --import " + shell_word(options.file)));
    if (!done) return kExitNoManager;
    for (const char* key : {"imported", "left_out"})
      answer[key] = answer[key].get<std::int64_t>() + done->value(key, std::int64_t{0});
    if (answer["why"].get<std::string>().empty()) answer["why"] = done->value("why", "");
  }
  return tell(options.which, answer,
              import_text(answer["imported"].get<std::int64_t>(),
                          answer["left_out"].get<std::int64_t>(), answer["why"]),
              console);
}

Result<int> request(const UpdateOptions& options, const Console& console) {
  const StoredExperiment experiment = TRY(find_experiment(options.which));
  UpdateRequest update;
  if (!options.search_space.empty())
    update.search_space = TRY(read_search_space_file(options.search_space));
  update.concurrency = options.concurrency;
  update.max_seconds = options.max_seconds;
  update.max_trials = options.max_trials;
  std::string resume = resume_options(update);
  if (!options.search_space.empty())
    resume += " --search-space " + shell_word(options.search_space);
  const auto answer = TRY(ask(experiment, update, console, resume));
  if (!answer) return kExitNoManager;
  return tell(options.which, *answer, fmt::format("experiment {} is updated", experiment.id),
              console);
}

}  // namespace attune
