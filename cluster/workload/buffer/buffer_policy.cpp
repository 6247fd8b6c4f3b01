#include "cluster/workload/buffer/buffer_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace attune {
namespace {

using enum BufferKind;

constexpr std::array kKinds = {std::pair{fifo, "fifo"}, std::pair{uniform, "uniform"},
                               std::pair{prioritised, "prioritised"}};
constexpr double kMostItems = 1e7, kMostCount = 1e15;

std::unexpected<Error> wrong(std::string_view key, std::string_view wanted) {
  return fail_at(std::string(key), fmt::format("{} is wanted", wanted));
}

// Takes settings out of an object one after another; those that are left over are unknown.
class Settings {
 public:
  explicit Settings(json object) : object_(std::move(object)) {}

  bool has(const char* key) const { return object_.contains(key); }
  json take(const char* key) {
    json value = std::move(object_[key]);
    object_.erase(key);
    return value;
  }

  Result<double> number(const char* key, double low, double high, double fallback) {
    return read(key, low, high, fallback, false);
  }
  Result<double> whole(const char* key, double low, double high, double fallback) {
    return read(key, low, high, fallback, true);
  }
  Result<std::optional<std::int64_t>> optional_whole(const char* key, double low, double high) {
    std::optional<std::int64_t> none;
    if (!has(key)) return none;
    return static_cast<std::int64_t>(TRY(whole(key, low, high, low)));
  }
  Result<void> nothing_left(std::string_view whose) const {
    if (object_.empty()) return {};
    return fail_at(object_.begin().key(), fmt::format("{} has no such setting", whose));
  }

 private:
  Result<double> read(const char* key, double low, double high, double fallback, bool whole) {
    if (!has(key)) return fallback;
    const json value = take(key);
    const double x = value.is_number() ? value.get<double>() : low - 1;
    if (x >= low && x <= high && (!whole || x == std::floor(x))) return x;
    return wrong(key, fmt::format("a{} number from {} to {}", whole ? " whole" : "", low, high));
  }

  json object_;
};

Result<RateLimits> parse_rate_limit(const json& object) {
  if (!object.is_object()) return wrong("rate_limit", "an object with min, max or window");
  Settings settings(object);
  RateLimits limits;
  limits.min = TRY(settings.number("min", 0, kMostCount, limits.min));
  limits.max = TRY(settings.number("max", 0, kMostCount, limits.max));
  limits.window = TRY(settings.number("window", 1, kMostCount, limits.window));
  TRY(settings.nothing_left("rate_limit"));
  if (limits.max <= 0) return wrong("max", "more than 0 samples per push");
  if (limits.min > limits.max) return wrong("rate_limit", "a min that is not above max");
  return limits;
}

Result<BufferKind> parse_kind(Settings& settings) {
  if (settings.has("policy")) {
    const json value = settings.take("policy");
    for (const auto& [kind, name] : kKinds) {
      if (value == name) return kind;
    }
  }
  return wrong("policy", "fifo, uniform or prioritised");
}

// Refuses settings with which somebody would wait for ever (buffer_policy.h).
Result<void> check_together(const BufferPolicy& policy) {
  const auto need = [&](const char* key, std::size_t items) -> Result<void> {
    if (items <= policy.capacity) return {};
    return fail_at(key, fmt::format("{} items would have to be there, but capacity is {}", items,
                                    policy.capacity));
  };
  TRY(need("batch", policy.batch));
  TRY(need("min_items", policy.min_items));
  TRY(need("min_ratio", policy.needed(policy.batch)));
  const RateLimits& rate = policy.rate_limit;
  if (policy.kind == fifo && std::isfinite(rate.max))
    return fail_at("rate_limit", "max is of no use with fifo, which gives out each item once");
  // Twice the batch: the decayed count of pushes comes near to the window only after many of them.
  if (2 * static_cast<double>(policy.batch) > rate.max * rate.window)
    return fail_at("rate_limit",
                   fmt::format("a batch of {} needs a window of at least {} pushes", policy.batch,
                               2 * static_cast<double>(policy.batch) / rate.max));
  if (rate.min > static_cast<double>(policy.uses()))
    return fail_at("rate_limit", fmt::format("min is {}, but items leave after {} uses", rate.min,
                                             policy.uses()));
  return {};
}

}  // namespace

std::string_view to_text(BufferKind kind) {
  return std::ranges::find(kKinds, kind, &decltype(kKinds)::value_type::first)->second;
}

std::size_t BufferPolicy::needed(std::size_t n) const {
  const auto by_ratio = static_cast<std::size_t>(std::ceil(min_ratio * static_cast<double>(n)));
  return std::max({min_items, by_ratio, repeats() ? std::size_t{1} : n});
}

Result<BufferPolicy> parse_buffer_policy(const json& object) {
  if (!object.is_object()) return fail("the settings of a buffer must be an object");
  Settings settings(object);
  BufferPolicy policy;
  policy.kind = TRY(parse_kind(settings));
  const auto size = [](double x) { return static_cast<std::size_t>(x); };
  policy.capacity = size(TRY(settings.whole("capacity", 1, kMostItems, 10'000)));
  policy.min_ratio = TRY(settings.number("min_ratio", 0, kMostItems, 1));
  const double most = static_cast<double>(policy.capacity) / std::max(policy.min_ratio, 1.0);
  const double batch = std::clamp(std::floor(most), 1.0, 256.0);
  policy.batch = size(TRY(settings.whole("batch", 1, kMostItems, batch)));
  policy.min_items = size(TRY(settings.whole("min_items", 0, kMostItems, 1)));
  policy.max_staleness = TRY(settings.optional_whole("max_staleness", 0, kMostCount));
  if (settings.has("rate_limit"))
    policy.rate_limit = TRY(parse_rate_limit(settings.take("rate_limit")));
  if (policy.kind != fifo) policy.max_use = TRY(settings.optional_whole("max_use", 1, 1e9));
  if (policy.kind == uniform && settings.has("replace")) {
    const json replace = settings.take("replace");
    if (!replace.is_boolean()) return wrong("replace", "true or false");
    policy.replace = replace.get<bool>();
  }
  if (policy.kind == prioritised) {
    policy.alpha = TRY(settings.number("alpha", 0, 1, policy.alpha));
    policy.beta = TRY(settings.number("beta", 0, 1, policy.beta));
    policy.anneal =
        static_cast<std::int64_t>(TRY(settings.whole("anneal", 1, kMostCount, 100'000)));
  }
  TRY(settings.nothing_left(fmt::format("a {} buffer", to_text(policy.kind))));
  TRY(check_together(policy));
  return policy;
}

json to_json(const BufferPolicy& policy) {
  json object = {{"policy", to_text(policy.kind)},
                 {"capacity", policy.capacity},
                 {"batch", policy.batch},
                 {"min_items", policy.min_items},
                 {"min_ratio", policy.min_ratio}};
  if (policy.replace) object["replace"] = true;
  if (policy.max_use) object["max_use"] = *policy.max_use;
  if (policy.max_staleness) object["max_staleness"] = *policy.max_staleness;
  json rate = json::object();
  if (policy.rate_limit.min > 0) rate["min"] = policy.rate_limit.min;
  if (std::isfinite(policy.rate_limit.max)) rate["max"] = policy.rate_limit.max;
  if (std::isfinite(policy.rate_limit.window)) rate["window"] = policy.rate_limit.window;
  if (!rate.empty()) object["rate_limit"] = rate;
  if (policy.kind == prioritised) {
    object["alpha"] = policy.alpha;
    object["beta"] = policy.beta;
    object["anneal"] = policy.anneal;
  }
  return object;
}

}  // namespace attune
