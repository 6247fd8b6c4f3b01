#pragma once
// The trials that a tuner has proposed or adopted and that have not ended.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>
#include <variant>
#include <vector>

#include "base/saved_numbers.h"
#include "base/trial.h"
#include "space/saved_point.h"

namespace attune {

// The most running trials that a model knows, if each of them makes a proposal slower. With all of
// them, n proposals in a row would cost n^2, and 10^5 would take hours. docs/algorithms.md says
// what leaving some out changes.
inline constexpr std::size_t kMostModelled = 512;

// The running trials, oldest first. `Encoded` is what the tuner's model sees of a point; it is
// computed only once. A manager may ask for 10^5 trials before the first one ends: with k trials,
// start() and finish() cost O(log k), newest(n) and both_ends(n) O(n).
template <class Encoded = std::monostate>
class RunningTrials {
 public:
  struct Trial {
    TrialId id = 0;
    Point point;
    Encoded encoded;
  };

  // The trial becomes the newest one, even if it is running already.
  void start(TrialId id, Point point, Encoded encoded = {}) {
    finish(id);
    ages_.emplace(id, next_);
    trials_.emplace_hint(trials_.end(), next_++, Trial{id, std::move(point), std::move(encoded)});
  }
  // Ignored if the trial is unknown.
  void finish(TrialId id) {
    const auto age = ages_.find(id);
    if (age == ages_.end()) return;
    trials_.erase(age->second);
    ages_.erase(age);
  }
  void clear() { *this = {}; }

  std::size_t size() const { return trials_.size(); }

  // Views of Trial, valid until a trial starts or ends: of all, or of the newest `most`, oldest
  // first.
  auto all() const { return std::views::values(trials_); }
  auto newest(std::size_t most) const {
    const auto count = static_cast<std::ptrdiff_t>(std::min(most, size()));
    return std::views::values(
        std::ranges::subrange(std::prev(trials_.end(), count), trials_.end()));
  }

  // At most `most` trials, oldest first: all of them, or the oldest half and the newest half. Valid
  // until a trial starts or ends.
  std::vector<const Trial*> both_ends(std::size_t most) const {
    std::vector<const Trial*> some;
    const std::size_t old = size() > most ? most / 2 : 0;
    for (const Trial& trial : std::views::take(all(), old)) some.push_back(&trial);
    for (const Trial& trial : newest(most - old)) some.push_back(&trial);
    return some;
  }

  json save() const {
    json saved = json::array();
    for (const Trial& trial : all()) {
      saved.push_back({{"trial", trial.id}, {"point", save_point(trial.point)}});
    }
    return saved;
  }

  // `state` is what save() returned; encode(point) computes `Encoded`. On an error nothing changes.
  template <class Encode>
  Result<void> load(const Space& space, const json& state, Encode&& encode) {
    RunningTrials loaded;
    for (const json& one : state) {
      Point point = TRY(load_point(space, TRY(value_at(one, "point"))));
      const TrialId id = TRY(integer_at(one, "trial"));
      Encoded encoded = encode(point);
      loaded.start(id, std::move(point), std::move(encoded));
    }
    *this = std::move(loaded);
    return {};
  }
  Result<void> load(const Space& space, const json& state) {
    return load(space, state, [](const Point&) { return Encoded{}; });
  }

 private:
  std::map<std::uint64_t, Trial> trials_;  // by the order in which they started
  std::map<TrialId, std::uint64_t> ages_;  // keys of trials_
  std::uint64_t next_ = 0;
};

}  // namespace attune
