// Given NNI's history and NNI's candidates, we choose what NNI chose.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "math/density/categorical.h"
#include "math/density/promising.h"
#include "math/density/ranked_values.h"

namespace attune::tpe_reference_test {

json read_choices() {
  std::ifstream file(ATTUNE_TEST_DATA "/tpe/choices.json");
  std::stringstream text;
  text << file.rdbuf();
  auto parsed = parse_json(text.str());
  REQUIRE(parsed);
  return *std::move(parsed);
}

template <class Estimator>
void check_choice(const json& choice, const Estimator& good, const Estimator& rest) {
  const std::vector<double> candidates = choice["candidates"];
  const double chosen = candidates.at(choice["chosen"].get<std::size_t>());
  std::size_t next = 0;
  CHECK(most_promising(good, rest, static_cast<int>(candidates.size()),
                       [&] { return candidates[next++]; }) == chosen);
  CHECK(good.log_density(chosen) - rest.log_density(chosen) ==
        Approx(choice["score"].get<double>()).margin(1e-9));
}

TEST_CASE("TPE chooses the candidate that NNI's TPE chose") {
  const json choices = read_choices();
  REQUIRE(choices.size() > 50);
  std::size_t reals = 0, with_pending = 0;
  for (const json& choice : choices) {
    CAPTURE(choice["source"], choice["parameter"], choice["step"]);
    RankedValues observed;
    for (std::size_t i = 0; i < choice["observed"].size(); ++i) {
      observed.insert(choice["observed"][i], choice["losses"][i]);
    }
    std::vector<PendingValue> pending;
    for (std::size_t i = 0; i < choice["pending"].size(); ++i) {
      pending.push_back({choice["pending"][i], static_cast<std::uint32_t>(i)});
    }
    std::ranges::sort(pending);
    with_pending += !pending.empty();
    Split sides;
    split(observed, pending, choice["lie"], {}, sides);
    if (choice.contains("categories")) {
      const double categories = choice["categories"];
      check_choice(choice, Categorical(sides.below, categories, 1),
                   Categorical(sides.above, categories, 1));
      continue;
    }
    ++reals;
    const json& given = choice["prior"];
    ParzenPrior prior;
    prior.mu = given["mu"];
    prior.sigma = given["sigma"];
    prior.low = given.value("low", prior.low);
    prior.high = given.value("high", prior.high);
    check_choice(choice, Parzen(sides.below, prior), Parzen(sides.above, prior));
  }
  CHECK(reals > 20);
  CHECK(with_pending > 10);
}

}  // namespace attune::tpe_reference_test
