#pragma once
// What can be tuned, and how long it takes. Read from the parameters of the trial.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace cart_pole {

struct Settings {
  // ---- learning
  double learning_rate = 0.001;
  double discount = 0.99;
  std::size_t hidden = 64;      // units of each of the two layers
  std::size_t batch = 16;       // segments of a training step
  std::size_t per_segment = 4;  // transitions that are drawn of each
  std::size_t lookahead = 8;    // rewards that are summed before the network is asked for the rest
  std::size_t target_every = 100;  // training steps, after which the target network is replaced
  // ---- acting
  double explore_first = 1, explore_last = 0.05;  // share of random actions
  std::size_t explore_steps = 1500;               // training steps from the first to the last
  std::size_t segment = 16;                       // steps of a segment at most
  std::size_t most_steps = 500;                   // of an episode
  // ---- the replay of a single process; the buffer of a coordinator has its own
  std::size_t capacity = 500;  // segments
  double alpha = 0.6, beta = 0.4;
  // ---- length
  std::size_t train_steps = 8000;
  std::size_t steps_per_segment = 4;  // training steps; alone
  std::size_t publish_every = 50;     // training steps
  std::size_t report_every = 500;     // training steps
  std::size_t keep_files = 4000;      // of segments, which the learner leaves on the disk
  std::size_t episodes = 20;          // of an evaluation
  std::uint64_t seed = 1;
  // ---- the coordinator's part
  std::string coordinator;  // address file; empty: alone
  std::string buffer;
  std::string policy;  // file that the learner publishes
  bool evaluate = false;

  std::string folder() const { return policy + ".segments"; }  // of the payload
};

attune::json to_json(const Settings& settings);
// What is not there keeps its default; unknown names do not matter, for a commander has more to
// say. The error names what is wrong.
attune::Result<Settings> parse_settings(const attune::json& parameters);

}  // namespace cart_pole
