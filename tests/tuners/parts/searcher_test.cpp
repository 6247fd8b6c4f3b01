#include "tuners/parts/searcher.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "space/dedup.h"
#include "space/parse.h"

namespace attune::searcher_test {

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

const std::string kReal = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";
const std::string kIntegers = R"({"i": {"_type": "randint", "_value": [0, 60]}})";

Point asked(Searcher& searcher, TrialId id) {
  const Answer answer = searcher.ask(id);
  REQUIRE(std::holds_alternative<Proposal>(answer));
  return std::get<Proposal>(answer).point;
}

// Checks that it is called as tuner.h says, and notes what it is told. It proposes the points of a
// grid.
class StrictTuner final : public Tuner {
 public:
  struct Log {
    std::map<TrialId, std::optional<double>> told;  // since the last set_space()
    std::multiset<double> imported;
    std::vector<Metrics> metrics;
    std::set<TrialId> running;
    int spaces = 0;
  };
  explicit StrictTuner(Log& log) : log_(&log) {}

  Result<void> set_space(const Space& space) override {
    const int spaces = log_->spaces;
    *log_ = {};
    log_->spaces = spaces + 1;
    grid_ = Grid(space);
    seen_ = SeenPoints(space);
    return {};
  }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      while (auto point = grid_.next()) {
        if (!seen_.insert(*point)) continue;
        CHECK(log_->running.insert(id).second);
        return Proposal{.point = *std::move(point)};
      }
      return Exhausted{};
    });
  }
  void withdraw(TrialId id) override { CHECK(log_->running.erase(id) == 1); }
  void adopt(TrialId id, const Point& point) override {
    CHECK(id != kImportedTrial);
    CHECK(log_->running.insert(id).second);
    seen_.insert(point);
  }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      seen_.insert(outcome.point);
      log_->metrics.push_back(outcome.metrics);
      if (outcome.end == End::imported) {
        CHECK(outcome.trial == kImportedTrial);
        log_->imported.insert(outcome.loss.value_or(-1));
      } else {
        CHECK(log_->running.erase(outcome.trial) == 1);
        CHECK(outcome.end == (outcome.loss ? End::completed : End::failed));
        log_->told[outcome.trial] = outcome.loss;
      }
    }
  }
  json save() const override { return json::object(); }
  Result<void> load(const json&) override { return {}; }

 private:
  Log* log_;
  Grid grid_{Space{}};
  SeenPoints seen_{Space{}};
};

struct Strict {
  StrictTuner::Log log;
  Searcher searcher;
  explicit Strict(const std::string& space, const Context& context = {}, bool learns = true)
      : searcher(std::make_unique<StrictTuner>(log), learns, context) {
    REQUIRE(searcher.set_space(space_of(space)));
  }
};

TEST_CASE("Searcher: the tuner learns the lowest level until a higher one has enough losses") {
  Strict world(kReal);  // one dimension: two losses are enough
  for (TrialId id = 0; id < 4; ++id) asked(world.searcher, id);
  world.searcher.observe(0, 3, 0.3);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.3}});
  world.searcher.observe(1, 1, 0.1);  // nobody has enough: the lowest one
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{1, 0.1}});
  world.searcher.observe(2, 3, 0.5);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.3}, {2, 0.5}});
  CHECK(world.log.spaces == 3);  // the first one, and two changes of the level
  world.searcher.observe(3, 1, 0.2);
  world.searcher.observe(1, 9, 0.9);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.3}, {2, 0.5}});
  world.searcher.observe(0, 9, 0.7);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.7}, {1, 0.9}});
  CHECK(world.log.running.empty());
  CHECK(world.log.spaces == 4);
}

TEST_CASE("Searcher: one that runs stays running when the level rises") {
  Strict world(kReal);
  for (TrialId id = 0; id < 4; ++id) asked(world.searcher, id);
  world.searcher.adopt(-5, {{0.7}});
  world.searcher.observe(0, 1, 0.1);
  world.searcher.observe(0, 2, 0.1);
  world.searcher.observe(1, 2, 0.1);
  CHECK(world.log.spaces == 2);
  CHECK(world.log.running == std::set<TrialId>{-5, 2, 3});
  world.searcher.observe(2, 1, 0.1);  // it waits for nothing: the tuner learns level 2
  CHECK(world.log.running == std::set<TrialId>{-5, 3});
  world.searcher.end(-5);
  CHECK(world.log.told.at(-5) == std::nullopt);
  CHECK(*world.searcher.point_of(-5) == Point{{0.7}});
  CHECK(world.searcher.point_of(77) == nullptr);
}

TEST_CASE("Searcher: what failed anywhere or ended before its first level has failed") {
  Strict world(kReal);
  for (TrialId id = 0; id < 7; ++id) asked(world.searcher, id);
  world.searcher.observe(0, 1, std::nullopt);  // there is no level yet
  world.searcher.observe(1, 1, NAN);
  world.searcher.end(2);
  world.searcher.end(2);
  const std::map<TrialId, std::optional<double>> failed = {{0, {}}, {1, {}}, {2, {}}};
  CHECK(world.log.told == failed);
  world.searcher.observe(3, 1, 0.3);
  world.searcher.observe(3, 3, 0.3);
  world.searcher.observe(3, 9, HUGE_VAL);  // after a good result: only when higher levels count
  world.searcher.observe(4, 1, 0.4);
  world.searcher.end(4);
  auto expected = failed;
  expected[3] = 0.3;
  expected[4] = 0.4;
  CHECK(world.log.told == expected);
  world.searcher.observe(5, 3, 0.5);  // now level 3 has enough
  world.searcher.observe(6, 1, std::nullopt);
  expected.erase(4);  // known only at level 1
  expected[5] = 0.5;
  expected[6] = std::nullopt;
  CHECK(world.log.told == expected);
  for (const TrialId id : {0, 1}) world.searcher.observe(id, 9, 0.1);
  for (const TrialId id : {3, 6}) expected[id] = std::nullopt;
  CHECK(world.log.told ==
        std::map<TrialId, std::optional<double>>{{0, 0.1}, {1, 0.1}, {2, {}}, {3, {}}, {6, {}}});
}

TEST_CASE("Searcher: unknown trials and repeated levels are ignored") {
  Strict world(kReal);
  world.searcher.observe(7, 1, 0.1);
  world.searcher.end(7);
  world.searcher.withdraw(7);
  CHECK(world.log.told.empty());
  asked(world.searcher, 0);
  asked(world.searcher, 1);
  world.searcher.withdraw(1);
  CHECK(world.searcher.point_of(1) == nullptr);
  world.searcher.observe(1, 1, 0.5);
  world.searcher.observe(0, 1, 0.1);
  world.searcher.observe(0, 1, 0.2);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.1}});
}

TEST_CASE("Searcher: a trial that ended by mistake gets its result after all") {
  Strict world(kReal);
  for (TrialId id = 0; id < 3; ++id) asked(world.searcher, id);
  world.searcher.end(0);                       // told as failed
  world.searcher.observe(1, 1, std::nullopt);  // the same
  world.searcher.observe(2, 1, 0.2);
  world.searcher.end(2);
  for (TrialId id = 0; id < 3; ++id) world.searcher.adopt(id, *world.searcher.point_of(id));
  CHECK(world.log.running == std::set<TrialId>{0, 1});  // 2 has its result
  world.searcher.adopt(0, *world.searcher.point_of(0));
  world.searcher.observe(0, 1, 0.5);
  world.searcher.observe(1, 1, 0.6);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.5}, {1, 0.6}, {2, 0.2}});
  world.searcher.observe(0, 3, 0.1);
  world.searcher.observe(1, 3, 0.1);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{0, 0.1}, {1, 0.1}});
}

TEST_CASE("Searcher: imports have no ids of trials and count at their level") {
  Strict world(kIntegers);
  const auto result = [](double i, double loss) {
    return Outcome{kImportedTrial, {{i}}, loss, {}, End::imported, {}};
  };
  // Trials of the user have negative ids, which must not be those of imports.
  for (const TrialId id : {-2, -3, -4}) {
    world.searcher.adopt(id, {{50}});
    world.searcher.import(result(static_cast<double>(-id), 0.1 * static_cast<double>(-id)), 9);
  }
  CHECK(world.log.running == std::set<TrialId>{-4, -3, -2});
  CHECK(world.log.imported == std::multiset<double>{0.1 * 2, 0.1 * 3, 0.1 * 4});
  world.searcher.import(result(10, 0.7), 1);  // not what the tuner learns
  world.searcher.import({kImportedTrial, {{11}}, {}, {}, End::imported, {}}, 9);
  world.searcher.import(result(12, NAN), 1);
  CHECK(world.log.imported == std::multiset<double>{-1, -1, 0.1 * 2, 0.1 * 3, 0.1 * 4});
  world.searcher.observe(-2, 9, 0.5);
  CHECK(world.log.told == std::map<TrialId, std::optional<double>>{{-2, 0.5}});
  // None is proposed, whatever its level.
  std::set<double> proposed;
  for (TrialId id = 0; std::holds_alternative<Proposal>(world.searcher.ask(id)); ++id) {
    proposed.insert(world.searcher.point_of(id)->values[0]);
  }
  CHECK(proposed.size() == 60 - 7);
  for (const double i : {2, 3, 4, 10, 11, 12, 50}) CHECK_FALSE(proposed.contains(i));
}

TEST_CASE("Searcher: metrics of other objectives reach the tuner") {
  Context context;
  context.objectives = {{"loss"}, {"score", true}, {"time", false, 3.0}};
  Strict world(kReal, context);
  asked(world.searcher, 0);
  world.searcher.observe(0, 1, 0.5, {{"loss", 0.5}, {"time", 7}, {"odd", 1}, {"score", 2}});
  CHECK(world.log.metrics.back() == Metrics{{"score", 2}, {"time", 7}});
  asked(world.searcher, 1);
  world.searcher.observe(1, 1, 0.5, {{"time", 7}});
  CHECK(world.log.metrics.back() == Metrics{{"time", 7}});
}

TEST_CASE("Searcher: whatever happens the tuner is called as its contract says") {
  // A second account of what the tuner must know, from the events alone.
  struct Known {
    std::map<double, std::optional<double>> reached;
    bool ended = false;
  };
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Strict world(kIntegers);
    std::map<TrialId, Known> trials;
    std::set<double> points;
    TrialId next = 0, next_foreign = -2;
    int imports = 0;
    bool exhausted = false;
    for (int step = 0; step < 300; ++step) {
      const std::size_t what = rng.index(12);
      const TrialId some = trials.empty() ? 0 : [&] {
        return std::next(trials.begin(), static_cast<std::ptrdiff_t>(rng.index(trials.size())))
            ->first;
      }();
      if (what < 4) {
        const Answer answer = world.searcher.ask(next);
        if (exhausted) REQUIRE(std::holds_alternative<Exhausted>(answer));
        exhausted = std::holds_alternative<Exhausted>(answer);
        if (exhausted) continue;
        CHECK(points.insert(std::get<Proposal>(answer).point.values[0]).second);
        if (rng.index(10) == 0) {
          points.erase(std::get<Proposal>(answer).point.values[0]);
          world.searcher.withdraw(next);
        } else {
          trials[next++];
        }
      } else if (what == 4 && rng.index(4) == 0) {
        const Point point{{static_cast<double>(rng.index(60))}};
        points.insert(point.values[0]);
        world.searcher.adopt(next_foreign, point);
        trials[next_foreign--];
      } else if (what == 5 && rng.index(4) == 0) {
        const Point point{{static_cast<double>(rng.index(60))}};
        points.insert(point.values[0]);
        world.searcher.import({kImportedTrial, point, 0.5, {}, End::imported, {}},
                              std::pow(3, rng.index(4)));
        ++imports;
      } else if (what < 11 && !trials.empty()) {
        const double level = std::pow(3, std::min(rng.index(4), rng.index(4)));
        Known& trial = trials.at(some);
        const bool fresh = !trial.reached.contains(level);
        // What the tuner was told once cannot be taken back: no losses after a failure.
        if (trial.ended && trial.reached.empty()) continue;
        const bool failed =
            std::ranges::any_of(trial.reached, [](const auto& reached) { return !reached.second; });
        std::optional<double> loss = rng.uniform();
        if (failed || rng.index(8) == 0) loss.reset();
        world.searcher.observe(some, level, loss);
        if (fresh) trial.reached[level] = loss;
      } else if (!trials.empty()) {
        world.searcher.end(some);
        trials.at(some).ended = true;
      }

      std::map<double, std::size_t> losses;
      for (const auto& [id, trial] : trials) {
        for (const auto& [level, loss] : trial.reached) losses[level] += loss ? 1 : 0;
      }
      if (imports > 0) continue;  // their levels are checked above
      std::optional<double> level;
      for (const auto& [at, count] : losses) {
        if (count > 0 && (!level || count >= 2)) level = at;
      }
      std::map<TrialId, std::optional<double>> told;
      std::set<TrialId> running;
      for (const auto& [id, trial] : trials) {
        const bool failed =
            std::ranges::any_of(trial.reached, [](const auto& reached) { return !reached.second; });
        if (level && trial.reached.contains(*level)) {
          told[id] = trial.reached.at(*level);
        } else if (failed || (trial.ended && trial.reached.empty())) {
          told[id] = std::nullopt;
        } else if (trial.reached.empty()) {
          running.insert(id);
        }
      }
      REQUIRE(world.log.told == told);
      REQUIRE(world.log.running == running);
    }
  }
}

}  // namespace attune::searcher_test
