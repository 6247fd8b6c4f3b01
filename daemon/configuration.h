#pragma once
// One struct with everything that attuned can be told; filled by options.cpp (arguments and
// environment) and experiment.cpp (the manager's experiment parameters). Nothing below daemon/
// reads either.
#include <limits>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/trial.h"
#include "daemon/user_class.h"
#include "daemon/when_exhausted.h"
#include "dispatcher/request_pieces.h"
#include "dispatcher/revision.h"
#include "dispatcher/stopped_trials.h"
#include "journal/file.h"
#include "os/log.h"
#include "protocol/capabilities.h"
#include "protocol/frame.h"
#include "protocol/limits.h"

namespace attune {

struct AlgorithmChoice {
  std::string name = "auto";
  json arguments = json::object();
};

// "resume" in the experiment parameters: what the manager remembers of the conversation.
struct Shared {
  std::uint64_t received = 0;         // answers
  std::uint64_t acknowledged = 0;     // the first so many commands: it no longer keeps them
  std::uint64_t sent = kAnyCommands;  // commands in all
  static constexpr std::uint64_t kAnyCommands = std::numeric_limits<std::uint64_t>::max();
};

struct Configuration {
  AlgorithmChoice tuner;
  std::optional<AlgorithmChoice> assessor;
  std::vector<UserClass> classes;  // that the tuner or the assessor has the name of
  StoppedTrials stopped_trials = StoppedTrials::ignore;  // that the assessor stops
  Context context;
  std::vector<std::string> constraints;         // of the search space
  std::optional<WhenExhausted> when_exhausted;  // nothing: the default
  Capabilities capabilities;
  std::uint64_t fallback_seed = 0;        // for a tuner without a seed of its own
  std::int64_t ask_at_once = kAskAtOnce;  // a resumed experiment keeps what it began with
  std::int64_t revision = kRevision;      // of the answers: the same
  std::vector<json> plugins;              // as open_plugin() takes them
  std::vector<std::string> notes;  // what the user should know of how the parameters were read

  Limits limits;
  int length_digits = 14;  // of a frame
  Framing framing() const {
    return {.length_digits = length_digits, .max_payload = limits.payload};
  }
  int in_fd = 3;
  int out_fd = 4;
  std::string log_file;  // empty: stderr
  LogLevel log_level = LogLevel::info;
  bool resume = false;               // NNI_MODE=resume
  std::string checkpoint_directory;  // NNI_CHECKPOINT_DIRECTORY; empty: nothing is remembered
  std::optional<Shared> shared;      // the manager wants an exact resume
  Durability durability = Durability::each_second;
  std::size_t snapshot_bytes = 1u << 20;  // of the journal, before a snapshot shortens it
  std::string websocket_url;              // instead of the descriptors, unless empty
  std::string listen;                     // the path of a socket instead of both, unless empty
  std::string trial_checkpoints;      // see tuner_arguments() in crew.cpp; empty: no such folder
  bool nni_manager = false;           // --exp_params or --listen, and no capability is known
  bool include_intermediate = false;  // NNI_INCLUDE_INTERMEDIATE_RESULTS
  bool drain = false;                 // Terminate handles what is queued first
};

}  // namespace attune
