#include "wire/stranger_gate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>

namespace attune::stranger_gate_test {

TEST_CASE("stranger gate: everybody gets in while half of the places are free") {
  StrangerGate gate({.all = 8, .each = 6}, Rng(1));
  for (const char* from : {"a", "b", "a", "b"}) {
    CHECK(!gate.crowded());
    CHECK(gate.chance(from) == 1);
    REQUIRE(gate.admit(from));
  }
  CHECK(gate.crowded());
  CHECK(!gate.crowded("a"));
  CHECK(gate.chance("c") == 1);
  REQUIRE(gate.admit("c"));
  CHECK(gate.chance("c") == 0.75);
}

TEST_CASE("stranger gate: one address has its own limit and others do not notice") {
  StrangerGate gate({.all = 64, .each = 4}, Rng(1));
  int in = 0;
  for (int i = 0; i < 1000; ++i) in += gate.admit("flood") ? 1 : 0;
  CHECK(in == 4);
  CHECK(gate.chance("flood") == 0);
  CHECK(gate.crowded("flood"));
  CHECK(!gate.crowded("honest"));
  CHECK(gate.chance("honest") == 1);
  gate.leave("flood");
  CHECK(gate.chance("flood") == 0.5);
}

TEST_CASE("stranger gate: many addresses together have a limit too") {
  StrangerGate gate({.all = 10, .each = 4}, Rng(1));
  int in = 0;
  for (int i = 0; i < 1000; ++i) in += gate.admit(std::to_string(i)) ? 1 : 0;
  CHECK(in == 10);
  for (int i = 0; i < 10; ++i) CHECK(gate.chance("x" + std::to_string(i)) == 0);
}

// Who stays as long as they may, one each of so many steps; an honest one among them now and then,
// who comes once. How often it got in, and the mean chance that the flood leaves, by the maths: as
// many get in as places become free.
struct Flood {
  double measured, expected;
};
Flood flood(std::size_t each, std::size_t steps_of_stay, std::uint64_t seed) {
  StrangerGate gate({.all = 4 * each, .each = each}, Rng(seed));
  std::deque<std::size_t> leaves;  // when
  int honest = 0, tries = 0;
  constexpr std::size_t kSteps = 400'000;
  for (std::size_t step = 0; step < kSteps; ++step) {
    while (!leaves.empty() && leaves.front() <= step) {
      leaves.pop_front();
      gate.leave("a");
    }
    if (!gate.admit("a")) {
      tries += step % 10 == 7 ? 1 : 0;  // this one was honest
      continue;
    }
    leaves.push_back(step + steps_of_stay);
    if (step % 10 != 7) continue;
    ++tries;
    ++honest;
  }
  // n places are taken when n = p * stay, with p = (each - n) / (each / 2).
  const double half = static_cast<double>(each) / 2;
  const double stay = static_cast<double>(steps_of_stay);
  return {static_cast<double>(honest) / tries, 2 * half / (half + stay)};
}

// 6,000 in a second, who may stay 250 ms each while it is crowded; all from the address of the
// honest one, which is the worst case. Who got in is never sent away for others.
TEST_CASE("stranger gate: in a flood an honest stranger has the chance that the maths gives") {
  const auto [each, stay] = GENERATE(
      table<std::size_t, std::size_t>({{128, 1500}, {128, 600}, {16, 1500}, {64, 200}, {64, 40}}));
  const Flood seen = flood(each, stay, 42);
  INFO(each << " places, " << stay << " steps");
  CHECK(seen.measured == Approx(std::min(1.0, seen.expected)).epsilon(0.08));
}

}  // namespace attune::stranger_gate_test
