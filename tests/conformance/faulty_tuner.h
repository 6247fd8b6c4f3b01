#pragma once
// A tuner that draws at random, with one fault: each check of the suite must see its own.
#include <stdexcept>

#include "tuners/registry.h"

namespace attune {

enum class TunerFault {
  none,
  leaves_the_space,
  comes_back_from_exhausted,
  ignores_the_seed,
  forgets_when_saved,
  answers_too_few_of_many,
  fails_after_many_requests,
  fails_with_many_running,
  keeps_the_first_space,
  changes_when_it_declines,
  loads_anything,
  begins_outside_the_space,
};

class FaultyTuner : public Tuner {
 public:
  FaultyTuner(std::unique_ptr<Tuner> tuner, TunerFault fault)
      : tuner_(std::move(tuner)), fault_(fault) {}

  Result<void> set_space(const Space& space) override {
    if (space.params.size() > 20) {
      if (fault_ == TunerFault::changes_when_it_declines) tuner_->skip_ahead();
      return fail("at most 20 parameters are possible");
    }
    if (fault_ == TunerFault::keeps_the_first_space && has_space_) return {};
    has_space_ = true;
    return tuner_->set_space(space);
  }

  bool learns_from_earlier() const override {
    return fault_ == TunerFault::begins_outside_the_space;
  }
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks) override {
    if (!learns_from_earlier()) return {};
    std::vector<Point> starts = {tasks.back().points.back()};
    starts.front().values.assign(starts.front().values.size(), Point::kInactive);
    return starts;
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    in_a_row_ += ids.size();
    if (fault_ == TunerFault::fails_after_many_requests && in_a_row_ > 400) {
      throw std::runtime_error("out of \x1b numbers");
    }
    std::vector<Answer> answers = tuner_->ask(ids);
    if (fault_ == TunerFault::answers_too_few_of_many && ids.size() > 50) answers.pop_back();
    if (answers.empty()) return answers;
    if (fault_ == TunerFault::comes_back_from_exhausted && ids.front() == 9) {
      answers.front() = Exhausted{};
    }
    auto* proposal = std::get_if<Proposal>(&answers.front());
    if (fault_ == TunerFault::leaves_the_space && proposal && !proposal->point.values.empty()) {
      proposal->point.values.front() = -1e308;
    }
    return answers;
  }

  void tell(std::span<const Outcome> outcomes) override {
    in_a_row_ = 0;
    tuner_->tell(outcomes);
  }
  void adopt(TrialId id, const Point& point) override {
    if (fault_ == TunerFault::fails_with_many_running && ++adopted_ > 1000) {
      throw std::runtime_error("too many trials");
    }
    tuner_->adopt(id, point);
  }
  void skip_ahead() override { tuner_->skip_ahead(); }

  json save() const override { return tuner_->save(); }
  Result<void> load(const json& state) override {
    if (fault_ == TunerFault::loads_anything && !state.is_object()) return {};
    TRY(tuner_->load(state));
    if (fault_ == TunerFault::forgets_when_saved) tuner_->skip_ahead();
    return {};
  }

 private:
  std::unique_ptr<Tuner> tuner_;
  TunerFault fault_;
  bool has_space_ = false;
  std::size_t in_a_row_ = 0;
  int adopted_ = 0;
};

inline TunerEntry faulty_tuner(TunerFault fault) {
  const TunerRegistry registry = builtin_tuners();
  TunerEntry entry = **registry.find("Random", "tuner");
  entry.name = "Faulty";
  entry.aliases.clear();
  // Each instance draws other numbers if the seed is ignored.
  const auto instances = std::make_shared<int>(0);
  entry.make = [make = entry.make, fault, instances](const json& args, const TunerContext& context,
                                                     Rng rng) -> Result<std::unique_ptr<Tuner>> {
    if (fault == TunerFault::ignores_the_seed) rng = rng.fork(std::to_string(++*instances));
    return std::make_unique<FaultyTuner>(TRY(make(args, context, rng)), fault);
  };
  return entry;
}

}  // namespace attune
