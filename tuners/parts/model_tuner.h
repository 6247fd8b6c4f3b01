#pragma once
// The common part of the tuners that fit a model to the results and search its acquisition
// function: they remember the same things of an experiment, and differ in how they answer.
#include <span>
#include <vector>

#include "base/rng.h"
#include "tuners/parts/search_record.h"
#include "tuners/tuner.h"

namespace attune {

class ModelTuner : public Tuner {
 public:
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  void withdraw(TrialId id) override { record_.withdraw(id); }
  void tell(std::span<const Outcome> outcomes) override { record_.tell(outcomes); }
  void adopt(TrialId id, const Point& point) override { record_.adopt(id, point); }
  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }

 protected:
  // Good points that the search looks around, and running trials that the model knows of: the
  // newest ones. Each pretended trial is a row of the model.
  static constexpr std::size_t kGood = 10;
  static constexpr std::size_t kMostPretended = 64;

  explicit ModelTuner(Rng rng) : rng_(rng) {}

  virtual Answer answer(TrialId id) = 0;

  Rng rng_;
  SearchRecord record_{Space{}};  // set_space() of the derived class makes another one
};

}  // namespace attune
