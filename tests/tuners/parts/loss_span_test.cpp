#include "tuners/parts/loss_span.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune::loss_span_test {

using Numbers = std::vector<double>;

LossSpan of(const Numbers& losses) {
  LossSpan span;
  for (const double loss : losses) span.add(loss);
  return span;
}

// Losses from 1 to 19, whose median is 11, and then `lowest`.
LossSpan falling_to(double lowest) { return of({1, 3, 5, 7, 9, 11, 13, 15, 17, 19, lowest}); }

TEST_CASE("loss span: there are decades below a hundredth of the median of the first ten") {
  CHECK(falling_to(0.1099).has_decades());
  CHECK_FALSE(falling_to(0.1101).has_decades());
  CHECK_FALSE(of({1, 1e-9}).has_decades());  // too few
}

TEST_CASE("loss span: zero and less have no decades") {
  for (const double lowest : {0.0, -1e-9, -1e9}) CHECK_FALSE(falling_to(lowest).has_decades());
}

TEST_CASE("loss span: saved and loaded it is the same") {
  for (const LossSpan& span : {LossSpan(), of({3}), falling_to(0.1), falling_to(-1)}) {
    LossSpan loaded;
    const json state = {{"losses", span.save()}};
    REQUIRE(loaded.load(state, "losses"));
    CHECK(loaded.save() == span.save());
    CHECK(loaded.has_decades() == span.has_decades());
  }
}

TEST_CASE("loss span: an impossible state is an error") {
  const auto loads = [](const json& value) {
    return LossSpan().load({{"losses", value}}, "losses").has_value();
  };
  CHECK(loads(save_numbers(Numbers{1, 2, 1})));
  CHECK_FALSE(loads(save_numbers(Numbers{1})));
  CHECK_FALSE(loads(save_numbers(Numbers{1, 2, 1.5})));
  CHECK_FALSE(loads(save_numbers(Numbers{1, NAN, 1})));
  CHECK_FALSE(loads(save_numbers(Numbers{1, -HUGE_VAL})));
  CHECK_FALSE(loads(save_numbers(Numbers(12, 1))));
  CHECK_FALSE(loads("x"));
}

}  // namespace attune::loss_span_test
