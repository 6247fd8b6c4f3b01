#include "study/core.h"

#include <functional>

#include "study/replay.h"
#include "tests/study/study_fixture.h"

namespace attune::core_test {

using namespace attune::test;

// Proposes 1, 2, 3, ... and decides what a rule says; goes on with the trials that it paused.
class Scripted final : public Tuner {
 public:
  Result<void> set_space(const Space&) override { return {}; }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId) -> Answer {
      if (resume_) return resumed();
      if (waits_) return NotYet{};
      return Proposal{.point = {{next_++}}};
    });
  }
  void tell(std::span<const Outcome>) override { waits_ = false; }
  // 8: stop trial 0. 9: pause the reporter, and go on with it. 7: propose nothing before a result.
  std::vector<Decision> on_report(const Report& report) override {
    const double value = report.metrics[0].second;
    if (value == 7) waits_ = true;
    if (value == 8) return {{0, Action::stop, "trial 0 is hopeless"}};
    if (value != 9) return {};
    resume_ = report.trial;
    return {{report.trial, Action::pause, "others first"}};
  }
  json save() const override { return {}; }
  Result<void> load(const json&) override { return {}; }

 private:
  Answer resumed() {
    const TrialId trial = *std::exchange(resume_, std::nullopt);
    return Proposal{.point = {{100}}, .budget = 4, .resume = trial};
  }

  double next_ = 1;
  bool waits_ = false;
  std::optional<TrialId> resume_;
};

TunerRegistry scripted() {
  TunerRegistry registry;
  registry.add({.name = "Scripted",
                .aliases = {},
                .summary = "",
                .arguments = {},
                .wants_reports = true,
                .make = [](const json&, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
                  return std::make_unique<Scripted>();
                }});
  return registry;
}

// Stops a trial whose reports sum up to 20.
class Summing final : public Assessor {
 public:
  Decision assess(TrialId trial, std::span<const Report> reports) override {
    double sum = 0;
    for (const Report& report : reports) sum += report.metrics[0].second;
    return {trial, sum < 20 ? Action::keep_going : Action::stop, "the sum is " + dump_json(sum)};
  }
  void trial_end(TrialId, End) override {}
  json save() const override { return {}; }
  Result<void> load(const json&) override { return {}; }
};

AssessorRegistry summing() {
  AssessorRegistry registry;
  registry.add({.name = "Summing",
                .aliases = {},
                .summary = "",
                .arguments = {},
                .make = [](const json&, const Context&, Rng) -> Result<std::unique_ptr<Assessor>> {
                  return std::make_unique<Summing>();
                }});
  return registry;
}

std::unique_ptr<StudyCore> make(std::optional<int> max_trials = std::nullopt) {
  return must(StudyCore::make(SpaceBuilder().uniform("x", 0, 1000).build(),
                              {.tuner = {.name = "Scripted"}, .max_trials = max_trials}, scripted(),
                              builtin_assessors()));
}

TEST_CASE("core: a tuner stops another trial than the reporter") {
  auto core = make();
  must(core->ask(2, -1));
  CHECK_FALSE(must(core->report(1, 8, std::nullopt, -1)).stop);
  const Verdict verdict = must(core->report(0, 5, std::nullopt, -1));
  CHECK(verdict.stop);
  CHECK(verdict.reason == "trial 0 is hopeless");
  // Run again, it hears the same at the same step, and not before.
  CHECK(core->known_report(0, 0, 5)->stop);
  CHECK_FALSE(core->known_report(1, 0, 8)->stop);
  CHECK_FALSE(core->known_report(1, 0, 8.5));
  must(core->stop(0, -1));
  CHECK(core->record(0)->state == TrialState::stopped);
  CHECK(core->record(0)->value == 5.0);
}

TEST_CASE("core: a tuner and an assessor both get each report, and the first stop counts") {
  auto core = must(StudyCore::make(SpaceBuilder().uniform("x", 0, 1000).build(),
                                   {.tuner = {.name = "Scripted"}, .assessor = {{"Summing"}}},
                                   scripted(), summing()));
  must(core->ask(3, -1));
  CHECK_FALSE(must(core->report(0, 12, std::nullopt, -1)).stop);
  // The tuner pauses it; the assessor would stop it.
  CHECK(must(core->report(0, 9, std::nullopt, -1)).reason == "others first");
  CHECK_FALSE(must(core->report(1, 12, std::nullopt, -1)).stop);
  CHECK(must(core->report(1, 10, std::nullopt, -1)).reason == "the sum is 22.0");
  // The assessor gets also the reports at which the tuner decides about another trial.
  CHECK_FALSE(must(core->report(2, 8, std::nullopt, -1)).stop);
  CHECK(must(core->report(2, 12, std::nullopt, -1)).reason == "the sum is 20.0");
}

TEST_CASE("core: a paused trial is handed out again, from its beginning") {
  auto core = make();
  must(core->ask(1, -1));
  must(core->report(0, 3, std::nullopt, -1));
  REQUIRE(must(core->report(0, 9, std::nullopt, -1)).stop);
  must(core->stop(0, -1));
  CHECK(core->record(0)->state == TrialState::paused);
  CHECK(core->running().empty());
  const Asked asked = must(core->ask(1, -1));
  REQUIRE(asked.trials.size() == 1);
  CHECK(asked.trials[0].id == 0);
  CHECK(asked.trials[0].parameters == json{{"x", 100.0}, {"TRIAL_BUDGET", 4.0}});
  CHECK(core->record(0)->reports.empty());
  CHECK(core->trial_count() == 1);
  CHECK_FALSE(must(core->report(0, 2, std::nullopt, -1)).stop);
  must(core->tell(0, 2, -1));
  CHECK(core->count(TrialState::completed) == 1);
  CHECK(core->count(TrialState::running) == 0);
}

TEST_CASE("core: not yet is no end, and what was waited for comes with a later ask") {
  auto core = make();
  must(core->ask(1, -1));
  must(core->report(0, 7, std::nullopt, -1));
  for (int again = 0; again < 3; ++again) {
    const Asked asked = must(core->ask(1, -1));
    CHECK(asked.trials.empty());
    CHECK_FALSE(asked.no_more);
  }
  must(core->tell(0, 1, -1));
  CHECK(must(core->ask(2, -1)).trials.size() == 2);
  CHECK(core->trial_count() == 3);
}

TEST_CASE("core: a replayed study is the same, whatever the tuner decided") {
  auto core = make(4);
  must(core->ask(2, 1));
  must(core->report(1, 9, std::nullopt, 1));
  must(core->stop(1, 1));
  must(core->ask(1, 1));
  must(core->report(0, 7, std::nullopt, 0));
  must(core->ask(1, 0));
  must(core->report(0, 8, std::nullopt, 0));
  must(core->stop(0, 0));
  must(core->ask(3, 0));
  const std::string head =
      R"({"attune_study":1,"space":{"x":{"_type":"uniform","_value":[0,1000]}},)"
      R"("tuner":{"name":"Scripted"},"assessor":null,)"
      R"("objectives":[{"metric":"default","maximize":false}],"constraints":[],)"
      R"("initial_points":[],"seed":0,"max_trials":4,"concurrency":null})";
  std::string text = head + "\n";
  for (const Event& event : core->events()) text += dump_json(to_json(event)) + "\n";
  const Replayed again = must(replay(text, scripted(), builtin_assessors()));
  CHECK(again.warnings.empty());
  CHECK(again.core->last_slot() == 0);
  CHECK(again.core->running() == core->running());
  REQUIRE(again.core->events().size() == core->events().size());
  for (std::size_t i = 0; i < core->events().size(); ++i) {
    CHECK(to_json(again.core->events()[i]) == to_json(core->events()[i]));
  }
  CHECK(must(again.core->ask(1, -1)).trials.size() == must(core->ask(1, -1)).trials.size());
}

}  // namespace attune::core_test
