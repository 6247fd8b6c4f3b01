#include "plugins/guarded_assessor.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/algorithm_failure.h"
#include "tests/support/through_text.h"

namespace attune::guarded_assessor_test {

using Words = std::vector<std::string>;

struct World {
  Words heard;
  std::vector<Decision> decisions;  // the next ones; then the trial goes on
  int failures = 0;
};

class FakeAssessor final : public PluginAssessor {
 public:
  explicit FakeAssessor(std::shared_ptr<World> world) : world_(std::move(world)) {}

  Result<Decision> assess(TrialId trial, std::span<const Report> reports) override {
    if (auto fine = heard(fmt::format("assess {} {}", trial, reports.size())); !fine) {
      return std::unexpected(fine.error());
    }
    if (world_->decisions.empty()) return Decision{.trial = trial};
    const Decision decision = world_->decisions.front();
    world_->decisions.erase(world_->decisions.begin());
    return decision;
  }
  Result<void> trial_end(TrialId trial, End) override {
    return heard(fmt::format("end {}", trial));
  }
  Result<json> save() override {
    if (auto fine = heard("save"); !fine) return std::unexpected(fine.error());
    return json("state");
  }
  Result<void> load(const json& state) override { return heard("load " + dump_json(state)); }
  Result<void> restart() override {
    world_->heard.emplace_back("restart");
    return {};
  }

 private:
  Result<void> heard(const std::string& text) {
    world_->heard.push_back(text);
    if (world_->failures == 0) return {};
    --world_->failures;
    return fail("the test lets it fail");
  }
  std::shared_ptr<World> world_;
};

struct Guarded {
  explicit Guarded(bool saves = true)
      : assessor(make_guarded(
            std::make_unique<FakeAssessor>(world),
            {.kind = PluginDescription::Kind::assessor, .name = "Fake", .saves = saves}, "fake.so",
            Log())) {}

  Decision assess(TrialId trial, std::int64_t count) {
    std::vector<Report> reports;
    for (std::int64_t step = 0; step < count; ++step) {
      reports.push_back({trial, step, {{"default", 1.5}}});
    }
    return assessor->assess(trial, reports);
  }
  Words heard() { return std::exchange(world->heard, {}); }

  std::shared_ptr<World> world = std::make_shared<World>();
  std::unique_ptr<Assessor> assessor;
};

TEST_CASE("guarded assessor: decisions that cannot be used are errors") {
  const std::vector<std::pair<Decision, std::string>> lies = {
      {{.trial = 9, .action = Action::stop}, "trial 9 instead of 1"},
      {{.trial = 1, .action = Action::checkpoint}, "stops it or pauses it"},
      {{.trial = 1, .complete = true}, "no stop"},
      {{.trial = 1, .action = Action::stop, .reason = std::string(2000, 'x')}, "2000 bytes"}};
  for (const auto& [lie, what] : lies) {
    Guarded guarded;
    guarded.world->decisions = {lie, lie};
    std::string failure;
    try {
      guarded.assess(1, 1);
    } catch (const AlgorithmFailure& caught) {
      failure = caught.what();
    }
    CHECK_THAT(failure, Catch::StartsWith("plug-in fake.so: assessor Fake: assess: "));
    CHECK_THAT(failure, Catch::Contains(what));
  }
}

TEST_CASE("guarded assessor: one that is started anew is asked again about what came since") {
  Guarded guarded;
  guarded.assess(1, 1);
  guarded.assessor->save();
  guarded.assess(1, 2);
  guarded.assess(2, 1);
  guarded.assessor->trial_end(2, End::completed);
  guarded.heard();
  guarded.world->failures = 1;
  guarded.assess(1, 3);
  CHECK(guarded.heard() == Words{"assess 1 3", "restart", "load \"state\"", "assess 1 2",
                                 "assess 2 1", "end 2", "assess 1 3"});
}

TEST_CASE("guarded assessor: a replay repeats its decisions") {
  Guarded first, second;
  first.world->decisions = {{.trial = 1, .action = Action::stop, .reason = "slow"}};
  second.world->decisions = {{.trial = 1}, {.trial = 2, .action = Action::stop}};
  CHECK(first.assess(1, 1).action == Action::stop);
  const std::string notes = first.assessor->take_notes();
  CHECK(first.assess(2, 1).action == Action::keep_going);
  CHECK(first.assessor->take_notes().empty());
  second.assessor->replay_notes(notes);
  const Decision again = second.assess(1, 1);
  CHECK(again.action == Action::stop);
  CHECK(again.reason == "slow");
  CHECK(second.assessor->take_notes() == notes);
  CHECK(second.assess(2, 1).action == Action::keep_going);
  second.assessor->end_replay();
}

TEST_CASE("guarded assessor: a saved state is exact, and takes nothing odd") {
  for (const bool saves : {true, false}) {
    Guarded first(saves);
    first.assess(1, 2);
    first.assess(2, 1);
    first.assessor->trial_end(1, End::stopped);
    const json state = through_text(first.assessor->save());
    Guarded second(saves);
    REQUIRE(second.assessor->load(state));
    CHECK(second.assessor->save() == state);
    for (const char* key : {"calls", "events"}) {
      json bad = state;
      bad[key] = -1;
      CHECK_FALSE(Guarded(saves).assessor->load(bad));
    }
  }
}

}  // namespace attune::guarded_assessor_test
