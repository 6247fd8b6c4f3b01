#include "analysis/posterior_axis.h"

#include <algorithm>

#include "base/overloaded.h"
#include "space/sample.h"

namespace attune {
namespace {

// A picture of more candidates could not be read, and each costs a prediction.
constexpr std::size_t kMostCandidates = 100;
constexpr double kSigmas = 3;
constexpr std::size_t kLongestName = 100;

// Values at `most` places of the internal scale (space/sample.h), evenly from low to high.
std::vector<double> spread(const Domain& domain, double low, double high, std::size_t most) {
  std::vector<double> values;
  for (std::size_t i = 0; i < most; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(most - 1);
    // Not low + part * (high - low): the difference may be beyond the doubles.
    values.push_back(from_internal(domain, (1 - part) * low + part * high));
  }
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

Result<std::vector<double>> candidates(const Choice& choice, const std::string& path) {
  std::vector<double> own;
  for (std::size_t c = 0; c < choice.candidates.size(); ++c) {
    if (choice.canonical[c] == c) own.push_back(static_cast<double>(c));
  }
  if (own.size() <= kMostCandidates) return own;
  return fail(quoted_path(path) + " has " + std::to_string(own.size()) + " candidates; at most " +
              std::to_string(kMostCandidates) + " can be shown");
}

std::vector<double> integers(const IntRange& range, std::size_t most) {
  const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
  // Beyond 2^53 doubles are no longer all integers.
  if (!(high - low <= 1e15)) return spread(range, low, high, most);
  std::vector<double> own;
  for (const std::size_t i : evenly(static_cast<std::size_t>(high - low), most)) {
    own.push_back(low + static_cast<double>(i));
  }
  return own;
}

}  // namespace

Result<std::vector<double>> axis_values(const Param& param, std::size_t most) {
  using Values = Result<std::vector<double>>;
  const Values values = std::visit(
      Overloaded{[&](const Choice& d) { return candidates(d, param.path); },
                 [&](const Subset&) -> Values {
                   return fail(quoted_path(param.path) +
                               " chooses several candidates at once, which no axis can show");
                 },
                 [&](const IntRange& d) -> Values { return integers(d, most); },
                 [&](const Uniform& d) -> Values {
                   return spread(d, to_internal(d, d.low), to_internal(d, d.high), most);
                 },
                 [&](const Normal& d) -> Values {
                   return spread(d, d.mu - kSigmas * d.sigma, d.mu + kSigmas * d.sigma, most);
                 }},
      param.domain);
  if (values && values->size() < 2) return fail(quoted_path(param.path) + " has one value only");
  return values;
}

std::string quoted_path(std::string_view path) {
  const bool cut = path.size() > kLongestName;
  return "'" + std::string(path.substr(0, kLongestName)) + (cut ? "...'" : "'");
}

std::vector<std::size_t> evenly(std::size_t n, std::size_t count) {
  std::vector<std::size_t> all(std::min(n, count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = n <= count ? i : i * (n - 1) / (count - 1);
  }
  return all;
}

}  // namespace attune
