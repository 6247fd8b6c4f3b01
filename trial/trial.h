#pragma once
// What a program that is tuned links. Under a manager (attune's local backend, NNI's local platform
// with its file protocol) it reads the parameters that are to be tried and reports how good they
// are; without one the same program runs alone, with its own defaults.
//
//   auto trial = attune::Trial::from_environment({.defaults = {{"lr", 0.1}}});
//   const auto parameters = trial->next_parameters();
//   for (...) trial->report(loss);
//   trial->final(loss);
//
// A program makes one. One thread at a time may use it.
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "trial/decision_wait.h"
#include "trial/metric_file.h"

namespace attune {

struct TrialOptions {
  // An object: the parameters that the manager's do not name, and all of them without a manager.
  json defaults = json::object();

  // The rest is for a run without a manager; under one it does not count.
  // A JSON object, whose members replace those of the defaults; empty: none.
  std::filesystem::path parameters_file = {};
  // Where checkpoints are kept. Made when it is missing; empty: nowhere.
  std::filesystem::path checkpoint_dir = {};
  // Where reports are printed; nullptr: standard output.
  std::ostream* output = nullptr;
};

class Trial {
 public:
  // The trial is alone if NNI_PLATFORM is unset, empty, "standalone" or "unittest". It is under a
  // manager if that is "local". Then the manager sets NNI_SYS_DIR, the folder of the trial, and
  // (all optional) NNI_TRIAL_JOB_ID, NNI_TRIAL_SEQ_ID, NNI_OUTPUT_DIR, ATTUNE_CHECKPOINT_DIR,
  // ATTUNE_ATTEMPT, ATTUNE_TASK_KEY, MULTI_PHASE. The user may set ATTUNE_DECISION_SECONDS.
  //
  // Errors: NNI_SYS_DIR is missing; the metrics file cannot be opened; a variable that must be a
  // number is none; the defaults are no object; the parameters file cannot be read; the manager
  // speaks HTTP or reads standard output (NNI_TRIAL_COMMAND_CHANNEL, REUSE_MODE, any other
  // NNI_PLATFORM), which this library does not support.
  static Result<Trial> from_environment(const TrialOptions& options = {});

  bool stand_alone() const { return system_directory_.empty(); }
  const std::string& id() const { return id_; }        // "STANDALONE" without a manager
  std::int64_t sequence() const { return sequence_; }  // of the trial in its experiment, from 0
  std::int64_t attempt() const { return attempt_; }    // counts the starts of this trial, from 0
  // The key by which a coordinator recognises the program of this attempt; empty: this is no task
  // of a coordinator.
  const std::string& task_key() const { return task_key_; }
  const std::filesystem::path& output_directory() const { return output_directory_; }

  // The parameters to try, an object: the manager's, over the defaults. A member of the manager's
  // replaces a default as a whole, also an object. The first call reads parameter.cfg. A later call
  // gives nothing, for there are no more, unless MULTI_PHASE is "true": then it asks the manager,
  // and waits for as long as that takes. Alone: the defaults, then nothing.
  Result<std::optional<json>> next_parameters();

  // An intermediate result: a number, or an object, whose "default" a manager compares. NaN and
  // infinities are told as they are. After an error nothing was reported: the call came before the
  // first next_parameters() or after final(), `metrics` is neither, it is too large
  // (MetricFile::kMaxRecord), or the disk refuses.
  // With `decisions: in-step` it returns when the manager has decided that the trial goes on, see
  // DecisionWait. A trial that is paused or stopped because of this report gets SIGTERM meanwhile.
  Result<void> report(const json& metrics);

  // The result for these parameters. A second one, or a report after it, is an error (NNI's library
  // sends it, and its manager keeps the last). Other errors as in report().
  Result<void> final(const json& metrics);

  // The folder for checkpoints. The files in it are there again when the trial continues after a
  // pause or a lost machine. Nothing: nobody keeps checkpoints (NNI's manager, or alone without a
  // folder).
  const std::optional<std::filesystem::path>& checkpoint_dir() const { return checkpoint_dir_; }

  // A file of the checkpoint folder, written whole or not at all, also when the machine fails in
  // between. Without a folder save() does nothing, so that a program need not ask.
  // `name`: a file name, not a path; it does not begin with '.' nor end in ".tmp".
  Result<void> save(std::string_view name, std::string_view bytes);
  // Nothing: it was never saved.
  Result<std::optional<std::string>> restore(std::string_view name) const;

 private:
  Trial() = default;

  static Result<Trial> alone(const TrialOptions& options);
  static Result<Trial> managed(std::string_view platform);
  Result<void> send(std::string_view type, std::int64_t sequence, const json& metrics);
  Result<void> request(std::int64_t index);

  std::string id_ = "STANDALONE";
  std::int64_t sequence_ = 0, attempt_ = 0;
  std::string task_key_;
  std::filesystem::path output_directory_;
  std::optional<std::filesystem::path> checkpoint_dir_;

  std::filesystem::path system_directory_;  // empty: alone
  bool multi_phase_ = false;
  MetricFile metrics_;
  DecisionWait decisions_;
  json defaults_;
  std::ostream* output_ = nullptr;  // alone

  std::int64_t next_index_ = 0;  // of next_parameters()
  std::int64_t reports_ = 0;  // their sequence goes on from one configuration to the next, as NNI's
  json parameter_id_;
  bool open_ = false;  // there are parameters, and no final result for them yet
};

}  // namespace attune
