#pragma once
// Built-in algorithms as plug-ins that do not keep to their seed: what they answer also depends on
// how many calls the whole program has made. And some calls fail.
#include <memory>
#include <utility>

#include "assessors/assessor.h"
#include "base/rng.h"
#include "plugins/plugin.h"
#include "space/sample.h"

namespace attune {

// Shared by all instances of a test, as the clock would be.
struct Mood {
  std::uint64_t calls = 0;
  int fails_every = 0;  // 0: never
  int calm = 0;         // so many calls do not fail
  bool broken = false;  // all calls fail, whatever the others say

  Result<void> works() const {
    if (broken) return fail("the plug-in is broken");
    return {};
  }
  Result<void> call() {
    TRY(works());
    ++calls;
    const bool may_fail = fails_every > 0 && (calm == 0 || --calm == 0);
    if (may_fail && calls % static_cast<std::uint64_t>(fails_every) == 0) {
      calm = 200;  // it is told again what has happened, and must bear it
      return fail("the plug-in is in a bad mood");
    }
    return {};
  }
};

class MoodyTuner final : public PluginTuner {
 public:
  MoodyTuner(std::unique_ptr<Tuner> tuner, std::shared_ptr<Mood> mood)
      : tuner_(std::move(tuner)), mood_(std::move(mood)) {}

  Result<void> set_space(const Space& space) override {
    TRY(mood_->works());
    space_ = space;
    return tuner_->set_space(space);
  }
  Result<std::vector<Answer>> ask(std::span<const TrialId> ids) override {
    TRY(mood_->call());
    std::vector<Answer> answers = tuner_->ask(ids);
    Rng rng(mood_->calls);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto* proposal = std::get_if<Proposal>(&answers[i]);
      if (!proposal || proposal->resume || rng.index(2) == 0) continue;
      proposal->point = sample(space_, rng);
      tuner_->withdraw(ids[i]);
      tuner_->adopt(ids[i], proposal->point);
    }
    return answers;
  }
  Result<void> withdraw(TrialId id) override {
    tuner_->withdraw(id);
    return mood_->call();
  }
  Result<void> tell(std::span<const Outcome> outcomes) override {
    TRY(mood_->call());
    tuner_->tell(outcomes);
    return {};
  }
  Result<void> adopt(TrialId id, const Point& point) override {
    tuner_->adopt(id, point);
    return mood_->call();
  }
  Result<std::vector<Decision>> on_report(const Report& report) override {
    TRY(mood_->call());
    return tuner_->on_report(report);
  }
  Result<void> skip_ahead() override {
    tuner_->skip_ahead();
    return {};
  }
  Result<json> save() override {
    TRY(mood_->call());
    return tuner_->save();
  }
  Result<void> load(const json& state) override {
    TRY(mood_->works());
    return tuner_->load(state);
  }
  Result<void> restart() override { return {}; }  // set_space() forgets everything

 private:
  std::unique_ptr<Tuner> tuner_;
  std::shared_ptr<Mood> mood_;
  Space space_;
};

// Stops trials at random.
class MoodyAssessor final : public PluginAssessor {
 public:
  explicit MoodyAssessor(std::shared_ptr<Mood> mood) : mood_(std::move(mood)) {}

  Result<Decision> assess(TrialId trial, std::span<const Report>) override {
    TRY(mood_->call());
    const bool stops = Rng(mood_->calls).index(4) == 0;
    return Decision{.trial = trial, .action = stops ? Action::stop : Action::keep_going};
  }
  Result<void> trial_end(TrialId, End) override { return mood_->call(); }
  Result<json> save() override { return json::object(); }
  Result<void> load(const json&) override { return mood_->works(); }
  Result<void> restart() override { return {}; }

 private:
  std::shared_ptr<Mood> mood_;
};

}  // namespace attune
