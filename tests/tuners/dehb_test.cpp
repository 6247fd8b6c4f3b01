#include "tests/tuners/bracket_world.h"

namespace attune {
extern const TunerEntry dehb_entry;
}

namespace attune::dehb_test {

using Words = std::vector<std::string>;

BracketWorld world(const json& more = {}, const std::string& space = {}) {
  json arguments = {{"resource_attr", "epoch"}, {"max_t", 3}};
  if (more.is_object()) arguments.update(more);
  if (space.empty()) return {dehb_entry, arguments};
  return {dehb_entry, arguments, space};
}

// The configurations are random, and do not matter here: tests/rungs/sync_brackets_evolution_test
// compares the recorded ones.
TEST_CASE("DEHB starts, resumes, pauses and completes what Syne Tune did in its traces") {
  int compared = 0;
  for (const auto& path : traces("syne_dehb_")) {
    CAPTURE(path);
    compared += replay_brackets(dehb_entry, read_trace(path), 1'000'000);
  }
  CHECK(compared >= 1000);
}

TEST_CASE("DEHB: saved and loaded within a trace, the rest is the same") {
  for (const auto& path : traces("syne_dehb_")) {
    CAPTURE(path);
    replay_brackets(dehb_entry, read_trace(path), 173);
  }
}

TEST_CASE("DEHB: the first bracket pauses, later trials are complete at their level") {
  BracketWorld w = world();
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.reported(0, 1, 3) == Words{"pause 0"});
  CHECK(w.report(1, 1, 1)[0].reason == "rung 1: 1 ranks 1 of 2 so far and waits for 1 more");
  const auto judged = w.report(2, 1, 2);
  REQUIRE(judged.size() == 4);
  for (int i = 0; i < 4; ++i)
    CHECK(BracketWorld::shorten(judged[i]) == Words{"stop 2", "drop 2", "stop 0", "drop 0"}[i]);
  CHECK(judged[2].reason == "rung 1: 3 ranks 3 of 3; the best 1 go on, cutoff 1");
  CHECK(w.asked() == "resume 1 3");
  CHECK(w.why == "rung 1: 1 ranks 1 of 3; the best 1 go on, cutoff 1: goes on to 3");
  CHECK(w.reported(1, 3, 1) == Words{"complete 1"});
  CHECK(w.asked() == "new 3");
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 1");  // the next cycle
  const auto decisions = w.report(6, 1, 5);
  REQUIRE(decisions.size() == 1);
  CHECK(BracketWorld::shorten(decisions[0]) == "complete 6");
  CHECK(decisions[0].reason == "epoch 1 of 1: ends with 5");
}

TEST_CASE("DEHB: children are better than random configurations") {
  BracketWorld w = world({{"max_t", 27}}, R"({"x": {"_type": "uniform", "_value": [0, 1]},
      "y": {"_type": "uniform", "_value": [0, 1]}, "c": {"_type": "choice", "_value": [1, 2, 3]}})");
  std::vector<double> losses;
  for (int i = 0; i < 600; ++i) {
    const Answer answer = w.ask();
    w.shorten(answer);
    const auto& proposal = std::get<Proposal>(answer);
    const auto& v = proposal.point.values;
    const double loss = std::pow(v[0] - 0.62, 2) + std::pow(v[1] - 0.28, 2) + (v[2] == 1 ? 0 : 1);
    w.report(proposal.resume.value_or(w.next - 1), *proposal.budget, loss);
    losses.push_back(loss);
  }
  const auto mean = [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += losses[i];
    return sum / double(to - from);
  };
  CHECK(mean(0, 27) > 0.6);  // random: 0.9 on average
  CHECK(mean(500, 600) < 0.3);
}

TEST_CASE("DEHB tries no configuration twice, and ends when a finite space is exhausted") {
  BracketWorld w = world({}, R"({"x": {"_type": "choice", "_value": [1, 2, 3]},
      "y": {"_type": "randint", "_value": [0, 5]}})");
  std::set<std::vector<double>> tried;
  bool exhausted = false;
  for (int i = 0; i < 40 && !exhausted; ++i) {
    const Answer answer = w.ask();
    const std::string word = w.shorten(answer);
    exhausted = word == "exhausted";
    REQUIRE(word != "not yet");
    if (exhausted) break;
    const auto& proposal = std::get<Proposal>(answer);
    if (!proposal.resume) REQUIRE(tried.insert(proposal.point.values).second);
    w.report(proposal.resume.value_or(w.next - 1), *proposal.budget, double(i % 4));
  }
  CHECK(exhausted);
  CHECK(tried.size() == 15);
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("DEHB: failed trials never block a rung") {
  BracketWorld w = world({{"max_t", 9}});
  std::vector<TrialId> running;
  Rng rng(5);
  for (int i = 0; i < 400; ++i) {
    const Answer answer = w.ask();
    w.shorten(answer);
    const auto* proposal = std::get_if<Proposal>(&answer);
    REQUIRE(proposal);  // somebody can always start
    running.push_back(proposal->resume.value_or(w.next - 1));
    if (running.size() < 4) continue;
    const auto one = running.begin() + static_cast<std::ptrdiff_t>(rng.index(4));
    switch (rng.index(4)) {
      case 0:
        w.end(*one, End::failed);
        break;
      case 1:
        w.end(*one, End::completed, rng.normal());
        break;
      default:
        w.report(*one, w.budgets[*one], i % 10 == 0 ? NAN : rng.normal());
    }
    running.erase(one);
    if (i % 23 == 0) w.restart();
  }
}

TEST_CASE("DEHB: a child that breaks a constraint is withdrawn, and its slot gets another one") {
  BracketWorld w = world();
  for (int i = 0; i < 3; ++i) w.asked();
  for (TrialId i = 0; i < 3; ++i) w.report(i, 1, double(i));
  w.asked();
  w.report(0, 3, 1);
  CHECK(w.asked() == "new 3");
  const Point first = w.points[w.next - 1];
  w.tuner->withdraw(w.next - 1);
  CHECK(w.asked() == "new 3");
  CHECK_FALSE(w.points[w.next - 1] == first);
}

TEST_CASE("DEHB: damaged states are errors and change nothing") {
  BracketWorld w = world();
  for (int i = 0; i < 3; ++i) w.asked();
  for (TrialId i = 0; i < 3; ++i) w.report(i, 1, double(i));
  w.asked();
  w.report(0, 3, 1);
  for (int i = 0; i < 3; ++i) w.asked();
  w.report(5, 1, 3);
  check_damaged_states(w);
}

}  // namespace attune::dehb_test
