#include "examples/cart_pole/settings.h"

#include <cmath>

namespace cart_pole {

using attune::fail;
using attune::json;
using attune::Result;

namespace {

// Every setting with its name; numbers with their range.
template <class S, class Each>
void visit(S& s, Each&& each) {
  each("learning_rate", s.learning_rate, 1e-8, 1.0);
  each("discount", s.discount, 0.0, 1.0);
  each("hidden", s.hidden, 1.0, 4096.0);
  each("batch", s.batch, 1.0, 4096.0);
  each("per_segment", s.per_segment, 1.0, 4096.0);
  each("lookahead", s.lookahead, 1.0, 1000.0);
  each("target_every", s.target_every, 1.0, 1e9);
  each("explore_first", s.explore_first, 0.0, 1.0);
  each("explore_last", s.explore_last, 0.0, 1.0);
  each("explore_steps", s.explore_steps, 1.0, 1e9);
  each("segment", s.segment, 1.0, 1000.0);
  each("most_steps", s.most_steps, 1.0, 1e6);
  each("capacity", s.capacity, 1.0, 1e6);
  each("alpha", s.alpha, 0.0, 1.0);
  each("beta", s.beta, 0.0, 1.0);
  each("train_steps", s.train_steps, 1.0, 1e12);
  each("steps_per_segment", s.steps_per_segment, 1.0, 1e6);
  each("publish_every", s.publish_every, 1.0, 1e9);
  each("report_every", s.report_every, 1.0, 1e9);
  each("keep_files", s.keep_files, 1.0, 1e7);
  each("episodes", s.episodes, 1.0, 1e6);
  each("seed", s.seed, 0.0, 9e15);
  each("coordinator", s.coordinator, 0, 0);
  each("buffer", s.buffer, 0, 0);
  each("policy", s.policy, 0, 0);
  each("evaluate", s.evaluate, 0, 0);
}

Result<void> take(const json& value, std::string& to) {
  if (!value.is_string()) return fail("a text is wanted");
  to = value.get<std::string>();
  return {};
}

Result<void> take(const json& value, bool& to) {
  if (!value.is_boolean()) return fail("true or false is wanted");
  to = value.get<bool>();
  return {};
}

template <class Number>
Result<void> take_number(const json& value, Number& to, double low, double high) {
  const double x = value.is_number() ? value.get<double>() : NAN;
  const bool whole = std::is_floating_point_v<Number> || x == std::floor(x);
  if (!(x >= low && x <= high) || !whole)
    return fail("a number from " + attune::dump_json(low) + " to " + attune::dump_json(high) +
                " is wanted");
  to = static_cast<Number>(x);
  return {};
}

}  // namespace

json to_json(const Settings& settings) {
  json object;
  visit(settings,
        [&](const char* name, const auto& value, double, double) { object[name] = value; });
  return object;
}

Result<Settings> parse_settings(const json& parameters) {
  if (!parameters.is_object()) return fail("the parameters must be an object");
  Settings settings;
  Result<void> outcome;
  visit(settings, [&](const char* name, auto& value, double low, double high) {
    const auto found = parameters.find(name);
    if (!outcome || found == parameters.end()) return;
    Result<void> taken;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string> ||
                  std::is_same_v<std::decay_t<decltype(value)>, bool>) {
      taken = take(*found, value);
    } else {
      taken = take_number(*found, value, low, high);
    }
    if (!taken) outcome = fail(std::string(name) + ": " + taken.error().message);
  });
  if (!outcome) return std::unexpected(outcome.error());
  return settings;
}

}  // namespace cart_pole
