#include "tuners/parts/search_record.h"

#include <catch2/catch.hpp>
#include <set>

#include "space/constraint.h"
#include "space/parse.h"

namespace attune::search_record_test {

Space space_of(const char* text) { return parse_space(parse_json(text).value()).value(); }

Space mixed() {
  return space_of(R"({"x": {"_type": "uniform", "_value": [0, 1]},
                      "c": {"_type": "choice", "_value": ["a", "b", "c"]}})");
}

Outcome outcome(TrialId id, Point point, std::optional<double> loss, End end = End::completed) {
  return {.trial = id, .point = std::move(point), .loss = loss, .end = end};
}

// One of each kind of result, and two trials that run.
SearchRecord filled() {
  SearchRecord record(mixed());
  record.propose(1, {{0.1, 0}});
  record.tell(std::vector{outcome(1, {{0.1, 0}}, 3),
                          outcome(kImportedTrial, {{0.2, 1}}, 4, End::imported),
                          outcome(5, {{0.3, 1}}, std::nullopt, End::stopped),
                          outcome(6, {{0.4, 1}}, std::nullopt, End::failed)});
  record.propose(2, {{0.6, 2}});
  record.adopt(3, {{0.7, 0}});
  return record;
}

TEST_CASE("search record: results have kinds and what runs is known until it ends") {
  SearchRecord record = filled();
  using enum History::Kind;
  REQUIRE(record.history().size() == 4);
  CHECK(record.history().usable() == 2);
  CHECK(record.history().kind(0) == usable);
  CHECK(record.history().kind(1) == usable);
  CHECK(record.history().kind(2) == stopped);
  CHECK(record.history().kind(3) == useless);
  CHECK(record.history().loss(1) == 4);
  CHECK(record.point(1) == Point{{0.2, 1}});

  REQUIRE(record.running(10).size() == 2);
  CHECK(record.running(10)[0][0] == 0.6);
  REQUIRE(record.running(1).size() == 1);
  CHECK(record.running(1)[0][0] == 0.7);  // the newest
  record.withdraw(2);
  CHECK(record.running(10).size() == 1);
  record.adopt(3, {{0.8, 0}});  // again: of one trial there is one point
  REQUIRE(record.running(10).size() == 1);
  CHECK(record.running(10)[0][0] == 0.8);
}

TEST_CASE("search record: running trials count when half of the results wanted are there") {
  CHECK(enough_results(10, 0, 10));
  CHECK_FALSE(enough_results(9, 0, 10));
  CHECK(enough_results(9, 1, 10));
  CHECK(enough_results(5, 5, 10));
  CHECK_FALSE(enough_results(5, 4, 10));
  CHECK_FALSE(enough_results(4, 64, 10));
  CHECK_FALSE(enough_results(0, 64, 0));
  CHECK(enough_results(1, 0, 0));

  const SearchRecord record = filled();  // two results, two that run
  CHECK(record.enough_results(4));
  CHECK_FALSE(record.enough_results(5));
}

TEST_CASE("search record: nothing that was proposed or told or adopted is chosen again") {
  const SearchRecord record = filled();
  Rng rng(1);
  std::vector<Found> found;
  for (const double x : {0.1, 0.6, 0.7, 0.9, 0.95}) {
    found.push_back({.point = {{x, x == 0.6 ? 2.0 : 0.0}}, .value = -x});
  }
  CHECK(record.first_unseen(found, rng) == Point{{0.9, 0}});
  Rng same(1), other(1);
  CHECK(record.first_unseen(std::span(found).first(3), same) == record.draw(other));
}

TEST_CASE("search record: draws keep to the constraints and to what is new") {
  const Space space = space_of(R"({"c": {"_type": "choice", "_value": [1, 2, 3, 4]}})");
  SearchRecord record(space);
  record.adopt(1, {{0}});
  record.adopt(2, {{2}});
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    const double value = record.draw(rng).values[0];
    CHECK((value == 1 || value == 3));
  }
  CHECK(std::holds_alternative<Proposal>(record.propose(3, {{0}})));  // another one
  CHECK(std::holds_alternative<Proposal>(record.propose(4, {{0}})));
  CHECK(std::holds_alternative<Exhausted>(record.propose(5, {{0}})));
}

TEST_CASE("search record: a branch without new points does not hold the draws back") {
  Space space = space_of(R"({"algo": {"_type": "choice", "_value": [{"_name": "none"},
      {"_name": "svm", "a": {"_type": "uniform", "_value": [0, 1]}}]}})");
  SECTION("all of its points are known") {
    SearchRecord record(space);
    record.adopt(1, {{0, Point::kInactive}});
    record.adopt(2, {{1, 0.5}});
    Rng rng(1);
    for (int i = 0; i < 20; ++i) CHECK(record.draw(rng).values[0] == 1);
  }
  SECTION("its points break a constraint") {
    REQUIRE(set_constraints(space, {"a > 2"}));
    Rng rng(1);
    for (int i = 0; i < 20; ++i) CHECK(SearchRecord(space).draw(rng).values[0] == 0);
  }
}

TEST_CASE("search record: the first point has its numbers in the middle") {
  const Space space = space_of(R"({"x": {"_type": "uniform", "_value": [0, 8]},
                                   "lr": {"_type": "loguniform", "_value": [0.0001, 1]},
                                   "n": {"_type": "randint", "_value": [0, 11]},
                                   "c": {"_type": "choice", "_value": ["a", "b", "c"]}})");
  std::set<double> categories;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SearchRecord record(space);
    Rng rng(seed);
    const Point first = record.early(rng);
    CHECK(first.values[0] == 4);
    CHECK(first.values[1] == Approx(0.01));
    CHECK(first.values[2] == 5);
    categories.insert(first.values[3]);
    record.propose(1, first);
    CHECK(record.early(rng).values[0] != 4);
  }
  CHECK(categories.size() == 3);
}

TEST_CASE("search record: the middle comes behind what others begin with") {
  SearchRecord record(mixed());
  record.begin_behind(1);
  Rng rng(1);
  CHECK(record.early(rng).values[0] != 0.5);
  record.adopt(1, {{0.1, 1}});
  SearchRecord loaded(mixed());
  REQUIRE(loaded.load(record.save()));
  CHECK(loaded.early(rng).values[0] == 0.5);
  record.adopt(2, {{0.2, 1}});
  CHECK(record.early(rng).values[0] != 0.5);
  json state = record.save();
  state["starts"] = -1;
  CHECK_FALSE(loaded.load(state));
}

TEST_CASE("search record: a first point that was lost in a crash is not drawn again") {
  SearchRecord record(mixed());
  record.skip_first();
  SearchRecord loaded(mixed());
  REQUIRE(loaded.load(record.save()));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Rng rng(seed), same(seed);
    const Point drawn = record.early(rng);
    CHECK(drawn.values[0] != 0.5);
    CHECK(loaded.early(same) == drawn);
  }
}

TEST_CASE("search record: the first point is a random one where the middle breaks a constraint") {
  Space space = space_of(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  REQUIRE(set_constraints(space, {"x > 0.7"}));
  Rng rng(1);
  for (int i = 0; i < 20; ++i) CHECK(SearchRecord(space).early(rng).values[0] > 0.7);
}

TEST_CASE("search record: saved and loaded it is the same") {
  const SearchRecord record = filled();
  SearchRecord other(mixed());
  other.adopt(9, {{0.5, 1}});
  const auto state = parse_json(dump_json(record.save()));
  REQUIRE(state);
  REQUIRE(other.load(*state));
  CHECK(dump_json(other.save()) == dump_json(record.save()));
  CHECK(other.running(10).size() == 2);
  Rng rng(1);
  CHECK(other.first_unseen(std::vector<Found>{{{{0.6, 2}}, 0}, {{{0.5, 1}}, 0}}, rng) ==
        Point{{0.5, 1}});
}

TEST_CASE("search record: damaged states are declined and change nothing") {
  SearchRecord record = filled();
  const json good = record.save();
  REQUIRE(record.load(good));
  const json infinite = "AAAAAAAA8H8AAAAAAADwfw==", ones_and_halves = "AAAAAAAA8D8AAAAAAADgPw==";
  for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{
           {"values", infinite},
           {"values", 3},
           {"kinds", ones_and_halves},
           {"kinds", infinite},
           {"kinds", "AAAAAAAA8D8="},
           {"points", "AAAAAAAA8D8="},
           {"dedup", json::array()},
           {"running", 7},
           {"running", {{{"trial", 2}}}},
           {"running", {{{"trial", "x"}, {"point", good["running"][0]["point"]}}}},
           {"running", {3}}}) {
    json state = good;
    state[key] = value;
    CAPTURE(key, dump_json(value));
    CHECK_FALSE(record.load(state));
  }
  // Two results, so that the numbers' counts fit and only they are wrong.
  SearchRecord two(mixed());
  two.tell(std::vector{outcome(1, {{0.1, 0}}, 3), outcome(2, {{0.2, 0}}, 3)});
  for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{
           {"values", infinite}, {"kinds", ones_and_halves}, {"kinds", infinite}}) {
    json state = two.save();
    REQUIRE(two.load(state));
    state[key] = value;
    CHECK_FALSE(two.load(state));
  }
  CHECK(dump_json(record.save()) == dump_json(good));
}

}  // namespace attune::search_record_test
