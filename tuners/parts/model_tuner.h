#pragma once
// The base class of tuners that fit a model to the results and maximise its acquisition function.
// They remember the same things about an experiment (SearchRecord), and differ in how they answer.
#include <span>
#include <vector>

#include "base/rng.h"
#include "tuners/parts/search_record.h"
#include "tuners/tuner.h"

namespace attune {

class ModelTuner : public Tuner {
 public:
  bool set_priors(const Space& space) override {
    record_.set_priors(space);
    return true;
  }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  void withdraw(TrialId id) override { record_.withdraw(id); }
  void tell(std::span<const Outcome> outcomes) override { record_.tell(outcomes); }
  void adopt(TrialId id, const Point& point) override { record_.adopt(id, point); }
  void skip_ahead() override {
    rng_ = rng_.fork("skip ahead");
    record_.skip_first();
  }

 protected:
  // kGood: points that the search looks around. kMostPretended: the model knows at most so many
  // running trials, the newest ones, because each is a row of the model.
  static constexpr std::size_t kGood = 10;
  static constexpr std::size_t kMostPretended = 64;

  explicit ModelTuner(Rng rng) : rng_(rng) {}

  virtual Answer answer(TrialId id) = 0;

  Rng rng_;
  SearchRecord record_{Space{}};  // set_space() of the derived class replaces it
};

}  // namespace attune
