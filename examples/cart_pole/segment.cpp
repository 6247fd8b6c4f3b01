#include "examples/cart_pole/segment.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/saved_numbers.h"

namespace cart_pole {

using attune::fail;
using attune::json;
using attune::Result;

std::string to_text(const Segment& segment) {
  std::vector<double> numbers;
  for (const State& state : segment.states)
    numbers.insert(numbers.end(), state.begin(), state.end());
  return attune::dump_json({{"states", attune::save_numbers(numbers)},
                            {"actions", segment.actions},
                            {"fallen", segment.fallen}});
}

Result<Segment> parse_segment(std::string_view text) {
  const json object = TRY(attune::parse_json(text));
  const std::vector<double> numbers = TRY(attune::numbers_at(object, "states"));
  const json actions = TRY(attune::array_at(object, "actions"));
  const json fallen = TRY(attune::value_at(object, "fallen"));
  Segment segment;
  constexpr std::size_t kNumbers = std::tuple_size_v<State>;
  if (actions.empty() || numbers.size() != (actions.size() + 1) * kNumbers)
    return fail("states: one more than actions is wanted");
  if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
    return fail("states: finite numbers are wanted");
  for (std::size_t i = 0; i < numbers.size(); i += kNumbers) {
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i), kNumbers,
                segment.states.emplace_back().begin());
  }
  for (const json& action : actions) {
    if (action != 0 && action != 1) return fail("actions: 0 or 1 is wanted");
    segment.actions.push_back(action.get<std::uint8_t>());
  }
  if (!fallen.is_boolean()) return fail("fallen: true or false is wanted");
  segment.fallen = fallen.get<bool>();
  return segment;
}

Player::Player(const Settings& settings, const attune::Rng& rng) : settings_(settings), rng_(rng) {}

Segment Player::play(Network& policy, double explore) {
  if (std::exchange(ended_, false)) {
    state_ = first_state(rng_);
    steps_ = 0;
  }
  Segment segment;
  segment.states.push_back(state_);
  while (!ended_ && segment.length() < settings_.segment) {
    const std::size_t action =
        rng_.uniform() < explore ? rng_.index(kActions) : policy.best_action(state_);
    state_ = step(state_, action);
    segment.actions.push_back(static_cast<std::uint8_t>(action));
    segment.states.push_back(state_);
    segment.fallen = has_fallen(state_);
    ++steps_;
    ended_ = segment.fallen || steps_ >= settings_.most_steps;
  }
  return segment;
}

double evaluate(Network& policy, const Settings& settings, const attune::Rng& rng) {
  Settings whole = settings;
  whole.segment = settings.most_steps;
  Player player(whole, rng);
  double sum = 0;
  for (std::size_t i = 0; i < settings.episodes; ++i)
    sum += static_cast<double>(player.play(policy, 0).length());
  return sum / static_cast<double>(settings.episodes);
}

double exploration(const Settings& settings, std::size_t train_step) {
  const double part =
      std::min(1.0, static_cast<double>(train_step) / static_cast<double>(settings.explore_steps));
  return settings.explore_first + part * (settings.explore_last - settings.explore_first);
}

}  // namespace cart_pole
