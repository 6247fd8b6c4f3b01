// How a trial finds out whether it is alone or under a manager.
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string>

#include "os/atomic_file.h"
#include "trial/trial.h"

namespace attune {
namespace fs = std::filesystem;
namespace {

// Empty when it is unset.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::int64_t> count_in(const char* name) {
  const std::string text = variable(name);
  if (text.empty()) return 0;
  std::int64_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || count < 0) {
    return fail(std::string(name) + " is \"" + text + "\"; a number from 0 expected");
  }
  return count;
}

bool is_true(const std::string& text) { return text == "true" || text == "True"; }

Result<json> read_object(const fs::path& path) {
  auto file = parse_json(TRY(read_file(path.string())));
  if (!file) return fail(path.string() + ": " + file.error().message);
  if (!file->is_object()) {
    return fail(path.string() + ": an object of parameters expected, " +
                std::string(json_type_name(*file)) + " found");
  }
  return file;
}

}  // namespace

Result<Trial> Trial::from_environment(const TrialOptions& options) {
  json defaults = options.defaults.is_null() ? json::object() : options.defaults;
  if (!defaults.is_object()) {
    return fail("the defaults of a trial must be an object, not " +
                std::string(json_type_name(defaults)));
  }
  const std::string platform = variable("NNI_PLATFORM");
  const bool is_alone = platform.empty() || platform == "standalone" || platform == "unittest";
  if (is_alone && !options.parameters_file.empty()) {
    defaults.update(TRY(read_object(options.parameters_file)));
  }
  Trial trial = TRY(is_alone ? alone(options) : managed(platform));
  trial.defaults_ = std::move(defaults);
  return trial;
}

Result<Trial> Trial::alone(const TrialOptions& options) {
  Trial trial;
  trial.output_ = options.output == nullptr ? &std::cout : options.output;
  std::error_code error;
  trial.output_directory_ = fs::current_path(error);
  if (!options.checkpoint_dir.empty()) {
    fs::create_directories(options.checkpoint_dir, error);
    if (error) {
      return fail("cannot make the checkpoint folder " + options.checkpoint_dir.string() + ": " +
                  error.message());
    }
    trial.checkpoint_dir_ = options.checkpoint_dir;
  }
  return trial;
}

Result<Trial> Trial::managed(std::string_view platform) {
  const std::string directory = variable("NNI_SYS_DIR");
  if (directory.empty()) {
    return fail("NNI_PLATFORM is \"" + std::string(platform) +
                "\", and NNI_SYS_DIR, the folder of the trial, is not set; a manager sets both. To "
                "run without one, unset NNI_PLATFORM");
  }
  // Elsewhere NNI's managers read standard output, and the metrics file is read by nobody.
  if (platform != "local" || !variable("NNI_TRIAL_COMMAND_CHANNEL").empty() ||
      is_true(variable("REUSE_MODE"))) {
    return fail(
        "this manager talks to its trials by HTTP (NNI_TRIAL_COMMAND_CHANNEL) or by their standard "
        "output (REUSE_MODE, NNI_PLATFORM=\"" +
        std::string(platform) +
        "\"); attune's trial library speaks by files: run the trial under attune, or under NNI 2's "
        "local platform");
  }
  Trial trial;
  trial.system_directory_ = directory;
  trial.id_ = variable("NNI_TRIAL_JOB_ID");
  trial.sequence_ = TRY(count_in("NNI_TRIAL_SEQ_ID"));
  trial.attempt_ = TRY(count_in("ATTUNE_ATTEMPT"));
  trial.task_key_ = variable("ATTUNE_TASK_KEY");
  const std::string output = variable("NNI_OUTPUT_DIR");
  trial.output_directory_ = output.empty() ? directory : output;
  const std::string checkpoints = variable("ATTUNE_CHECKPOINT_DIR");
  if (!checkpoints.empty()) trial.checkpoint_dir_ = checkpoints;
  trial.multi_phase_ = is_true(variable("MULTI_PHASE"));
  const fs::path files = fs::path(directory) / ".nni";
  trial.metrics_ = TRY(MetricFile::open(files / "metrics"));
  double patience = DecisionWait::kPatience;
  if (!variable("ATTUNE_DECISION_SECONDS").empty())
    patience = static_cast<double>(TRY(count_in("ATTUNE_DECISION_SECONDS")));
  trial.decisions_ = DecisionWait(files / "answered", patience);
  return trial;
}

}  // namespace attune
