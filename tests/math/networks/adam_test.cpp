#include "math/networks/adam.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::adam_test {

using Numbers = std::vector<double>;

Numbers random_gradient(Rng& rng) { return {rng.normal(), 100 * rng.normal(), 1e-3}; }

TEST_CASE("adam: the steps are those of algorithm 1") {
  Rng rng(1);
  Adam adam(3);
  Numbers weights = {1, 2, 3}, expected = weights, m(3), v(3);
  for (int t = 1; t <= 50; ++t) {
    const Numbers g = random_gradient(rng);
    adam.step(weights, g, 0.05);
    for (std::size_t i = 0; i < 3; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      const double m_hat = m[i] / (1 - std::pow(0.9, t)), v_hat = v[i] / (1 - std::pow(0.999, t));
      expected[i] -= 0.05 * m_hat / (std::sqrt(v_hat) + 1e-8);
      CHECK(weights[i] == Approx(expected[i]).epsilon(1e-10));
    }
  }
}

TEST_CASE("adam: the first steps are as long as the rate, whatever the gradient") {
  Adam adam(2);
  Numbers weights = {0, 0};
  adam.step(weights, Numbers{300, -2}, 0.1);
  CHECK(weights[0] == Approx(-0.1).epsilon(1e-4));
  CHECK(weights[1] == Approx(0.1).epsilon(1e-4));
  // One that is not finite is no step.
  const json before = adam.save();
  const auto there = weights;
  adam.step(weights, Numbers{NAN, 1}, 0.1);
  adam.step(weights, Numbers{1e300, 1}, 0.1);
  CHECK(weights == there);
  CHECK(adam.save() == before);
}

TEST_CASE("adam: a gradient that is small beside the least is a small step") {
  Adam careful(1, 1e-3);
  Numbers weight = {0};
  careful.step(weight, Numbers{1e-5}, 0.1);
  CHECK(weight[0] == Approx(-0.1 * 1e-5 / (1e-5 + 1e-3)));
}

TEST_CASE("adam: long gradients are cut, to the same direction") {
  Adam cut(2), scaled(2);
  Numbers a = {0, 0}, b = {0, 0};
  cut.step(a, Numbers{30, 40}, 0.1, 0.5);
  scaled.step(b, Numbers{0.3, 0.4}, 0.1, 0.5);
  CHECK(a[0] == Approx(b[0]));
  for (Adam* each : {&cut, &scaled}) each->step(each == &cut ? a : b, Numbers{1e-3, 0}, 0.1, 0.5);
  CHECK(a[1] == Approx(b[1]));
}

TEST_CASE("adam: saved and loaded at any step it goes on with the same bits") {
  Rng rng(2);
  Adam one(3);
  Numbers weights = {1, 2, 3};
  for (int t = 0; t < 3000; ++t) {
    one.step(weights, random_gradient(rng), 0.01, 50);
    if (t % 100 != 7) continue;
    Adam other(3);
    REQUIRE(other.load(parse_json(dump_json(one.save())).value()));
    CHECK(other.save() == one.save());
    Numbers same = weights;
    const Numbers g = random_gradient(rng);
    one.step(weights, g, 0.01);
    other.step(same, g, 0.01);
    REQUIRE(same == weights);
  }
}

TEST_CASE("adam: a damaged state is declined and changes nothing") {
  Adam adam(2);
  Numbers weights = {0, 0};
  adam.step(weights, Numbers{1, 2}, 0.1);
  const json good = adam.save();
  const auto declined = [&](const json& state) {
    CHECK_FALSE(adam.load(state));
    CHECK(adam.save() == good);
  };
  declined(Adam(3).save());
  for (const json& bad : {json(-1), json(0.5), json("x"), json(), json(1ll << 60)}) {
    json state = good;
    state["steps"] = bad;
    declined(state);
  }
  const json unlike = Adam(3).save();
  for (const char* key : {"mean", "square"}) {
    json state = good;
    state[key] = unlike[key];
    declined(state);
  }
  Adam negative(2);
  negative.step(weights, Numbers{-1, -2}, 0.1);
  json state = good;
  state["square"] = negative.save()["mean"];
  declined(state);
  // However many steps it claims.
  state = good;
  state["steps"] = (1ll << 53) - 1;
  REQUIRE(adam.load(state));
  adam.step(weights, Numbers{1, 2}, 0.1);
  CHECK(std::isfinite(weights[0]));
}

}  // namespace attune::adam_test
