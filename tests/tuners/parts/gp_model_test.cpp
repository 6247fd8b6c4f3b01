#include "tuners/parts/gp_model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "space/parse.h"

namespace attune::gp_model_test {

using Numbers = std::vector<double>;

const Features& line() {
  static const Features all(
      parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]}})").value()).value());
  return all;
}

// Of 40 results with so much noise: what the utility makes of some points.
Numbers values(double noise, const Utility& utility) {
  History history(1);
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const Numbers row = {i / 40.0};
    history.add(row, History::Kind::usable, std::pow(row[0] - 0.3, 2) + noise * rng.normal());
  }
  GpModel model(line(), Scale::standardised, {}, 1, 0);
  model.update(history, {});
  return model.acquisition(history, utility, rng).values(Numbers{0, 0.25, 0.3, 0.6, 1});
}

TEST_CASE("gp model: of noisy results it maximises a bound, of others the improvement") {
  using enum Utility::Kind;
  const auto by_noise_in = [](double noise) { return values(noise, {.kind = by_noise}); };
  CHECK(by_noise_in(0) == values(0, {.kind = improvement}));
  CHECK(by_noise_in(0.1) == values(0.1, {.kind = confidence, .kappa = 1}));
  CHECK(by_noise_in(0.1) != values(0.1, {.kind = improvement}));
}

TEST_CASE("gp model: with a prior it maximises the improvement, whatever else is asked for") {
  const Utility bound{.kind = Utility::Kind::by_noise};
  CHECK(values(0.1, weighable(bound, true)) == values(0.1, {}));
  CHECK(values(0.1, weighable(bound, false)) != values(0.1, {}));
}

}  // namespace attune::gp_model_test
