// How `auto` finds out that trials can be paused, and how far they are trained.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/rng.h"
#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::auto_fidelity_test {

using Words = std::vector<std::string>;

const std::string kInterval = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

Context pausing() {
  Context context;
  context.pauses = true;
  return context;
}

// The tuner and its trials, which report `training_iteration`.
struct World {
  explicit World(const json& arguments = {}, const Context& context = pausing(),
                 const std::string& text = kInterval, const std::string& name = "auto")
      : arguments_(arguments), context_(context), name_(name) {
    space = parse_space(parse_json(text).value()).value();
    tuner = make(1);
  }

  std::unique_ptr<Tuner> make(std::uint64_t seed) {
    auto made = make_tuner(builtin_tuners(), name_, arguments_, context_, seed);
    if (!made) FAIL(made.error().message);
    wants_reports = made->wants_reports;
    REQUIRE(made->tuner->set_space(space));
    return std::move(made->tuner);
  }

  void restart() {
    const auto state = parse_json(dump_json(tuner->save()));
    REQUIRE(state);
    tuner = make(999);
    const auto loaded = tuner->load(*state);
    if (!loaded) FAIL(loaded.error().message);
    REQUIRE(dump_json(tuner->save()) == dump_json(*state));
  }

  std::string asked() {
    const TrialId id = next++;
    const Answer answer = tuner->ask(std::vector{id})[0];
    if (std::holds_alternative<NotYet>(answer)) return "not yet";
    if (std::holds_alternative<Exhausted>(answer)) return "exhausted";
    const auto& proposal = std::get<Proposal>(answer);
    const TrialId trial = proposal.resume.value_or(id);
    why = proposal.reason;
    points[trial] = proposal.point;
    if (proposal.resume) return fmt::format("resume {}", *proposal.resume);
    CHECK_FALSE(proposal.checkpoint_from);
    return "new";
  }

  Words reported(TrialId trial, double iteration, double value) {
    Words all;
    const Metrics metrics = {{"default", value}, {"training_iteration", iteration}};
    for (const Decision& one : tuner->on_report({trial, 0, metrics})) {
      const std::string word = one.action == Action::pause             ? "pause"
                               : one.action == Action::checkpoint      ? "save"
                               : one.action == Action::drop_checkpoint ? "drop"
                                                                       : "stop";
      CHECK_FALSE(one.reason.empty());
      all.push_back(fmt::format("{} {}", word, one.trial));
    }
    return all;
  }

  void end(TrialId trial, End how, std::optional<double> loss = {}) {
    Metrics metrics;
    if (loss) metrics.emplace_back("default", *loss);
    tuner->tell(std::vector{Outcome{trial, points.at(trial), loss, metrics, how, {}}});
  }

  std::unique_ptr<Tuner> tuner;
  Space space;
  TrialId next = 0;
  std::map<TrialId, Point> points;
  bool wants_reports = false;
  std::string why;  // of the last answer

 private:
  json arguments_;
  Context context_;
  std::string name_;
};

TEST_CASE("auto: looks for reports only where it may pause trials") {
  CHECK(World().wants_reports);
  CHECK_FALSE(World(json(), Context{}).wants_reports);
  CHECK_FALSE(World(json{{"pause", false}}).wants_reports);
  Context few = pausing();
  few.max_trials = 100;
  CHECK_FALSE(World(json(), few).wants_reports);
  few.max_trials = 500;
  CHECK(World(json(), few).wants_reports);
  Context assessed = pausing();
  assessed.assessed = true;
  CHECK_FALSE(World(json(), assessed).wants_reports);
  Context two = pausing();
  two.objectives = {{"default"}, {"megabytes"}};
  CHECK(World(json(), two).wants_reports);
  // The rule above them pauses trials, or none does.
  CHECK_FALSE(World(json(), pausing(), kInterval, "ensemble").wants_reports);
  // What the user says goes before what could be learnt.
  CHECK(World(json{{"max_t", 9}}).wants_reports);
  CHECK_FALSE(World(json{{"max_t", 9}, {"pause", false}}).wants_reports);
}

TEST_CASE("auto: of several objectives trials must report all before they are paused") {
  Context two = pausing();
  two.objectives = {{"default"}, {"megabytes"}, {"seconds", false, 5.0}};
  World w(json(), two);
  CHECK(w.asked() == "new");
  CHECK(w.reported(0, 1, 0.5).empty());
  const auto reported = [&](double iteration, double megabytes) {
    return w.tuner->on_report(
        {0, 0, {{"default", 0.5}, {"training_iteration", iteration}, {"megabytes", megabytes}}});
  };
  const auto asked = reported(2, 7);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].action == Action::checkpoint);
  w.restart();
  w.tuner->on_checkpoint(0, true);
  CHECK(w.tuner->save()["stage"] == 2);
  const auto paused = reported(3, 7);
  REQUIRE_FALSE(paused.empty());
  CHECK(paused[0].action == Action::pause);
  CHECK(paused[0].reason.starts_with("training_iteration 3: (0.5, 7) waits"));
  w.restart();
}

TEST_CASE("auto: goes on with several objectives from where it paused no trials") {
  Context two = pausing();
  two.objectives = {{"default"}, {"megabytes"}};
  World former(json{{"pause", false}}, two), w(json(), two);
  CHECK(former.asked() == "new");
  REQUIRE(w.tuner->load(former.tuner->save()));
  CHECK(w.reported(0, 1, 0.5).empty());
  w.next = former.next;
  CHECK(w.asked() == former.asked());
  CHECK(w.points.at(1) == former.points.at(1));
  w.restart();
  // With one objective there is no such state.
  CHECK_FALSE(World().tuner->load(World(json{{"pause", false}}).tuner->save()));
}

// Asks until the answer is the one wanted. New trials look bad, and others that go on fail.
void ask_until(World& w, const std::string& wanted) {
  for (int i = 0; i < 100; ++i) {
    const std::string answer = w.asked();
    if (answer == wanted) return;
    if (answer == "new") {
      w.reported(w.next - 1, 3, 50 + i);
    } else {
      w.end(std::stoi(answer.substr(7)), End::failed);
    }
  }
  FAIL("never " << wanted);
}

TEST_CASE("auto: begins to pause once a trial has saved a checkpoint") {
  World w;
  for (TrialId id = 0; id < 4; ++id) CHECK(w.asked() == "new");
  CHECK(w.reported(1, 1, 5) == Words{"save 1"});
  CHECK(w.reported(2, 1, 4).empty());  // one trial is asked at a time
  CHECK(w.reported(1, 2, 5).empty());
  w.restart();
  w.tuner->on_checkpoint(1, true);
  w.restart();
  // Nothing else needs that checkpoint.
  CHECK(w.reported(2, 2, 4) == Words{"pause 2", "drop 1"});
  CHECK(w.reported(0, 1, 0.1) == Words{"pause 0"});
  CHECK(w.reported(1, 3, 5) == Words{"pause 1"});
  CHECK(w.reported(3, 1, 0.2) == Words{"pause 3"});
  w.restart();
  // The best goes on level by level, and ends by itself.
  ask_until(w, "resume 0");
  CHECK(w.reported(0, 2, 0.1).empty());
  CHECK(w.reported(0, 3, 0.1) == Words{"pause 0"});
  ask_until(w, "resume 0");
  for (int i = 4; i < 8; ++i) CHECK(w.reported(0, i, 0.1).empty());
  w.end(0, End::completed, 0.1);
  w.restart();
  // Now the end is known: nobody is paused there.
  for (int i = 0; i < 60; ++i) {
    const std::string answer = w.asked();
    REQUIRE(answer != "exhausted");
    const TrialId id = answer == "new" ? w.next - 1 : std::stoi(answer.substr(7));
    for (int k = 4; k < 8; ++k) w.reported(id, k, 0.2 + i);
    CHECK(w.reported(id, 7, 0.2 + i).empty());
    w.end(id, End::completed, 0.2 + i);
  }
}

TEST_CASE("auto: a trial ends by itself where others have ended or later") {
  World w;
  for (TrialId id = 0; id < 2; ++id) w.asked();
  CHECK(w.reported(0, 1, 5) == Words{"save 0"});
  w.tuner->on_checkpoint(0, true);
  CHECK(w.reported(0, 1, 5) == Words{"pause 0", "drop 0"});
  CHECK(w.reported(0, 2, 5).empty());  // it could not be paused
  w.end(0, End::completed, 5);
  CHECK(w.reported(1, 2, 1).empty());  // at the end of the first
  for (int i = 3; i < 40; ++i) CHECK(w.reported(1, i, 1).empty());
  w.restart();
  w.end(1, End::completed, 1);
}

TEST_CASE("auto: a trial that has paused where others end goes on to its own end") {
  World w;
  for (TrialId id = 0; id < 4; ++id) w.asked();
  CHECK(w.reported(1, 1, 5) == Words{"save 1"});
  w.tuner->on_checkpoint(1, true);
  CHECK(w.reported(0, 9, 0.125) == Words{"pause 0", "drop 1"});
  CHECK(w.reported(1, 9, 5) == Words{"pause 1"});
  w.end(1, End::completed, 5);  // it could not be paused
  w.restart();
  ask_until(w, "resume 0");
  CAPTURE(w.why);
  CHECK(w.why.starts_with("training_iteration 9 of 9: 0.125; its expected end ranks "));
  CHECK(w.why.ends_with(": goes on to its own end"));
}

// The proposals of `auto` that may pause, and of one that may not, while the same happens to both.
void check_stays_plain(World& w, bool reports, bool saves_too_late) {
  World plain(json(), Context{});
  for (int i = 0; i < 25; ++i) {
    REQUIRE(w.asked() == "new");
    REQUIRE(plain.asked() == "new");
    REQUIRE(w.points[i] == plain.points[i]);
    const double loss = std::abs(w.points[i].values[0] - 0.3);
    for (int k = 1; reports && k < 6; ++k) {
      for (const std::string& word : w.reported(i, k, loss)) {
        CHECK(i == 0);
        CHECK((k == 1 || k == 3));
        CHECK(word == fmt::format("save {}", i));
        if (k == 1) w.tuner->on_checkpoint(i, false);
      }
    }
    w.end(i, End::completed, loss);
    plain.end(i, End::completed, loss);
    if (saves_too_late) w.tuner->on_checkpoint(i, true);
    if (i % 5 == 0) w.restart();
  }
}

TEST_CASE("auto: without reports or checkpoints it proposes what it always did") {
  SECTION("no reports") {
    World w;
    check_stays_plain(w, false, false);
  }
  SECTION("reports, but nothing saved") {
    World w;
    check_stays_plain(w, true, false);
  }
  SECTION("the checkpoint comes after the end") {
    World w;
    check_stays_plain(w, true, true);
  }
}

TEST_CASE("auto: counts no reports that do not say how far the trial is") {
  World w;
  w.asked();
  CHECK(w.tuner->on_report({0, 0, {{"default", 1}}}).empty());
  CHECK(w.reported(0, NAN, 1).empty());
  CHECK(w.reported(0, 1e30, 1).empty());
  CHECK(w.reported(0, 0, 1).empty());
  CHECK(w.reported(0, 2, NAN) == Words{"save 0"});
}

// A few workers in a finite space, with mishaps, until nothing is left. Each trial ends by itself.
class Fleet {
 public:
  Fleet(std::uint64_t seed, int restart_every)
      : world_(json(), pausing(), kChoice), rng_(seed), restart_every_(restart_every) {}

  Words run() {
    for (int turn = 0; fill(); ++turn) {
      REQUIRE(turn < 4000);
      if (restart_every_ > 0 && turn % restart_every_ == 0) world_.restart();
      step();
    }
    CHECK(paused_.empty());
    CHECK(most_epochs_ > 3);
    return std::move(log_);
  }

 private:
  static inline const std::string kChoice =
      R"({"x": {"_type": "choice", "_value": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}})";

  bool fill() {
    while (running_.size() < 3) {
      const std::string answer = world_.asked();
      log_.push_back(answer);
      if (answer == "exhausted") break;
      if (answer == "not yet") {
        REQUIRE_FALSE(running_.empty());
        break;
      }
      TrialId id = world_.next - 1;
      if (answer.starts_with("resume")) {
        id = std::stoi(answer.substr(7));
        REQUIRE(paused_.erase(id) == 1);
      }
      running_.insert(id);
    }
    return !running_.empty();
  }

  void step() {
    auto at = running_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.index(running_.size())));
    const TrialId id = *at;
    if (rng_.uniform() < 0.02) return end(id, End::failed);
    const int epoch = ++epochs_[id];
    most_epochs_ = std::max(most_epochs_, epoch);
    const double loss = world_.points[id].values[0] / 12 + 1.0 / epoch;
    for (const std::string& word : world_.reported(id, epoch, loss)) {
      log_.push_back(word);
      if (word.starts_with("save")) world_.tuner->on_checkpoint(id, rng_.uniform() < 0.7);
      if (!word.starts_with("pause")) continue;
      REQUIRE(word == fmt::format("pause {}", id));
      running_.erase(id);
      paused_.insert(id);
    }
    // Half of the trials are longer.
    if (epoch >= (id % 2 == 0 ? 14 : 20) && running_.contains(id)) end(id, End::completed, loss);
  }

  void end(TrialId id, End how, std::optional<double> loss = {}) {
    world_.end(id, how, loss);
    running_.erase(id);
  }

  World world_;
  Rng rng_;
  int restart_every_;
  std::set<TrialId> running_, paused_;
  std::map<TrialId, int> epochs_;
  int most_epochs_ = 0;
  Words log_;
};

TEST_CASE("auto: whatever happens all trials end, and a saved state goes on exactly") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Words straight = Fleet(seed, 0).run();
    CHECK(Fleet(seed, 3).run() == straight);
  }
}

}  // namespace attune::auto_fidelity_test
