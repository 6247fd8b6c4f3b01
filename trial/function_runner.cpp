#include "trial/function_runner.h"

#include <system_error>

#include "os/atomic_file.h"
#include "trial/checkpoint_dirs.h"

namespace attune {
namespace fs = std::filesystem;
namespace {

// An id for records. Nothing is computed from it, so the kernel's random numbers do no harm.
std::string random_id() {
  std::string id = read_file("/proc/sys/kernel/random/uuid").value_or("unknown");
  std::erase_if(id, [](char c) { return c == '-' || c == '\n'; });
  return id;
}

}  // namespace

FunctionRunner::FunctionRunner(TrialFunction function, FunctionRunnerOptions options)
    : function_(std::move(function)),
      options_(std::move(options)),
      place_(ComputingPlace::here()),
      experiment_id_(options_.experiment_id.empty() ? random_id() : options_.experiment_id) {
  if (!function_.can_checkpoint()) {
    options_.log.info(
        "Function checkpointing is disabled: the function takes no attune::CheckpointDir to go on "
        "from, trial={}",
        options_.trial_id);
  }
  lock_step_ = std::make_shared<LockStep>(
      FunctionIdentity{options_.trial_id, options_.trial_name, options_.log_directory},
      options_.clock);
}

FunctionRunner::~FunctionRunner() {
  if (const auto stopped = stop(); !stopped) {
    options_.log.error("{}, trial={}", stopped.error().message, options_.trial_id);
  }
}

Result<void> FunctionRunner::start() {
  CheckpointDir from = lock_step_->checkpoint();
  if (from && checkpoint_dirs::is_null(*from)) from.reset();
  // Copies, and no reference to this object: the function may be left behind and outlive it.
  try {
    thread_ = std::thread([shared = lock_step_, function = function_, config = options_.config,
                           from = std::move(from)] { shared->run(function, config, from); });
  } catch (const std::system_error& error) {
    return fail("cannot start a thread for the function: " + error.code().message());
  }
  started_ = true;
  return {};
}

Result<json> FunctionRunner::step() {
  if (stopped_) return fail("the runner was stopped; reset() begins anew");
  if (started_) {
    lock_step_->go_on();
  } else {
    TRY(start());
  }
  std::optional<json> result = lock_step_->wait();
  if (!result) {
    if (const auto error = lock_step_->take_error()) {
      return fail("the trial threw an exception: " + *error);
    }
    return fail(
        "the function ran until completion without reporting results or raising an exception");
  }
  if (result->contains(LockStep::kDuplicate)) {
    json repeated = last_result_;
    repeated[LockStep::kDuplicate] = true;
    repeated.erase("should_checkpoint");  // true only for a checkpoint that save() has not seen
    result = std::move(repeated);
  }
  if (lock_step_->has_new_checkpoint()) (*result)["should_checkpoint"] = true;
  last_result_ = *result;
  return *std::move(result);
}

Result<json> FunctionRunner::train() {
  const double begin = options_.clock->now();
  json result = TRY(step());
  if (result.contains(LockStep::kDuplicate)) return result;
  progress_.complete(result, options_.clock->now() - begin, options_.clock->wall());
  result["experiment_id"] = experiment_id_;
  result["pid"] = place_.pid;
  result["hostname"] = place_.hostname;
  result["node_ip"] = place_.node_ip;
  result["config"] = options_.config;
  return result;
}

Result<fs::path> FunctionRunner::save() {
  if (!function_.can_checkpoint()) {
    options_.log.warning(
        "Function checkpointing is disabled: what is saved now, trial={}, can only begin anew",
        options_.trial_id);
  }
  json metadata = progress_.state();
  metadata["experiment_id"] = experiment_id_;
  fs::path folder;
  auto checkpoint = lock_step_->checkpoint();
  if (checkpoint && !checkpoint_dirs::is_null(*checkpoint)) {
    folder = *std::move(checkpoint);
    // stop() removes the temporary folder, so what is saved must be a permanent copy.
    if (folder == temporary_) {
      folder = TRY(
          checkpoint_dirs::make_permanent(folder, options_.log_directory, progress_.iteration()));
    }
  } else {
    folder = TRY(checkpoint_dirs::make_null(options_.log_directory));
    for (const char* name : {"iteration", "timesteps_total", "episodes_total"}) metadata[name] = 0;
  }
  TRY(checkpoint_dirs::write_metadata(folder, metadata));
  lock_step_->checkpoint_seen();
  return folder;
}

Result<std::string> FunctionRunner::save_to_object() { return checkpoint_dirs::pack(TRY(save())); }

Result<void> FunctionRunner::restore(const fs::path& path) {
  if (started_ || stopped_) {
    return fail("a checkpoint is restored before the first train(), or after reset()");
  }
  const fs::path folder = TRY(checkpoint_dirs::find(path));
  const json metadata = TRY(checkpoint_dirs::read_metadata(folder));
  if (const auto restored = progress_.restore(metadata); !restored) {
    return fail(folder.string() + ": " + restored.error().message);
  }
  const auto id = metadata.find("experiment_id");
  if (id != metadata.end() && id->is_string()) experiment_id_ = id->get<std::string>();
  lock_step_->restore_checkpoint(folder);
  if (temporary_ != folder) remove_temporary();
  return {};
}

Result<void> FunctionRunner::restore_from_object(std::string_view bytes) {
  const fs::path folder = TRY(checkpoint_dirs::unpack(bytes, options_.log_directory));
  const auto restored = restore(folder);
  if (restored) {
    temporary_ = lock_step_->checkpoint();  // the path as save() will see it
  } else {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  return restored;
}

void FunctionRunner::remove_temporary() {
  if (!temporary_) return;
  std::error_code error;
  fs::remove_all(*temporary_, error);
  if (error) options_.log.warning("cannot remove {}: {}", temporary_->string(), error.message());
  temporary_.reset();
}

Result<void> FunctionRunner::end_function() {
  if (!thread_.joinable()) return {};
  if (lock_step_->end(options_.patience)) {
    thread_.join();
    return {};
  }
  thread_.detach();
  return fail("trial " + options_.trial_id +
              ": the function neither reports nor returns, and is left behind in its thread");
}

Result<void> FunctionRunner::stop() {
  if (stopped_) return {};
  stopped_ = true;
  Result<void> ended = end_function();
  if (lock_step_->has_result()) {
    options_.log.warning("stopped with a result that nobody has asked for, trial={}",
                         options_.trial_id);
  }
  if (auto error = lock_step_->take_error(); error && ended) {
    ended = fail("the trial threw an exception that no train() has told: " + *error);
  }
  remove_temporary();
  return ended;
}

Result<void> FunctionRunner::reset(json config) {
  if (auto ended = end_function(); !ended) {
    stopped_ = true;
    remove_temporary();
    return ended;
  }
  remove_temporary();
  options_.config = std::move(config);
  lock_step_ = std::make_shared<LockStep>(
      FunctionIdentity{options_.trial_id, options_.trial_name, options_.log_directory},
      options_.clock);
  progress_ = {};
  last_result_ = json::object();
  started_ = stopped_ = false;
  return {};
}

}  // namespace attune
