#include "space/middle.h"

#include <cmath>
#include <cstdint>

#include "base/overloaded.h"
#include "space/sample.h"

namespace attune {

double middle(const Domain& domain) {
  return std::visit(
      Overloaded{
          [](const Choice& d) {
            return d.is_scale() ? static_cast<double>((d.candidates.size() - 1) / 2) : 0.0;
          },
          [](const Subset& d) { return static_cast<double>((std::uint64_t{1} << d.chosen) - 1); },
          [](const IntRange& d) {
            return std::floor(0.5 * static_cast<double>(d.low) +
                              0.5 * static_cast<double>(d.high - 1));
          },
          // Halves, because the sum of the ends may be beyond the doubles.
          [&](const Uniform& d) {
            return from_internal(
                domain, 0.5 * to_internal(domain, d.low) + 0.5 * to_internal(domain, d.high));
          },
          [&](const Normal& d) { return from_internal(domain, d.mu); }},
      domain);
}

}  // namespace attune
