// A program of a user: tunes one of its functions.
#include <attune/study/space_builder.h>
#include <attune/study/study.h>

#include <cstdio>

#include "base/json.h"

static_assert(HEADER_OF_THE_USER == 1);

int main() {
  const auto best = attune::minimize(
      [](const attune::json& p) {
        const double x = p.at("x").get<double>();
        return (x - 2) * (x - 2);
      },
      attune::SpaceBuilder().uniform("x", -5, 5).build(), 100, {}, {.threads = 2});
  if (!best || *best->value > 0.01) return 1;
  std::puts("tuned");
  return 0;
}
