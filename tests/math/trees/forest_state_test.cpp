// Forest saved and loaded.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"
#include "math/trees/forest.h"

namespace attune::forest_state_test {

using Numbers = std::vector<double>;

// A position, few categories, more than fit into a word, a position that may be inactive.
const std::vector<std::size_t> kMixed = {0, 3, 70, 0};
const ForestSettings kSettings = {.trees = 5};

Numbers random_row(Rng& rng) {
  const double maybe = rng.index(3) == 0 ? NAN : rng.uniform();
  return {rng.uniform(), static_cast<double>(rng.index(3)), static_cast<double>(rng.index(70)),
          maybe};
}

Forest fitted(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  Numbers rows, targets;
  for (std::size_t i = 0; i < count; ++i) {
    const Numbers row = random_row(rng);
    rows.insert(rows.end(), row.begin(), row.end());
    targets.push_back(row[0] + (row[1] == 1 ? 1 : 0) + 0.01 * row[2] + (row[3] > 0.5 ? 0.5 : 0));
  }
  Forest forest(kMixed, kSettings);
  forest.fit(rows, targets, rng);
  return forest;
}

Numbers answers(const Forest& forest) {
  Rng rng(9);
  Numbers all;
  for (int i = 0; i < 200; ++i) {
    const auto [mean, variance] = forest.predict(random_row(rng));
    all.insert(all.end(), {mean, variance});
  }
  return all;
}

Numbers saved(const Forest& forest) { return numbers(forest.save()).value(); }

TEST_CASE("forest: saved and loaded it predicts the same bits") {
  Forest other = fitted(30, 99);
  for (const std::size_t count : {1u, 2u, 40u, 300u}) {
    const Forest forest = fitted(count, count);
    REQUIRE(other.load(parse_json(dump_json(forest.save())).value()));
    CHECK(other.nodes() == forest.nodes());
    CHECK(answers(other) == answers(forest));
    CHECK(other.save() == forest.save());
  }
  REQUIRE(other.load(Forest(kMixed, kSettings).save()));
  CHECK(other.empty());
  CHECK(other.nodes() == 0);
}

TEST_CASE("forest: without dimensions it is saved too") {
  Forest forest({}, kSettings), other({}, kSettings);
  Rng rng(1);
  forest.fit({}, Numbers{1, 3}, rng);
  REQUIRE(other.load(forest.save()));
  CHECK(other.predict(Numbers{}).mean == forest.predict(Numbers{}).mean);
}

TEST_CASE("forest: a split at infinity divides what is active from what is not") {
  Forest forest({0}, {.trees = 1, .bootstrap = false}), other = forest;
  Rng rng(1);
  forest.fit(Numbers{NAN, 0.2}, Numbers{7, 0}, rng);
  REQUIRE(other.load(forest.save()));
  CHECK(other.predict(Numbers{NAN}).mean == 7);
  CHECK(other.predict(Numbers{1e300}).mean == 0);
}

TEST_CASE("forest: a state of other dimensions or another number of trees is declined") {
  const json state = fitted(50, 1).save();
  CHECK_FALSE(Forest({0, 3, 70}, kSettings).load(state));
  CHECK_FALSE(Forest({0, 3, 6, 0}, kSettings).load(state));
  CHECK_FALSE(Forest(kMixed, {.trees = 4}).load(state));
  CHECK_FALSE(Forest(kMixed, {.trees = 6}).load(state));
  CHECK(Forest(kMixed, kSettings).load(state));
}

TEST_CASE("forest: a damaged state is declined and changes nothing") {
  Forest forest({0, 70}, {.trees = 1});
  const Numbers leaf = {0, 2, 0.5};
  // A cut of the position at 0.5 between a leaf and a set of categories between two leaves.
  const Numbers good = {1, 0.5, 0, 2, 0.5, 4, 1, 2, 3, 0, 3, 0.5, 0, 4, 0.5};
  REQUIRE(forest.load(save_numbers(good)));
  CHECK(forest.nodes() == 5);
  CHECK(forest.predict(Numbers{0.4, 0}).mean == 2);
  CHECK(forest.predict(Numbers{0.6, 0}).mean == 3);
  CHECK(forest.predict(Numbers{0.6, 64}).mean == 3);
  CHECK(forest.predict(Numbers{0.6, 1}).mean == 4);
  CHECK(forest.predict(Numbers{0.6, NAN}).mean == 3);
  const auto declined = [&](const json& state) {
    CAPTURE(dump_json(state));
    CHECK_FALSE(forest.load(state));
    CHECK(saved(forest) == good);
  };
  for (std::size_t n = 1; n < good.size(); ++n) {
    declined(save_numbers(std::span(good).first(n)));
  }
  const auto changed = [&](std::size_t at, std::initializer_list<double> values) {
    for (const double value : values) {
      Numbers bad = good;
      bad[at] = value;
      declined(save_numbers(bad));
    }
  };
  changed(0, {-1, 0, 5, 0.5, NAN, HUGE_VAL, 1e300});  // dimensions
  changed(1, {NAN});                                  // the cut
  changed(3, {NAN, HUGE_VAL, -HUGE_VAL, 1e101});      // a mean
  changed(4, {NAN, HUGE_VAL, -1});                    // a variance
  changed(7, {NAN, HUGE_VAL, -1, 0.5, 0x1p32});       // a word of a set
  Numbers longer = good;
  longer.insert(longer.end(), leaf.begin(), leaf.end());
  declined(save_numbers(longer));  // a tree too many
  for (const json& bad : {json(), json(3), json("x"), json::array(), json::object()}) declined(bad);
}

TEST_CASE("forest: any numbers are declined or are a forest") {
  Rng rng(2);
  int accepted = 0;
  for (int k = 0; k < 20000; ++k) {
    Numbers stream(rng.index(12));
    for (double& x : stream) x = static_cast<double>(rng.index(6));
    Forest forest({0, 2}, {.trees = 1});
    if (!forest.load(save_numbers(stream)) || forest.empty()) continue;
    ++accepted;
    CHECK(saved(forest) == stream);
    CHECK(std::isfinite(forest.predict(Numbers{2.5, 1}).mean));
  }
  CHECK(accepted > 100);
}

}  // namespace attune::forest_state_test
