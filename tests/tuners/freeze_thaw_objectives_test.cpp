// FreezeThaw with several objectives and with limits.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "tests/tuners/promotion_world.h"

namespace attune {
extern const TunerEntry freeze_thaw_entry;
}

namespace attune::freeze_thaw_objectives_test {

using Words = std::vector<std::string>;

const std::vector<Objective> kTwo = {{"accuracy", true}, {"size", false}};
const std::vector<Objective> kLimited = {{"loss", false}, {"size", false, 10.0}};

// Levels 1, 3 and 9; the initial design has 5 trials.
PromotionWorld world(const std::vector<Objective>& objectives = kTwo) {
  return {freeze_thaw_entry, {{"max_t", 9}, {"resource_attr", "epoch"}}, objectives};
}

// Of all trials.
Words words(const std::vector<Decision>& decisions) {
  Words all;
  for (const Decision& one : decisions) {
    const char* word = one.action == Action::pause             ? "pause"
                       : one.action == Action::drop_checkpoint ? "drop"
                       : one.complete                          ? "complete"
                                                               : "stop";
    all.push_back(fmt::format("{} {}", word, one.trial));
  }
  return all;
}

// Asks until a trial goes on, and returns it; new trials are paused at once with a bad result.
TrialId next_to_go_on(PromotionWorld& w, TrialId& next, const Metrics& bad) {
  for (int i = 0; i < 100; ++i) {
    const TrialId id = next++;
    const std::string answer = w.ask(id);
    if (answer.starts_with("trial ")) return std::stoi(answer.substr(6));
    if (!answer.starts_with("new to ")) break;
    w.report(id, std::stod(answer.substr(7)), -1e3, bad);
  }
  FAIL("no trial goes on");
  return -1;
}

TEST_CASE("FreezeThaw: with several objectives the trade-offs go on") {
  PromotionWorld w = world();
  for (TrialId id = 0; id < 6; ++id) CHECK(w.ask(id) == "new to 1");
  CHECK(w.report(0, 1, 0.9, {{"size", 50}}) == "pause");
  CHECK(w.reason() ==
        "epoch 1 of 9: (0.9, 50) waits; its expected end, (0.9, 50), ranks 1 of 1 that wait");
  CHECK(w.report(1, 1, 0.5, {{"size", 5}}) == "pause");
  CHECK(w.report(2, 1, 0.4, {{"size", 60}}) == "pause");
  CHECK(w.reason() ==
        "epoch 1 of 9: (0.4, 60) waits; its expected end, (0.4, 60), ranks 3 of 3 that wait");
  w.restart();
  CHECK(w.report(3, 1, 0.3, {{"size", 70}}) == "pause");
  CHECK(w.report(4, 1, 0.1, {{"size", 80}}) == "pause");
  TrialId next = 10;
  std::set<TrialId> first;
  while (first.size() < 2) {
    const TrialId id = next_to_go_on(w, next, {{"size", 90}});
    CAPTURE(w.why);
    CHECK(w.why.find(" with the weights (0.") != std::string::npos);
    first.insert(id);
  }
  CHECK(first == std::set<TrialId>{0, 1});
  CHECK(w.report(0, 9, 0.95, {{"size", 50}}) == "complete");
  CHECK(w.reason() == "epoch 9 of 9: ends with (0.95, 50)");
}

TEST_CASE("FreezeThaw: a result without one of the objectives, or with one that is no number") {
  PromotionWorld w = world();
  for (TrialId id = 0; id < 5; ++id) w.ask(id);
  CHECK(w.report(0, 1, 0.9) == "-");
  CHECK(w.report(0, 2, 0.9, {{"size", 5}}) == "pause");
  CHECK(w.report(1, 1, 0.9, {{"size", NAN}}) == "stop");
  CHECK(w.reason() == "epoch 1: one of the objectives is not finite");
  CHECK(w.report(2, 1, INFINITY, {{"size", 5}}) == "stop");
  // Neither counts, nor goes on.
  w.tell(3, End::completed, 0.1, 1.0);
  w.tuner->tell(std::vector{
      Outcome{4, {{0.5, 0.5}}, -0.95, {{"accuracy", 0.95}, {"size", NAN}}, End::completed, 1.0}});
  TrialId next = 10;
  CHECK(next_to_go_on(w, next, {{"size", 90}}) == 0);
}

TEST_CASE("FreezeThaw: imports of several objectives are learnt where they have all") {
  PromotionWorld w = world();
  const auto import = [&](double x, const Metrics& metrics) {
    w.tuner->tell(std::vector{
        Outcome{kImportedTrial, {{x, x}}, -metrics[0].second, metrics, End::imported, {}}});
  };
  import(0.1, {{"accuracy", 0.5}, {"size", 5}});
  import(0.2, {{"accuracy", 0.6}});
  import(0.3, {{"accuracy", 0.6}, {"size", INFINITY}});
  CHECK(numbers_at(w.tuner->save()["ledger"]["model"], "losses").value() ==
        std::vector<double>{-0.5, 5});
}

TEST_CASE("FreezeThaw: a trial that breaks a limit is stopped where another keeps all") {
  PromotionWorld w = world(kLimited);
  for (TrialId id = 0; id < 5; ++id) w.ask(id);
  CHECK(w.report(0, 1, 0.1, {{"size", 12}}) == "pause");
  CHECK(w.reason() ==
        "epoch 1 of 9: a result over its limits by 2 waits; its expected end, a result over its "
        "limits by 2, ranks 1 of 1 that wait");
  CHECK(w.report(1, 1, 0.1, {{"size", 11}}) == "pause");
  CHECK(w.reason().ends_with("over its limits by 1, ranks 1 of 2 that wait"));
  // The first that keeps all: those that wait at this level are stopped.
  w.report(2, 1, 0.9, {{"size", 9}});
  CHECK(words(w.decisions) == Words{"pause 2", "stop 0", "stop 1", "drop 0", "drop 1"});
  CHECK(w.decisions[1].reason ==
        "epoch 1 of 9: a result over its limits by 2, which others there keep");
  w.restart();
  w.report(3, 1, 0.1, {{"size", 12.5}});
  CHECK(words(w.decisions) == Words{"stop 3", "drop 3"});
  CHECK(w.reason() == "epoch 1 of 9: a result over its limits by 2.5, which others there keep");
  CHECK(w.report(3, 1, 0.1, {{"size", 9}}) == "-");  // it is over
  w.tell(3, End::stopped);
  CHECK(w.report(4, 1, 0.8) == "pause");  // what is not reported breaks nothing
  CHECK(w.reason().ends_with("ranks 1 of 2 that wait"));
}

TEST_CASE("FreezeThaw: one that breaks a limit later is stopped on its way where others keep it") {
  PromotionWorld w = world(kLimited);
  for (TrialId id = 0; id < 5; ++id) w.ask(id);
  for (TrialId id = 0; id < 3; ++id) w.report(id, 1, 0.5 + double(id), {{"size", 9}});
  CHECK(w.report(3, 3, 0.6, {{"size", 9}}) == "pause");
  CHECK(w.report(4, 2, 0.7, {{"size", 11}}) == "stop");  // at level 1
  TrialId next = 10;
  TrialId id = 3;
  while (id == 3) id = next_to_go_on(w, next, {{"size", 9}});
  CHECK(w.report(id, 2, 0.4, {{"size", 20}}) == "-");
  CHECK(w.report(id, 3, 0.4, {{"size", 20}}) == "stop");
  // At the end of a full training it is complete: that is its result.
  CHECK(w.report(3, 9, 0.4, {{"size", 20}}) == "complete");
}

TEST_CASE("FreezeThaw: where none keeps the limits the least broken goes on") {
  PromotionWorld w = world(kLimited);
  for (TrialId id = 0; id < 5; ++id) w.ask(id);
  for (TrialId id = 0; id < 5; ++id) {
    CHECK(w.report(id, 1, double(id), {{"size", 30 - double(id)}}) == "pause");
  }
  TrialId next = 10;
  std::set<TrialId> first;
  for (int i = 0; i < 2; ++i) first.insert(next_to_go_on(w, next, {{"size", 1000}}));
  CHECK(first == std::set<TrialId>{3, 4});
}

TEST_CASE(
    "FreezeThaw: a trial of somebody else is not stopped, but shows that limits can be kept") {
  PromotionWorld w = world(kLimited);
  w.ask(0);
  w.report(0, 1, 0.5, {{"size", 11}});
  w.tuner->adopt(500, {{0.5, 0.5}});
  w.tuner->adopt(501, {{0.6, 0.5}});
  CHECK(w.report(501, 1, 1, {{"size", 50}}) == "-");
  const Metrics kept = {{"loss", 1}, {"size", 5}, {"epoch", 1}};
  CHECK(words(w.tuner->on_report({500, 0, kept})) == Words{"stop 0", "drop 0"});
  CHECK(w.report(501, 2, 1, {{"size", 50}}) == "-");
}

// Trials on a few workers, with mishaps. x is the loss's argument, y that of the size.
class Fleet {
 public:
  struct Habits {
    std::vector<Objective> objectives;
    int points = 6;  // of each parameter
    std::size_t workers = 3;
    std::optional<int> most_trials = {};
    double fails = 0, refuses = 0, lacks = 0;
    bool reads_budget = false, grows = false;  // size grows while a trial trains
    int restart_every = 0;
  };
  static constexpr int kEnd = 27;

  Fleet(const Habits& habits, std::uint64_t seed) : habits_(habits), rng_(seed) {
    space_ =
        parse_space(parse_json(fmt::format(R"({{"x": {{"_type": "randint", "_value": [0, {0}]}},
                                             "y": {{"_type": "randint", "_value": [0, {0}]}}}})",
                                           habits.points))
                        .value())
            .value();
    tuner_ = make(1);
  }

  void run() {
    for (int turn = 0; fill(); ++turn) {
      REQUIRE(turn < 20000);
      if (habits_.restart_every > 0 && turn % habits_.restart_every == 0) restart();
      step();
    }
  }

  Metrics metrics_of(const Point& point, int epoch) const {
    const double x = point.values[0] / habits_.points, y = point.values[1] / habits_.points;
    const double size = 1 - x + y + (habits_.grows ? 0.3 * std::log(double(epoch)) : 0);
    return {{"loss", x + y / 2 + 1.0 / epoch}, {"size", size}, {"time", y}};
  }

  const std::map<TrialId, Point>& points() const { return points_; }

  Words log;
  std::map<TrialId, Point> full;  // trials that were trained to their end
  std::set<TrialId> started, paused;

 private:
  std::unique_ptr<Tuner> make(std::uint64_t seed) const {
    Context context;
    context.pauses = true;
    context.objectives = habits_.objectives;
    context.max_trials = habits_.most_trials;
    auto made = make_tuner(builtin_tuners(), "FreezeThaw",
                           {{"resource_attr", "epoch"}, {"max_t", int{kEnd}}}, context, seed);
    if (!made) FAIL(made.error().message);
    REQUIRE(made->tuner->set_space(space_));
    return std::move(made->tuner);
  }

  void restart() {
    const auto state = parse_json(dump_json(tuner_->save()));
    REQUIRE(state);
    tuner_ = make(99);
    const auto loaded = tuner_->load(*state);
    if (!loaded) FAIL(loaded.error().message);
    REQUIRE(dump_json(tuner_->save()) == dump_json(*state));
  }

  bool fill() {
    while (running_.size() < habits_.workers) {
      const TrialId asked = next_++;
      const Answer answer = tuner_->ask(std::vector{asked})[0];
      if (std::holds_alternative<Exhausted>(answer)) break;
      if (std::holds_alternative<NotYet>(answer)) {
        REQUIRE_FALSE(running_.empty());
        break;
      }
      const auto& proposal = std::get<Proposal>(answer);
      const TrialId id = proposal.resume.value_or(asked);
      log.push_back(fmt::format("{} goes on to {}: {}", id, *proposal.budget, proposal.reason));
      if (proposal.resume) REQUIRE((paused.erase(id) || running_.contains(id)));
      if (proposal.checkpoint_from) epochs_[id] = epochs_.at(*proposal.checkpoint_from);
      points_[id] = proposal.point;
      budgets_[id] = *proposal.budget;
      started.insert(id);
      running_.insert(id);
    }
    return !running_.empty();
  }

  void step() {
    auto at = running_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.index(running_.size())));
    const TrialId id = *at;
    if (rng_.uniform() < habits_.fails) return end(id, End::failed);
    const int epoch = ++epochs_[id];
    Metrics metrics = metrics_of(points_[id], epoch);
    if (rng_.uniform() < habits_.lacks) metrics.pop_back();
    metrics.emplace_back("epoch", epoch);
    for (const Decision& one : tuner_->on_report({id, epoch - 1, metrics})) {
      CHECK_FALSE(one.reason.empty());
      log.push_back(fmt::format("{} {}", one.trial, one.reason));
      obey(one);
    }
    if (!running_.contains(id)) return;
    const bool at_budget = habits_.reads_budget && epoch >= budgets_[id];
    if (at_budget || epoch >= kEnd) end(id, End::completed);
  }

  void obey(const Decision& one) {
    const bool runs = running_.contains(one.trial);
    if (one.action == Action::pause && runs && rng_.uniform() >= habits_.refuses) {
      running_.erase(one.trial);
      paused.insert(one.trial);
    } else if (one.action == Action::stop && (runs || paused.contains(one.trial))) {
      end(one.trial, one.complete ? End::completed : End::stopped);
    }
  }

  void end(TrialId id, End how) {
    running_.erase(id);
    paused.erase(id);
    const Metrics metrics = metrics_of(points_[id], std::max(epochs_[id], 1));
    Outcome outcome{.trial = id, .point = points_[id], .end = how, .budget = budgets_[id]};
    if (how == End::completed) {
      outcome.loss = metrics[0].second;
      outcome.metrics = metrics;
      if (epochs_[id] >= kEnd) full[id] = points_[id];
    }
    tuner_->tell(std::span(&outcome, 1));
  }

  Habits habits_;
  Rng rng_;
  Space space_;
  std::unique_ptr<Tuner> tuner_;
  std::map<TrialId, Point> points_;
  std::map<TrialId, int> epochs_;
  std::map<TrialId, double> budgets_;
  std::set<TrialId> running_;
  TrialId next_ = 0;
};

const std::vector<std::vector<Objective>> kObjectives = {
    {{"loss", false}, {"size", false}},
    {{"loss", false}, {"size", false, 0.8}},
    {{"loss", false}, {"size", false, -1.0}},  // nothing keeps it
    {{"loss", false}, {"size", false}, {"time", false, 0.5}},
    {{"loss", false}, {"size", false}, {"time", true}}};

TEST_CASE("FreezeThaw: with several objectives and limits restarts change nothing") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Fleet::Habits habits{.objectives = kObjectives[seed % kObjectives.size()],
                         .points = static_cast<int>(1 + rng.index(5)),
                         .workers = 1 + rng.index(5),
                         .fails = rng.index(2) ? 0.03 : 0,
                         .refuses = rng.index(2) ? 0.3 : 0,
                         .lacks = rng.index(2) ? 0.2 : 0,
                         .reads_budget = rng.index(2) == 0,
                         .grows = rng.index(2) == 0};
    CAPTURE(seed, habits.points, habits.workers, habits.fails, habits.refuses, habits.lacks,
            habits.reads_budget, habits.grows);
    Fleet fleet(habits, seed);
    fleet.run();
    // The space was tried, and nothing waits.
    CHECK(fleet.started.size() >= static_cast<std::size_t>(habits.points * habits.points));
    CHECK(fleet.paused.empty());
    habits.restart_every = 3;
    Fleet again(habits, seed);
    again.run();
    CHECK(again.log == fleet.log);
  }
}

TEST_CASE("FreezeThaw: once all trials have begun the whole front is trained in full") {
  for (const bool limited : {false, true}) {
    Fleet::Habits habits{.objectives = {{"loss", false}, {"size", false}}, .most_trials = 14};
    if (limited) habits.objectives.push_back({"time", false, 0.5});
    Fleet fleet(habits, 5);
    fleet.run();
    CHECK(fleet.started.size() == 14);
    CHECK(fleet.full.size() < 14);
    CHECK(fleet.full.size() > 1);
    CHECK_FALSE(fleet.paused.empty());
    // The losses of all trials fall alike, so the front is known from the first epoch on.
    for (const TrialId waits : fleet.paused) {
      CAPTURE(waits);
      CHECK(std::ranges::any_of(fleet.full, [&](const auto& one) {
        const Metrics a = fleet.metrics_of(one.second, 27);
        const Metrics b = fleet.metrics_of(fleet.points().at(waits), 27);
        return a[0].second <= b[0].second && a[1].second <= b[1].second;
      }));
    }
  }
}

}  // namespace attune::freeze_thaw_objectives_test
