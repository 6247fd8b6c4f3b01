#pragma once
// Recordings of NNI's dispatcher and (manager/) of its manager (tests/data/transcripts), and what
// is expected of ours for each (tests/transcripts/manifest.json).
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

struct Transcript {
  json exp_params;                 // may be a text: passed as it is, not as base64
  json environment;                // object of texts
  std::string channel;             // recorded over pipe, or a WebSocket: ws (NNI 2.8 to 2.10), ws3
  std::vector<Frame> commands;     // without Terminate
  std::vector<Frame> answers;      // as recorded
  std::optional<std::string> raw;  // bytes written after the commands, as they are
  bool closed = false;             // the manager closed its end instead of sending Terminate
};

struct Expectation {
  std::string name;     // file name without .jsonl
  std::string compare;  // values | structure | points | prefix | own
  std::string reason;
  int exit = 0;
  std::vector<std::string> answers;  // for own: what ours answers, as outline() writes
};

std::vector<Expectation> load_manifest();
Transcript load_transcript(const std::string& name);

// Why `got` is not what the expectation asks for; empty when it is. KillTrialJob comes from the
// other worker: its order among the rest is not compared.
std::string mismatch(const Expectation& expectation, const Transcript& transcript,
                     const std::vector<Frame>& got);

}  // namespace attune
