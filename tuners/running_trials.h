#pragma once
// The trials that a tuner has proposed or adopted and that have not ended.
#include <utility>
#include <variant>
#include <vector>

#include "base/saved_numbers.h"
#include "base/trial.h"
#include "space/saved_point.h"

namespace attune {

// Oldest first. `Encoded`: what the tuner's model sees of a point, so that it is computed once.
template <class Encoded = std::monostate>
class RunningTrials {
 public:
  struct Trial {
    TrialId id = 0;
    Point point;
    Encoded encoded;
  };

  void start(TrialId id, Point point, Encoded encoded = {}) {
    trials_.push_back({id, std::move(point), std::move(encoded)});
  }
  // Does nothing for a trial that it does not know.
  void finish(TrialId id) {
    std::erase_if(trials_, [id](const Trial& trial) { return trial.id == id; });
  }
  void clear() { trials_.clear(); }

  std::size_t size() const { return trials_.size(); }
  auto begin() const { return trials_.begin(); }
  auto end() const { return trials_.end(); }

  json save() const {
    json all = json::array();
    for (const Trial& trial : trials_) {
      all.push_back({{"trial", trial.id}, {"point", save_point(trial.point)}});
    }
    return all;
  }

  // `state` is the saved array, `encode(point)` makes what the model sees. All or nothing.
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
  std::vector<Trial> trials_;
};

}  // namespace attune
