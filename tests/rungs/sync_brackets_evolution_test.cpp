#include "rungs/sync_brackets_evolution.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>

#include "tests/support/scheduler_traces.h"

namespace attune::sync_brackets_evolution_test {

using Kind = EvolutionBrackets::Kind;
using Place = EvolutionBrackets::Place;
using Vector = EvolutionBrackets::Vector;

// Draws that were written down.
struct Script final : EvolutionDraws {
  std::array<std::size_t, 3> three{0, 1, 2};
  std::deque<std::size_t> indices;
  std::deque<double> numbers;
  std::vector<bool> mask;

  std::array<std::size_t, 3> parents(std::size_t pool) override {
    for (const std::size_t one : three) REQUIRE(one < pool);
    return three;
  }
  std::size_t any(std::size_t count) override {
    REQUIRE_FALSE(indices.empty());
    const std::size_t index = indices.front();
    indices.pop_front();
    REQUIRE(index < count);
    return index;
  }
  double uniform() override {
    REQUIRE_FALSE(numbers.empty());
    const double number = numbers.front();
    numbers.pop_front();
    return number;
  }
  std::vector<bool> crossover(std::size_t parameters) override {
    REQUIRE(mask.size() == parameters);
    return mask;
  }
};

// Replays a trace of Syne Tune, and finds for each recorded child the draws that explain it.
//
// What the trace records: which configuration a trial has, and the results. From the rule follow
// the slot of each trial, the pool of its parents, its target, and who stands in each slot after
// the selection. What it does not record, and so cannot be compared: which three of the pool were
// the parents if several triples explain the child; the values of coordinates that were drawn anew
// because the mutant lay outside; whether a child was drawn again because it repeated another. A
// wrong selection shows later, in a child that no parents or no target explain.
class Replay {
 public:
  explicit Replay(const json& trace)
      : max_t_(trace["T"]), sign_(trace["mode"] == "max" ? -1 : 1), rule_(make(trace)) {}

  static EvolutionBrackets make(const json& trace) {
    const json& args = trace["args"];
    const auto sizes =
        geometric_brackets(args["grace_period"], trace["T"], args["reduction_factor"], {});
    return {sizes[0], sizes.size(), {1, 1}, 0.5};
  }

  void event(const json& event) {
    const std::string kind = event[0];
    const TrialId trial = event[1];
    if (kind == "result") return result(trial, event);
    const auto job = rule_.take(true);
    REQUIRE(job);
    if (kind == "resume") {
      REQUIRE(job->kind == Kind::go_on);
      REQUIRE(job->trial == trial);
      REQUIRE(rule_.brackets().level(job->place) == event[2].get<int>());
      rule_.begin(trial, *job, {});
      return;
    }
    REQUIRE(kind == "start");
    REQUIRE(job->kind != Kind::go_on);
    REQUIRE(rule_.brackets().level(job->place) == event[2]["epochs"].get<int>());
    // The space of the traces: lr in [1e-4, 0.1] on a logarithmic scale, w in [0, 1].
    const double lr = event[2]["lr"], w = event[2]["w"];
    const Vector x = {std::log(lr / 1e-4) / std::log(1e3), w};
    if (job->kind == Kind::evolve) explain(job->place, x);
    rule_.begin(trial, *job, x);
    known_[trial] = x;
  }

  int children = 0, exact = 0;
  EvolutionBrackets& rule() { return rule_; }

 private:
  void result(TrialId trial, const json& event) {
    const Place* at = rule_.brackets().place_of(trial);
    const int epoch = event[2];
    if (!at || !rule_.brackets().runs(trial)) {
      REQUIRE(event[4] == "STOP");
    } else if (epoch < rule_.brackets().level(*at)) {
      REQUIRE(event[4] == "CONTINUE");
    } else {
      REQUIRE(event[4] == (at->bracket == 0 ? "PAUSE" : "STOP"));
      rule_.result(trial, sign_ * event[3].get<double>());
    }
  }

  struct Parent {
    std::size_t position;
    std::optional<std::size_t> any;  // an index among all known trials
    const Vector* x;
  };

  // All that can stand at a position of the pool: its trial, else any trial.
  std::vector<Parent> candidates(const Place& place) const {
    std::vector<Parent> all;
    const auto pool = rule_.pool(place);
    for (std::size_t position = 0; position < pool.size(); ++position) {
      if (pool[position]) {
        all.push_back({position, {}, &known_.at(*pool[position])});
        continue;
      }
      std::size_t index = 0;
      for (const auto& [trial, x] : known_) all.push_back({position, index++, &x});
    }
    return all;
  }

  void explain(const Place& place, const Vector& x) {
    const auto target = rule_.target(place);
    REQUIRE(target);
    const Vector& other = known_.at(*target);
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    const bool may_keep[] = {near(x[0], other[0]), near(x[1], other[1])};
    Script best;
    int best_quality = 0;
    const auto all = candidates(place);
    for (const Parent& b : all) {
      for (const Parent& c : all) {
        if (b.position == c.position) continue;
        const double step[] = {((*b.x)[0] - (*c.x)[0]) * 0.5, ((*b.x)[1] - (*c.x)[1]) * 0.5};
        for (const Parent& a : all) {
          if (a.position == b.position || a.position == c.position) continue;
          // 2: the mutant has this coordinate; 1: it lay outside; 0: it has another one.
          int quality[2];
          for (std::size_t d = 0; d < 2; ++d) {
            const double mutant = step[d] + (*a.x)[d];
            quality[d] = !(mutant >= 0 && mutant <= 1) ? 1 : near(mutant, x[d]) ? 2 : 0;
          }
          int found = 0;
          std::vector<bool> mask;
          if (quality[0] && quality[1]) {
            found = std::min(quality[0], quality[1]);
            mask = {true, true};
          }
          for (std::size_t d = 0; d < 2; ++d) {
            if (may_keep[1 - d] && quality[d] > found) {
              found = quality[d];
              mask = {d == 0, d == 1};
            }
          }
          if (found <= best_quality) continue;
          best_quality = found;
          best = {};
          best.mask = mask;
          const Parent* parents[] = {&a, &b, &c};
          for (std::size_t i = 0; i < 3; ++i) {
            best.three[i] = parents[i]->position;
            if (parents[i]->any) best.indices.push_back(*parents[i]->any);
          }
          for (std::size_t d = 0; d < 2; ++d) {
            if (quality[d] == 1) best.numbers.push_back(x[d]);
          }
        }
        if (best_quality == 2) break;
      }
      if (best_quality == 2) break;
    }
    REQUIRE(best_quality > 0);
    const Vector child = rule_.offspring(place, best);
    REQUIRE(best.numbers.empty());
    REQUIRE(best.indices.empty());
    REQUIRE(child.size() == 2);
    for (std::size_t d = 0; d < 2; ++d) REQUIRE(near(child[d], x[d]));
    ++children;
    exact += best_quality == 2;
  }

  int max_t_;
  double sign_;
  EvolutionBrackets rule_;
  std::map<TrialId, Vector> known_;
};

TEST_CASE(
    "evolution: jobs, decisions, parents, targets and selections are Syne Tune's in its traces") {
  for (const auto& path : traces("syne_dehb_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    Replay replay(trace);
    std::size_t count = 0;
    for (const json& event : trace["events"]) {
      CAPTURE(count, event.dump());
      replay.event(event);
      ++count;
    }
    CHECK(replay.children > 100);
    // A mutant's coordinate lies outside with a probability of about 1/6.
    CHECK(replay.exact > 0.72 * replay.children);
  }
}

TEST_CASE("evolution: saved and loaded within a trace, the rest is the same") {
  const auto path = traces("syne_dehb_")[0];
  const json trace = read_trace(path);
  EvolutionBrackets rule = Replay::make(trace);
  EvolutionBrackets other = Replay::make(trace);
  std::size_t count = 0;
  for (const json& event : trace["events"]) {
    for (EvolutionBrackets* one : {&rule, &other}) {
      const TrialId trial = event[1];
      if (event[0] == "result") {
        const Place* at = one->brackets().place_of(trial);
        if (event[2].get<int>() < one->brackets().level(*at)) continue;
        one->result(trial, -event[3].get<double>());
      } else {
        const auto job = one->take(true);
        one->begin(trial, *job, {0.25, double(trial) / 1000});
      }
    }
    if (++count % 50 == 0) {
      EvolutionBrackets fresh = Replay::make(trace);
      REQUIRE(fresh.load(parse_json(dump_json(other.save())).value()));
      other = fresh;
    }
  }
  CHECK(dump_json(rule.save()) == dump_json(other.save()));
}

// Rungs of 4 and 2 at 1 and 3; then of 2 at 3.
EvolutionBrackets small(std::vector<std::size_t> widths = {1, 1}) {
  return {{{4, 1}, {2, 3}}, 2, std::move(widths), 0.5};
}

// The first bracket is over: 0, 1, 2, 3 with losses 0 to 3 at level 1; 0 and 1 at level 3.
EvolutionBrackets second_bracket() {
  EvolutionBrackets rule = small();
  for (TrialId trial = 0; trial < 4; ++trial) {
    const auto job = rule.take(true);
    CHECK(job->kind == Kind::fresh);
    rule.begin(trial, *job, {0.25 * double(trial), 0.5});
  }
  for (TrialId trial = 0; trial < 4; ++trial) rule.result(trial, double(trial));
  for (TrialId trial = 0; trial < 2; ++trial) {
    const auto job = rule.take(true);
    CHECK(job->kind == Kind::go_on);
    CHECK(job->trial == trial);
    rule.begin(trial, *job, {});
  }
  for (TrialId trial = 0; trial < 2; ++trial) rule.result(trial, 10 + double(trial));
  return rule;
}

TEST_CASE("evolution: a child has some parameters of the mutant, and the others of its target") {
  EvolutionBrackets rule = second_bracket();
  const auto job = rule.take(true);
  REQUIRE(job);
  CHECK(job->kind == Kind::evolve);
  CHECK(job->place == Place{1, 0, 0});
  CHECK(rule.target(job->place) == 0);
  // Two stand in the parent rung: those who have completed level 3 join them, then level 1.
  const auto pool = rule.pool(job->place);
  REQUIRE(pool.size() == 4);
  CHECK(pool[0] == 0);
  CHECK(pool[1] == 1);
  CHECK(pool[2] == 0);
  CHECK(pool[3] == 1);
  Script draws;
  draws.three = {1, 3, 0};  // 0.25 + (0.25 - 0) / 2
  draws.mask = {true, false};
  CHECK(rule.offspring(job->place, draws) == Vector{0.375, 0.5});
  draws.three = {0, 2, 1};  // 0 + (0 - 0.25) / 2 is outside
  draws.numbers = {0.875};
  draws.mask = {true, true};
  CHECK(rule.offspring(job->place, draws) == Vector{0.875, 0.5});
}

TEST_CASE("evolution: the coordinates of one parameter stay together") {
  EvolutionBrackets rule = small({3, 1});
  for (TrialId trial = 0; trial < 4; ++trial) {
    rule.begin(trial, *rule.take(true),
               {double(trial == 0), double(trial == 1), double(trial > 1), 0.5});
  }
  for (TrialId trial = 0; trial < 4; ++trial) rule.result(trial, double(trial));
  for (int i = 0; i < 2; ++i) {
    const auto job = rule.take(true);
    rule.begin(job->trial, *job, {});
  }
  rule.result(0, 0);
  rule.result(1, 0);
  const auto job = rule.take(true);
  Script draws;
  draws.three = {1, 3, 2};
  draws.numbers = {0.25, 0.75};
  draws.mask = {true, false};
  // Of trial 1 and half the difference of 1 and 0: (-0.5, 1.5, 0), the first two drawn anew.
  CHECK(rule.offspring(job->place, draws) == Vector{0.25, 0.75, 0, 0.5});
}

TEST_CASE("evolution: a child stands in the slot only if it is better than its target") {
  EvolutionBrackets rule = second_bracket();
  const auto job = rule.take(true);
  rule.begin(7, *job, {0.1, 0.1});
  const auto [loss, stands] =
      GENERATE(table<double, TrialId>({{9.5, 7}, {10, 0}, {11, 0}, {NAN, 0}}));
  rule.result(7, loss);
  const auto one = rule.brackets().standing(job->place);
  REQUIRE(one);
  CHECK(one->trial == stands);
  CHECK(one->loss == (stands == 7 ? loss : 10));
}

TEST_CASE(
    "DEHB: without three parents a child is random, without any target it has one at random") {
  EvolutionBrackets rule = second_bracket();
  for (TrialId trial = 7; trial < 9; ++trial) rule.begin(trial, *rule.take(true), {0.1, 0.1});
  // A new cycle: its first rung has the same four as targets.
  const auto job = rule.take(true);
  CHECK(job->place == Place{2, 0, 0});
  CHECK(job->kind == Kind::evolve);
  CHECK(rule.target(job->place) == 0);
  CHECK(rule.pool(job->place) == std::vector<std::optional<TrialId>>{0, 1, 2, 3});

  EvolutionBrackets failed = small();
  for (TrialId trial = 0; trial < 4; ++trial) failed.begin(trial, *failed.take(true), {0.5, 0.5});
  for (TrialId trial = 0; trial < 4; ++trial) failed.result(trial, NAN);
  const auto fresh = failed.take(true);
  CHECK(fresh->kind == Kind::fresh);  // nobody stands at level 3
  Script draws;
  draws.numbers = {0.125, 0.875};
  draws.indices = {2};
  draws.mask = {true, false};
  CHECK(failed.offspring(fresh->place, draws) == Vector{0.125, 0.5});
}

TEST_CASE("evolution: what has not begun after all is forgotten") {
  EvolutionBrackets rule = second_bracket();
  const auto job = rule.take(true);
  rule.begin(7, *job, {0.1, 0.1});
  const json before = rule.save();
  rule.take_back(7);
  CHECK(rule.take(true)->place == job->place);
  rule.begin(7, *job, {0.1, 0.1});
  CHECK(dump_json(rule.save()) == dump_json(before));
}

}  // namespace attune::sync_brackets_evolution_test
