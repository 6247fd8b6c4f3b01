// Promises that hold for every space, tried on random ones. The printed seed repeats a failure.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "space/dedup.h"
#include "space/parse.h"
#include "space/sample.h"
#include "space/unit_cube.h"
#include "tests/space/space_helpers.h"

namespace attune::properties_test {

constexpr int kSpaces = 150;

// Like ==, but reals without q may differ in the last digits.
bool nearly_equal(const Space& space, const Point& a, const Point& b) {
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    if (a.active(i) != b.active(i)) return false;
    if (!a.active(i) || a.values[i] == b.values[i]) continue;
    if (!is_continuous(space.params[i].domain)) return false;
    if (a.values[i] != Approx(b.values[i]).epsilon(1e-9).margin(1e-9)) return false;
  }
  return true;
}

std::string text_of(const Space& space, const std::optional<Point>& point) {
  return point ? dump_json(to_json(space, *point)) : "end";
}

TEST_CASE("samples are inside, and survive JSON and the cube") {
  for (int seed = 0; seed < kSpaces; ++seed) {
    Rng rng(seed);
    const json text = random_space(rng, {});
    const Space space = parse_space(text).value();
    CAPTURE(seed, dump_json(text));
    const UnitCube cube(space);
    for (int i = 0; i < 20; ++i) {
      const Point point = sample(space, rng);
      REQUIRE(in_space(space, point));
      const json written = to_json(space, point);
      CAPTURE(dump_json(written));
      // Through text, as a manager sends it. Equal candidates come back as the first of them.
      const auto read = point_from_json(space, parse_json(dump_json(written)).value());
      INFO((read ? "" : read.error().message));
      REQUIRE(read);
      REQUIRE(in_space(space, *read));
      REQUIRE(to_json(space, *read) == written);
      const auto x = cube.to_cube(point);
      REQUIRE(x.size() == cube.dimensions());
      REQUIRE(std::ranges::all_of(x, [](double c) { return c >= 0 && c <= 1; }));
      REQUIRE(nearly_equal(space, cube.from_cube(x), point));
      // And the other way round: any place in the cube is a point of the space.
      std::vector<double> anywhere(cube.dimensions());
      for (double& c : anywhere) c = rng.uniform();
      REQUIRE(in_space(space, cube.from_cube(anywhere)));
    }
  }
}

TEST_CASE("a grid visits each point of a finite space once, as many as are counted") {
  int compared = 0;
  for (int seed = 1000; seed < 1000 + 2 * kSpaces; ++seed) {
    Rng rng(seed);
    const json text = random_space(rng, {.max_params = 3, .max_depth = 2, .finite = true});
    const Space space = parse_space(text).value();
    CAPTURE(seed, dump_json(text));
    const auto count = point_count(space);
    REQUIRE(count);
    if (*count > 20'000) continue;
    ++compared;
    Grid grid(space);
    SeenPoints seen(space);
    std::uint64_t visited = 0;
    while (const auto point = grid.next()) {
      REQUIRE(in_space(space, *point));
      REQUIRE(seen.insert(*point));
      REQUIRE(++visited <= *count);
    }
    REQUIRE(visited == *count);
    // Nothing that can be drawn was left out.
    for (int i = 0; i < 20; ++i) REQUIRE(seen.contains(sample(space, rng)));
  }
  CHECK(compared > kSpaces);
}

TEST_CASE("a grid that was saved and loaded anywhere goes on as if it had not been") {
  for (int seed = 2000; seed < 2000 + kSpaces; ++seed) {
    Rng rng(seed);
    const json text = random_space(rng, {.finite = seed % 2 == 0});
    const Space space = parse_space(text).value();
    const auto k = rng.integer(0, 60);
    CAPTURE(seed, dump_json(text), k);
    Grid grid(space);
    for (int i = 0; i < k; ++i) grid.next();
    Grid copy(space);
    REQUIRE(copy.load(parse_json(dump_json(grid.save())).value()));
    REQUIRE(copy.save() == grid.save());
    for (int i = 0; i < 40; ++i)
      REQUIRE(text_of(space, copy.next()) == text_of(space, grid.next()));
  }
}

TEST_CASE("a deduplicator that was saved and loaded anywhere answers as before") {
  for (int seed = 3000; seed < 3000 + kSpaces; ++seed) {
    Rng rng(seed);
    const json text = random_space(rng, {.finite = seed % 3 != 0});
    const Space space = parse_space(text).value();
    const auto k = rng.integer(0, 60);
    CAPTURE(seed, dump_json(text), k);
    Deduplicator dedup(space);
    for (int i = 0; i < k; ++i) dedup(sample(space, rng));
    Deduplicator copy(space);
    REQUIRE(copy.load(parse_json(dump_json(dedup.save())).value()));
    for (int i = 0; i < 40; ++i) {
      const Point point = sample(space, rng);
      REQUIRE(text_of(space, copy(point)) == text_of(space, dedup(point)));
    }
  }
}

TEST_CASE("changed search spaces are refused or work, but never crash") {
  int refused = 0;
  for (int seed = 4000; seed < 4000 + 4 * kSpaces; ++seed) {
    Rng rng(seed);
    json space_json = random_space(rng, {.max_params = 3, .max_depth = 2});
    // One value anywhere is replaced by one of another kind.
    json flat = space_json.flatten();
    if (flat.empty()) continue;
    const auto victim =
        std::next(flat.begin(), static_cast<std::ptrdiff_t>(rng.index(flat.size())));
    const json strange[] = {nullptr, -1, 0, 1e300, 1e-300, "uniform", "normal", true, std::nan("")};
    space_json[json::json_pointer(victim.key())] = strange[rng.index(std::size(strange))];
    CAPTURE(seed, dump_json(space_json));
    const auto space = parse_space(space_json);
    if (!space) {
      ++refused;
      REQUIRE(space.error().message.starts_with("search_space"));
      continue;
    }
    point_count(*space);
    Grid grid(*space);
    const UnitCube cube(*space);
    for (int i = 0; i < 10; ++i) {
      const Point point = sample(*space, rng);
      REQUIRE(to_json(*space, point).is_object());
      REQUIRE(cube.from_cube(cube.to_cube(point)).values.size() == point.values.size());
      grid.next();
    }
  }
  CHECK(refused > kSpaces);
}

}  // namespace attune::properties_test
