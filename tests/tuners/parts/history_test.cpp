#include "tuners/parts/history.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

namespace attune::history_test {

using Kind = History::Kind;

// A parabola along the first of two dimensions, from 0 to 1 in steps of 0.05.
History parabola() {
  History history(2);
  for (int i = 0; i <= 20; ++i) {
    const double x = 0.05 * i;
    history.add(std::vector{x, 0.5}, Kind::usable, std::pow(x - 0.3, 2));
  }
  return history;
}

std::vector<std::size_t> indices(const History& history) {
  std::vector<std::size_t> all(history.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The target of the last result of all, and the largest and least of the others.
struct Last {
  double target, worst, best;
};

Last last_target(const History& history, Failures failures = Failures::softened) {
  std::vector<double> values = targets(history, indices(history), Scale::standardised, 0, failures);
  const double target = values.back();
  values.pop_back();
  return {target, std::ranges::max(values), std::ranges::min(values)};
}

TEST_CASE("targets: a failure amid results counts about as they do") {
  History history = parabola();
  history.add(std::vector{0.31, 0.5}, Kind::useless, 0);
  const Last last = last_target(history);
  CHECK(last.target > last.best);
  CHECK(last.target - last.best < 0.05 * (last.worst - last.best));
  CHECK(last_target(history, Failures::worst).target == last.worst);
}

TEST_CASE("accidents: of failures amid results one and two are left out, and three are not") {
  History history = parabola();
  const auto kept = [&] { return without_accidents(history, indices(history)).size(); };
  history.add(std::vector{0.31, 0.5}, Kind::useless, 0);
  CHECK(kept() == 21);
  history.add(std::vector{0.311, 0.5}, Kind::useless, 0);
  CHECK(kept() == 21);
  history.add(std::vector{0.312, 0.5}, Kind::useless, 0);
  CHECK(kept() == 24);
}

TEST_CASE("accidents: a failure far from results is none, and stopped trials stay") {
  History history = parabola();
  history.add(std::vector{0.3, 1.0}, Kind::useless, 0);
  history.add(std::vector{0.3, 0.5}, Kind::stopped, 0);
  CHECK(without_accidents(history, indices(history)) == indices(history));
  CHECK(without_accidents(history, std::vector<std::size_t>{3, 21}).size() == 2);
}

TEST_CASE("targets: a failure far from results is nearly as bad as the worst") {
  History history = parabola();
  history.add(std::vector{0.3, 1.0}, Kind::useless, 0);
  const Last last = last_target(history);
  CHECK(last.target > last.best + 0.7 * (last.worst - last.best));
  CHECK(last.target <= last.worst);
}

TEST_CASE("targets: failures beside one another are worse than a single one") {
  History alone = parabola();
  alone.add(std::vector{0.3, 0.7}, Kind::useless, 0);
  History group = parabola();
  for (const double y : {0.71, 0.72, 0.73}) group.add(std::vector{0.3, y}, Kind::useless, 0);
  group.add(std::vector{0.3, 0.7}, Kind::useless, 0);
  CHECK(last_target(group).target > last_target(alone).target + 0.5);
}

TEST_CASE("targets: a parameter that is not active in one of two is as far as can be") {
  const auto target = [](double y) {
    History history = parabola();
    history.add(std::vector{0.3, y}, Kind::useless, 0);
    return last_target(history).target;
  };
  CHECK(target(NAN) > target(1.0));
}

TEST_CASE("targets: beside equal results a failure is as good as they are") {
  History history(1);
  for (const double x : {0.2, 0.2}) history.add(std::vector{x}, Kind::usable, 7);
  history.add(std::vector{0.9}, Kind::usable, 9);
  history.add(std::vector{0.2}, Kind::useless, 0);
  const std::vector<std::size_t> members = {0, 1, 2, 3};
  const auto all = targets(history, members, Scale::standardised);
  CHECK(all[3] == Approx(all[0]));
  CHECK(all[2] > all[0]);
  CHECK(targets(history, members, Scale::standardised, 0, Failures::worst)[3] == all[2]);
}

}  // namespace attune::history_test
