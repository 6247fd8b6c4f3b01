#include "cluster/pool/slots.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kAny = 1e9;
constexpr double kRounding = 1e-9;  // 0.3 fits three times into 0.9

double slots(double has, double needs) {
  return needs > 0 ? std::min(kAny, std::floor(has / needs + kRounding)) : kAny;
}

}  // namespace

double slots(const Resources& capacity, const Resources& needs) {
  double fit = std::min({slots(capacity.cpu, needs.cpu), slots(capacity.gpu, needs.gpu),
                         slots(capacity.memory, needs.memory)});
  for (const auto& [kind, amount] : needs.custom) {
    const auto has = capacity.custom.find(kind);
    fit = std::min(fit, slots(has == capacity.custom.end() ? 0 : has->second, amount));
  }
  return fit;
}

}  // namespace attune
