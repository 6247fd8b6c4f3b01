#include "space/dedup.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace attune {
namespace {

constexpr double kInactiveKey = std::numeric_limits<double>::infinity();  // never a value

bool can_repeat(const Space& space) {
  return std::ranges::none_of(space.params, [](const Param& param) {
    return !param.condition && is_continuous(param.domain);
  });
}

}  // namespace

SeenPoints::SeenPoints(const Space& space) {
  for (const Param& param : space.params) {
    const auto* choice = std::get_if<Choice>(&param.domain);
    canonical_.push_back(choice ? choice->canonical : std::vector<std::size_t>{});
  }
}

SeenPoints::Key SeenPoints::key(const Point& point) const {
  ATTUNE_CHECK(point.values.size() == canonical_.size());
  Key key = point.values;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (!point.active(i)) {
      key[i] = kInactiveKey;
    } else if (!canonical_[i].empty()) {
      key[i] = static_cast<double>(canonical_[i].at(static_cast<std::size_t>(key[i])));
    }
  }
  return key;
}

bool SeenPoints::insert(const Point& point) { return keys_.insert(key(point)).second; }

bool SeenPoints::contains(const Point& point) const { return keys_.contains(key(point)); }

json SeenPoints::save() const {
  json points = json::array();
  for (const Key& key : keys_) {
    json values = json::array();
    for (const double value : key) {
      values.push_back(value == kInactiveKey ? json() : json(value));
    }
    points.push_back(std::move(values));
  }
  return points;
}

Result<void> SeenPoints::load(const json& state) {
  const auto damaged = [] { return fail("seen points: the saved points do not fit the space"); };
  if (!state.is_array()) return damaged();
  std::set<Key> keys;
  for (const json& values : state) {
    if (!values.is_array() || values.size() != canonical_.size()) return damaged();
    Key key;
    for (const json& value : values) {
      if (!value.is_null() && !value.is_number()) return damaged();
      key.push_back(value.is_null() ? kInactiveKey : value.get<double>());
    }
    keys.insert(std::move(key));
  }
  keys_ = std::move(keys);
  return {};
}

Deduplicator::Deduplicator(const Space& space, Remember remember)
    : replaces_(can_repeat(space)),
      remembers_(replaces_ || remember == Remember::always),
      seen_(space),
      grid_(space) {}

std::optional<Point> Deduplicator::operator()(Point point) {
  if (ended_) return std::nullopt;
  if (!remembers_ || seen_.insert(point) || !replaces_) return point;
  while (auto next = grid_.next()) {
    if (seen_.insert(*next)) return next;
  }
  ended_ = true;
  return std::nullopt;
}

void Deduplicator::add(const Point& point) {
  if (remembers_) seen_.insert(point);
}

json Deduplicator::save() const {
  return {{"seen", seen_.save()}, {"grid", grid_.save()}, {"ended", ended_}};
}

Result<void> Deduplicator::load(const json& state) {
  if (!state.is_object() || !state.contains("seen") || !state.contains("grid")) {
    return fail("deduplication: the saved state must be an object with seen and grid");
  }
  SeenPoints seen = seen_;
  TRY(seen.load(state["seen"]));
  const json ended = state.value("ended", json(false));  // absent before there was such a field
  if (!ended.is_boolean()) return fail("deduplication: ended must be true or false");
  TRY(grid_.load(state["grid"]));
  ended_ = ended;
  seen_ = std::move(seen);
  return {};
}

}  // namespace attune
