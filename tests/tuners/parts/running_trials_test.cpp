#include "tuners/parts/running_trials.h"

#include <catch2/catch.hpp>
#include <vector>

#include "space/parse.h"

namespace attune::running_trials_test {

// What a model sees, and how often one of it was copied or moved.
struct Counted {
  double x = 0;
  int* moves = nullptr;

  Counted(double value, int* count) : x(value), moves(count) {}
  Counted(const Counted& other) : x(other.x), moves(other.moves) { ++*moves; }
  Counted& operator=(const Counted& other) {
    x = other.x;
    moves = other.moves;
    ++*moves;
    return *this;
  }
};

// The same as a list that is searched.
struct Listed {
  std::vector<std::pair<TrialId, double>> trials;

  void start(TrialId id, double x) {
    finish(id);
    trials.emplace_back(id, x);
  }
  void finish(TrialId id) {
    std::erase_if(trials, [id](const auto& trial) { return trial.first == id; });
  }
  std::vector<std::pair<TrialId, double>> newest(std::size_t most) const {
    return {trials.end() - static_cast<std::ptrdiff_t>(std::min(most, trials.size())),
            trials.end()};
  }
  std::vector<std::pair<TrialId, double>> both_ends(std::size_t most) const {
    auto some = trials;
    if (most < some.size()) {
      const auto old = some.begin() + static_cast<std::ptrdiff_t>(most / 2);
      some.erase(old, some.end() - static_cast<std::ptrdiff_t>(most - most / 2));
    }
    return some;
  }
};

constexpr auto dereferenced = [](const auto* trial) -> const auto& { return *trial; };

std::vector<std::pair<TrialId, double>> pairs(auto&& trials) {
  std::vector<std::pair<TrialId, double>> all;
  for (const auto& trial : trials) all.emplace_back(trial.id, trial.encoded);
  return all;
}

TEST_CASE("running trials: one that ends moves none of the others") {
  int moves = 0;
  RunningTrials<Counted> running;
  for (TrialId id = 0; id < 1000; ++id) {
    running.start(id, {{1.0}}, Counted(static_cast<double>(id), &moves));
  }
  moves = 0;
  for (TrialId id = 0; id < 1000; id += 2) running.finish(id);
  running.finish(5000);
  CHECK(moves == 0);
  CHECK(running.size() == 500);
}

TEST_CASE("running trials: by age, whatever starts, ends and starts again") {
  RunningTrials<double> running;
  Listed listed;
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    const auto id = static_cast<TrialId>(rng.index(60)) - 5;
    if (rng.index(3) == 0) {
      running.finish(id);
      listed.finish(id);
    } else {
      const double x = rng.uniform();
      running.start(id, {{x}}, x);
      listed.start(id, x);
    }
    REQUIRE(running.size() == listed.trials.size());
    REQUIRE(pairs(running.all()) == listed.trials);
    for (const std::size_t most : {0u, 1u, 7u, 30u, 100u}) {
      REQUIRE(pairs(running.newest(most)) == listed.newest(most));
      REQUIRE(pairs(running.both_ends(most) | std::views::transform(dereferenced)) ==
              listed.both_ends(most));
    }
  }
}

TEST_CASE("running trials: saved and loaded they are as old as before") {
  const Space space =
      parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]}})").value()).value();
  RunningTrials<double> running;
  for (const TrialId id : {7, 3, 9, 1}) {
    const double x = static_cast<double>(id) / 10;
    running.start(id, {{x}}, x);
  }
  running.finish(9);
  running.start(3, {{0.5}}, 0.5);
  const auto encode = [](const Point& point) { return point.values[0]; };
  RunningTrials<double> loaded;
  REQUIRE(loaded.load(space, running.save(), encode));
  CHECK(pairs(loaded.all()) == pairs(running.all()));
  CHECK(dump_json(loaded.save()) == dump_json(running.save()));

  // All or nothing.
  CHECK_FALSE(loaded.load(space, json::array({{{"trial", 1}}}), encode));
  CHECK(pairs(loaded.all()) == pairs(running.all()));
}

}  // namespace attune::running_trials_test
