#pragma once
// What is collected: a piece of an episode. Its file is the payload of an item of a buffer.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "examples/cart_pole/network.h"
#include "examples/cart_pole/settings.h"

namespace cart_pole {

struct Segment {
  std::vector<State> states;          // one more than actions
  std::vector<std::uint8_t> actions;  // at least one
  bool fallen = false;                // with the last step; else the episode goes on, or time is up

  std::size_t length() const { return actions.size(); }
  bool operator==(const Segment&) const = default;
};

// JSON, every bit of the numbers kept. The error says what no segment has.
std::string to_text(const Segment& segment);
attune::Result<Segment> parse_segment(std::string_view text);

// Plays episodes one after another. Not thread safe.
class Player {
 public:
  Player(const Settings& settings, const attune::Rng& rng);

  // Up to settings.segment steps more, less when the episode ends. `explore`: the probability of a
  // random action.
  Segment play(Network& policy, double explore);
  // Rewards of the episode so far, the last segment included.
  std::size_t episode_return() const { return steps_; }
  bool ended() const { return ended_; }  // with that segment

 private:
  Settings settings_;
  attune::Rng rng_;
  State state_ = {};
  std::size_t steps_ = 0;
  bool ended_ = true;
};

// The mean return of settings.episodes episodes without random actions.
double evaluate(Network& policy, const Settings& settings, const attune::Rng& rng);

// The probability of a random action after so many training steps: from the first to the last along
// a line.
double exploration(const Settings& settings, std::size_t train_step);

}  // namespace cart_pole
