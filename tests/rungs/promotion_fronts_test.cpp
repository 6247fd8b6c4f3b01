// Several objectives and limits at the rungs of PromotionRungs.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "math/pareto.h"
#include "rungs/promotion.h"
#include "tests/support/through_text.h"

namespace attune::promotion_fronts_test {

PromotionRungs rungs_of(std::size_t objectives = 2) {
  return PromotionRungs({.levels = {1, 3}, .max_t = 9, .objectives = objectives});
}

std::vector<TrialId> promoted(PromotionRungs& rungs) {
  std::vector<TrialId> trials;
  while (const auto promotion = rungs.promote(9)) trials.push_back(promotion->trial);
  return trials;
}

void restart(PromotionRungs& rungs, std::size_t objectives) {
  const json state = through_text(rungs.save());
  rungs = rungs_of(objectives);
  REQUIRE(rungs.load(state));
  REQUIRE(dump_json(rungs.save()) == dump_json(state));
}

TEST_CASE("promotion: several objectives, where the first front goes on, the ends of it first") {
  PromotionRungs rungs = rungs_of();
  rungs.enter(0, 0, {.values = {2, 2}});  // dominated by 2
  rungs.enter(0, 1, {.values = {0, 3}});  // an end
  rungs.enter(0, 2, {.values = {1, 1}});  // the middle
  rungs.enter(0, 3, {.values = {3, 0}});  // the other end
  rungs.enter(0, 4, {.values = {3, 3}});  // dominated by all but 0
  CHECK(rungs.standing(0, 2).rank == 3);
  CHECK(rungs.standing(0, 0).rank == 4);
  CHECK(rungs.standing(0, 4).rank == 5);
  // A third of five ranks: the places 0 and 1.
  CHECK(promoted(rungs) == std::vector<TrialId>{1, 3});
  restart(rungs, 2);
  CHECK(promoted(rungs).empty());
  rungs.put_back(0, 3);
  restart(rungs, 2);
  CHECK(promoted(rungs) == std::vector<TrialId>{3});
}

// Who is promoted is compared with the order of all results, computed from nothing.
TEST_CASE("promotion: several objectives at random, as all results anew say") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Rng rng(seed);
    const std::size_t objectives = 2 + rng.index(2);
    CAPTURE(seed, objectives);
    PromotionRungs rungs = rungs_of(objectives);
    std::vector<double> rows, broken;
    std::vector<TrialId> kept;
    std::set<TrialId> gone;
    for (TrialId trial = 0; trial < 150; ++trial) {
      std::vector<double> values;
      for (std::size_t i = 0; i < objectives; ++i) values.push_back(double(rng.index(12)));
      const bool breaks = rng.index(6) == 0;
      if (breaks) {
        broken.push_back(1);
      } else {
        rows.insert(rows.end(), values.begin(), values.end());
        kept.push_back(trial);
      }
      rungs.enter(0, trial, {.value = {breaks ? 1.0 : 0.0, 0}, .values = values});
      if (trial % 40 == 17) restart(rungs, objectives);
      if (rng.index(3) > 0 || trial == 0) continue;

      std::vector<TrialId> expected;
      const double most = double(kept.size() + broken.size() - 1) / 3;
      double rank = 0;
      for (const std::size_t i : crowded_order(rows, objectives)) {
        if (rank++ <= most + 1e-9 && gone.insert(kept[i]).second) expected.push_back(kept[i]);
      }
      REQUIRE(promoted(rungs) == (kept.empty() ? promoted(rungs) : expected));
    }
    CHECK(gone.size() > 30);
  }
}

TEST_CASE("promotion: of very many results with several objectives the newest count") {
  PromotionRungs rungs = rungs_of();
  const auto most = static_cast<TrialId>(PromotionRungs::kCompared);
  rungs.enter(0, 0, {.values = {-1, -1}});  // the best
  for (TrialId trial = 1; trial <= most; ++trial) {
    rungs.enter(0, trial, {.values = {double(trial), double(trial)}});
  }
  CHECK(rungs.standing(0, 1).size == PromotionRungs::kCompared);
  CHECK(rungs.standing(0, 1).rank == 1);
  restart(rungs, 2);
  rungs.put_back(0, 0);  // it is compared no more
  CHECK(rungs.promote(9)->trial == 1);
  CHECK_FALSE(rungs.enter(0, 0, {.values = {0, 0}}));  // but it was there
  restart(rungs, 2);
}

TEST_CASE("promotion: who breaks a limit goes on only where nobody keeps all") {
  PromotionRungs rungs = rungs_of();
  for (TrialId trial = 0; trial < 4; ++trial) {
    rungs.enter(0, trial, {.value = {double(4 - trial), 0}, .values = {0, 0}});
  }
  CHECK_FALSE(rungs.any_kept(0));
  CHECK(promoted(rungs) == std::vector<TrialId>{3, 2});
  rungs.enter(0, 4, {.values = {9, 9}});
  for (TrialId trial = 5; trial < 40; ++trial) {
    rungs.enter(0, trial, {.value = {double(trial), 0}, .values = {0, 0}});
  }
  CHECK(rungs.any_kept(0));
  CHECK(promoted(rungs) == std::vector<TrialId>{4});
}

TEST_CASE("promotion: damaged states of several objectives are errors and change nothing") {
  PromotionRungs rungs = rungs_of();
  for (TrialId trial = 0; trial < 5; ++trial) {
    rungs.enter(0, trial, {.value = {trial == 2 ? 1.0 : 0.0, 0}, .values = {double(trial), 1}});
  }
  const json good = rungs.save();
  const auto numbers = [&](const char* key) { return attune::numbers(good[0][key]).value(); };
  const auto refused = [&](const char* key, const std::vector<double>& other) {
    json damaged = good;
    damaged[0][key] = save_numbers(other);
    CAPTURE(key);
    CHECK_FALSE(rungs.load(damaged));
    CHECK(dump_json(rungs.save()) == dump_json(good));
  };
  auto newest = numbers("newest"), values = numbers("values");
  REQUIRE(newest == std::vector<double>{0, 1, 3, 4});
  refused("newest", {0, 1, 3});
  refused("newest", {0, 1, 3, 3});
  refused("newest", {0, 1, 3, 2});  // which breaks a limit
  refused("newest", {0, 1, 3, 7});
  values[1] = NAN;
  refused("values", values);
  values.pop_back();
  refused("values", values);
  PromotionRungs other = rungs_of(1);
  CHECK_FALSE(other.load(good));
}

}  // namespace attune::promotion_fronts_test
