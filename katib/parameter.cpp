#include "katib/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <charconv>
#include <cmath>
#include <numbers>
#include <set>

namespace attune::katib {
namespace {

using namespace api::v1::beta1;

constexpr double kMostWhole = 0x1p53;  // doubles hold whole numbers up to this one
// Katib's own services read min and max as three deviations below and above the mean.
constexpr double kDeviations = 3;

// The probability that a value lies within three deviations of the mean.
double covered() { return std::erf(kDeviations / std::numbers::sqrt2); }

Result<double> limit(const std::string& name, const char* which, const std::string& text,
                     bool integer) {
  const auto number = number_of(text);
  if (number && !(integer && *number != std::trunc(*number))) return *number;
  return fail_at(name + ".feasible_space." + which,
                 fmt::format("{} expected, not \"{}\"", integer ? "an integer" : "a finite number",
                             text.substr(0, 100)));
}

}  // namespace

std::optional<double> number_of(std::string_view text) {
  // Python's readers accept a sign; from_chars only a minus.
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

Result<Parameter> Parameter::make(const ParameterSpec& spec) {
  if (spec.name().empty()) return fail("a parameter has no name");
  Parameter made(spec.name());
  switch (spec.parameter_type()) {
    case DOUBLE:
    case INT:
      TRY(made.read_range(spec.feasible_space(), spec.parameter_type() == INT));
      break;
    case DISCRETE:
    case CATEGORICAL:
      TRY(made.read_list(spec.feasible_space(), spec.parameter_type() == DISCRETE));
      break;
    default:
      return fail_at(spec.name() + ".parameter_type",
                     "double, int, discrete or categorical expected");
  }
  return made;
}

Result<void> Parameter::read_list(const FeasibleSpace& space, bool numbers) {
  const std::string place = name_ + ".feasible_space.list";
  if (space.list().empty()) return fail_at(place, "at least one value expected");
  std::vector<std::pair<json, std::string>> values;
  std::set<json> known;
  for (const std::string& text : space.list()) {
    json value = text;
    if (numbers) {
      const auto number = number_of(text);
      if (!number) {
        return fail_at(place, fmt::format("\"{}\" is not a number", text.substr(0, 100)));
      }
      value = *number;
    }
    if (!known.insert(value).second) {
      return fail_at(place, fmt::format("\"{}\" is listed twice", text.substr(0, 100)));
    }
    values.emplace_back(std::move(value), text);
  }
  // Ascending numbers are a scale to the tuners, which then learn of neighbours, too.
  if (numbers) std::ranges::sort(values);
  json candidates = json::array();
  for (auto& [value, text] : values) {
    candidates.push_back(value);
    candidates_.push_back(std::move(value));
    texts_.push_back(std::move(text));
  }
  domain_ = {{"_type", "choice"}, {"_value", std::move(candidates)}};
  return {};
}

Result<void> Parameter::read_range(const FeasibleSpace& space, bool integer) {
  const std::string place = name_ + ".feasible_space";
  integer_ = integer;
  low_ = TRY(limit(name_, "min", space.min(), integer));
  high_ = TRY(limit(name_, "max", space.max(), integer));
  if (low_ > high_) return fail_at(place, fmt::format("min {} is above max {}", low_, high_));
  if (!std::isfinite(high_ - low_)) return fail_at(place, "max - min is too large for a double");
  if (integer && std::max(std::abs(low_), std::abs(high_)) >= kMostWhole) {
    return fail_at(place, "the magnitude of integers must be below 2^53");
  }
  if (!space.step().empty()) {
    step_ = TRY(limit(name_, "step", space.step(), integer));
    if (step_ <= 0) return fail_at(place + ".step", "a number above 0 expected");
  } else if (integer) {
    step_ = 1;
  }
  if (step_ > 0 && (high_ - low_) / step_ >= kMostWhole) {
    return fail_at(place + ".step", "too small for the range: fewer than 2^53 steps are possible");
  }
  switch (space.distribution()) {
    case DISTRIBUTION_UNSPECIFIED:
    case UNIFORM:
      break;
    case LOG_UNIFORM:
      scale_ = Scale::log;
      break;
    case NORMAL:
      scale_ = Scale::normal;
      break;
    case LOG_NORMAL:
      scale_ = Scale::log_normal;
      break;
    default:
      return fail_at(place + ".distribution", "uniform, logUniform, normal or logNormal expected");
  }
  if ((scale_ == Scale::log || scale_ == Scale::log_normal) && low_ <= 0) {
    return fail_at(place + ".min", "above 0 expected on a logarithmic scale");
  }
  make_range_domain();
  return {};
}

void Parameter::make_range_domain() {
  // Without a range there is no mean and no deviation to divide by.
  counts_steps_ = low_ == high_ || (step_ > 0 && scale_ == Scale::linear);
  if (counts_steps_) {
    const double steps = nearest_steps(high_);
    domain_ = {{"_type", "randint"}, {"_value", {0, static_cast<std::int64_t>(steps) + 1}}};
  } else if (scale_ == Scale::normal || scale_ == Scale::log_normal) {
    domain_ = {{"_type", "uniform"}, {"_value", {-covered(), covered()}}};
  } else {
    domain_ = {{"_type", scale_ == Scale::log ? "loguniform" : "uniform"},
               {"_value", {low_, high_}}};
  }
}

double Parameter::nearest_steps(double x) const {
  if (step_ <= 0) return 0;
  // 0.3 / 0.1 is a little below 3: without this the last value of a range would be lost.
  constexpr double kTolerance = 1e-9;
  const double most = std::floor((high_ - low_) / step_ * (1 + kTolerance));
  return std::clamp(std::round((x - low_) / step_), 0.0, most);
}

double Parameter::on_grid(double steps) const { return std::min(low_ + steps * step_, high_); }

double Parameter::real_of(double inner) const {
  if (scale_ == Scale::linear || scale_ == Scale::log) return inner;
  const bool log = scale_ == Scale::log_normal;
  const double low = log ? std::log(low_) : low_, high = log ? std::log(high_) : high_;
  const double mean = low + (high - low) / 2, deviation = (high - low) / (2 * kDeviations);
  const double p = std::clamp(inner, -covered(), covered());
  const double x = mean + deviation * std::numbers::sqrt2 * boost::math::erf_inv(p);
  return std::clamp(log ? std::exp(x) : x, low_, high_);
}

double Parameter::inner_of(double real) const {
  if (scale_ == Scale::linear || scale_ == Scale::log) return real;
  const bool log = scale_ == Scale::log_normal;
  const double low = log ? std::log(low_) : low_, high = log ? std::log(high_) : high_;
  const double mean = low + (high - low) / 2, deviation = (high - low) / (2 * kDeviations);
  const double x = log ? std::log(real) : real;
  return std::clamp(std::erf((x - mean) / deviation / std::numbers::sqrt2), -covered(), covered());
}

std::string Parameter::text_of_real(double x) const {
  if (integer_) return fmt::format("{}", static_cast<std::int64_t>(x));
  if (step_ > 0) {
    // On a grid without the noise of the multiplication: 7.4, not 7.4000000000000004.
    std::string text = fmt::format("{:.15g}", x);
    const auto number = number_of(text);
    if (number && *number >= low_ && *number <= high_) return text;
  }
  return fmt::format("{}", x);
}

std::string Parameter::text_of(const json& value) const {
  if (!candidates_.empty()) {
    const auto found = std::ranges::find(candidates_, value);
    return found == candidates_.end()
               ? std::string()
               : texts_[static_cast<std::size_t>(found - candidates_.begin())];
  }
  const double given = value.get<double>();
  if (counts_steps_) return text_of_real(on_grid(given));
  const double real = real_of(given);
  return text_of_real(step_ > 0 ? on_grid(nearest_steps(real)) : real);
}

std::optional<json> Parameter::value_of(const std::string& text) const {
  if (!candidates_.empty()) {
    auto found = std::ranges::find(texts_, text);
    if (found != texts_.end()) return candidates_[static_cast<std::size_t>(found - texts_.begin())];
    // 2.0 is the number 2 of the list.
    const auto number = candidates_.front().is_number() ? number_of(text) : std::nullopt;
    if (number && std::ranges::find(candidates_, json(*number)) != candidates_.end()) {
      return json(*number);
    }
    return std::nullopt;
  }
  const auto real = number_of(text);
  if (!real || *real < low_ || *real > high_) return std::nullopt;
  if (counts_steps_) return json(static_cast<std::int64_t>(nearest_steps(*real)));
  return json(inner_of(*real));
}

}  // namespace attune::katib
