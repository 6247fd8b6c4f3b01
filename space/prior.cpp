#include "space/prior.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "space/sample.h"
#include "space/scale.h"

namespace attune {
namespace {

// A normal so wide is flat, and its mass in the range has all its digits still.
constexpr double kFlat = 1000;

// P(z <= x) of a standard normal, and its inverse.
double cumulative(double x) { return probability(Normal{}, x); }
double inverse(double p) { return finite_quantile(Normal{}, p); }

double log_normal(double z, double deviation) {
  return -0.5 * z * z - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
}

}  // namespace

Priors::Priors(const Space& space) {
  const auto has_prior = [](const Param& param) { return param.prior.has_value(); };
  if (std::ranges::none_of(space.params, has_prior)) return;
  space_ = space;
  const Features& features = features_.emplace(space);
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    const auto place = features.place(i);
    if (!param.prior || place.count != 1) continue;  // a constant has no dimension
    Term term{.param = i, .dimension = place.first, .sure = param.prior->sure};
    if (const auto* choice = std::get_if<Choice>(&param.domain)) {
      term.candidates = choice->candidates.size();
      term.scale = features.position(i).has_value();
      term.centre =
          static_cast<double>(choice->canonical.at(static_cast<std::size_t>(param.prior->value)));
    } else {
      term.centre = features.position_of(i, param.prior->value);
      term.deviation = std::min(kNear / inverse(0.5 + term.sure / 2), kFlat);
      term.log_mass = std::log(cumulative((1 - term.centre) / term.deviation) -
                               cumulative(-term.centre / term.deviation));
    }
    for (auto condition = param.condition; condition;
         condition = space.params[condition->parent].condition) {
      const auto parent = features.place(condition->parent);
      if (parent.count == 0) continue;  // its only option
      term.guards.push_back({parent.first, static_cast<double>(condition->branch)});
    }
    terms_.push_back(std::move(term));
  }
}

bool Priors::applies(const Term& term, std::span<const double> row) {
  return row[term.dimension] == row[term.dimension] &&
         std::ranges::all_of(term.guards, [&](const Guard& guard) {
           return row[guard.dimension] == guard.category;
         });
}

double Priors::log_density(std::span<const double> row, std::span<double> gradient,
                           double scale) const {
  double sum = 0;
  for (const Term& term : terms_) {
    if (!applies(term, row)) continue;
    const double x = row[term.dimension];
    if (term.candidates > 0) {
      const auto n = static_cast<double>(term.candidates);
      const double index = term.scale ? std::nearbyint(x * (n - 1)) : x;
      sum += std::log(n * (index == term.centre ? term.sure : (1 - term.sure) / (n - 1)));
      continue;
    }
    const double z = (x - term.centre) / term.deviation;
    const double normal = (1 - kDoubt) * std::exp(log_normal(z, term.deviation) - term.log_mass);
    sum += std::log(normal + kDoubt);
    if (!gradient.empty()) {
      gradient[term.dimension] -= scale * normal / (normal + kDoubt) * z / term.deviation;
    }
  }
  return sum;
}

double Priors::draw(const Term& term, Rng& rng) const {
  if (term.candidates > 0) {
    const auto preferred = static_cast<std::size_t>(term.centre);
    if (rng.uniform() < term.sure) return term.centre;
    const std::size_t other = rng.index(term.candidates - 1);
    return static_cast<double>(other < preferred ? other : other + 1);
  }
  if (rng.uniform() < kDoubt) return features_->value(term.param, rng.uniform());
  const double low = cumulative(-term.centre / term.deviation);
  const double high = cumulative((1 - term.centre) / term.deviation);
  const double z = inverse(rng.uniform(low, high));
  return features_->value(term.param, term.centre + term.deviation * z);
}

Point Priors::draw(Rng& rng) const {
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  auto term = terms_.begin();
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    while (term != terms_.end() && term->param < i) ++term;
    if (!is_active(space_, point, i)) continue;
    const bool believed = term != terms_.end() && term->param == i;
    point.values[i] = believed ? draw(*term, rng) : sample(space_.params[i].domain, rng);
  }
  return point;
}

Point draw_half_from(const Priors& priors, const Space& space, Rng& rng) {
  return !priors.empty() && rng.index(2) == 0 ? priors.draw(rng) : sample(space, rng);
}

}  // namespace attune
