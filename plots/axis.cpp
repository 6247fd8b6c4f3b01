#include "plots/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plots/label.h"

namespace attune::plots {
namespace {

constexpr double kMargin = 0.04;
constexpr double kNarrowest = 1e-11;
constexpr double kSmallest = 1e-307;  // of a logarithmic scale: below, doubles lose digits
constexpr double kNamesMargin = 0.6;  // beside the first and the last name, in distances of names

// 1, 2 or 5 times a power of ten, the first that is at least x.
double round_step(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= x * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// The multiples of 1, 2 or 5 times a power of ten. All texts have the same digits behind the point.
std::vector<Tick> linear_ticks(double low, double high, std::size_t most, bool whole) {
  // Halves, because the difference of two doubles may be beyond them.
  const double half = high / 2 - low / 2;
  double step = round_step(std::max(2 * (half / static_cast<double>(most)), 1e-307));
  if (whole) step = std::max(step, 1.0);
  const double largest = std::max(std::abs(low), std::abs(high));
  const int order = static_cast<int>(std::floor(std::log10(largest)));
  const int step_order = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  const bool exponent = order >= 6 || order < -3;
  const int digits = std::clamp(exponent ? order - step_order : -step_order, 0, 15);
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double k = first; k <= last && ticks.size() < 2 * most; ++k) {
    // Beyond 2^53 steps from 0, where adding 1 changes nothing, one tick has to do.
    if (!ticks.empty() && k * step <= ticks.back().value) break;
    const double value = k == 0 ? 0 : k * step;
    std::string text = exponent && value != 0
                           ? fmt::format("{:.{}e}", value, digits)
                           : fmt::format("{:.{}f}", value, value == 0 && exponent ? 0 : digits);
    ticks.push_back({value, std::move(text)});
  }
  return ticks;
}

// Powers of ten; their multiples by 2 and 5 where there are few.
std::vector<Tick> logarithmic_ticks(double low, double high, std::size_t most) {
  const double first = std::log10(low), last = std::log10(high);
  const int every =
      std::max(1, static_cast<int>(std::ceil((last - first) / static_cast<double>(most))));
  std::vector<Tick> ticks;
  const auto collect = [&](std::initializer_list<double> factors) {
    ticks.clear();
    for (int k = static_cast<int>(std::floor(first)); k <= static_cast<int>(std::ceil(last)); ++k) {
      if (k % every != 0) continue;
      for (const double factor : factors) {
        // strtod's power of ten, not pow()'s, which may be off by a bit.
        const double value =
            std::strtod(fmt::format("{:.0f}e{}", factor, k < -307 ? -307 : k).c_str(), nullptr);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) {
          ticks.push_back({value, number_text(value)});
        }
      }
    }
  };
  collect({1});
  if (every == 1 && ticks.size() * 3 <= most) collect({1, 2, 5});
  if (ticks.size() < 2) return linear_ticks(low, high, most, false);
  return ticks;
}

}  // namespace

Axis::Axis(double low, double high, Scale scale) : low_(low), high_(high), scale_(scale) {
  // Narrower ranges have too few doubles for places and ticks.
  if (scale == Scale::logarithmic) {
    low_ = std::max(low, kSmallest);
    if (high >= low_ * (1 + kNarrowest)) return;
    low_ = std::max(low_ / 2, kSmallest);
    high_ = low_ <= 4e307 ? low_ * 4 : 1.79e308;
    return;
  }
  const double largest = std::max(std::abs(low), std::abs(high));
  if (high / 2 - low / 2 >= std::max(largest * kNarrowest, 1e-306)) return;
  const double more = largest < 1e-300 ? 1 : largest * 0.05;
  low_ = std::max(low - more, -1.79e308);
  high_ = std::min(low + more, 1.79e308);
}

Axis Axis::around(std::span<const double> values, Scale scale) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double v : values) {
    if (!std::isfinite(v) || (scale == Scale::logarithmic && v <= 0)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (low > high) return scale == Scale::linear ? Axis(0, 1) : Axis(1, 10, scale);
  if (scale == Scale::logarithmic) {
    const double factor = std::exp(kMargin * (std::log(high) - std::log(low)));
    return Axis(std::max(low / factor, kSmallest), std::min(high * factor, 1.79e308), scale);
  }
  const double more = 2 * kMargin * (high / 2 - low / 2);
  return Axis(std::max(low - more, -1.79e308), std::min(high + more, 1.79e308));
}

Axis Axis::of_names(std::vector<std::string> names) {
  Axis axis(-kNamesMargin,
            static_cast<double>(std::max<std::size_t>(names.size(), 1)) - 1 + kNamesMargin);
  axis.names_ = std::move(names);
  return axis;
}

Axis Axis::whole() && {
  whole_ = true;
  return std::move(*this);
}

double Axis::place(double value) const {
  if (!std::isfinite(value)) return NAN;
  if (scale_ == Scale::linear) {
    return std::clamp((value / 2 - low_ / 2) / (high_ / 2 - low_ / 2), -9.0, 10.0);
  }
  if (value <= 0) return NAN;
  return std::clamp((std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_)), -9.0,
                    10.0);
}

std::vector<Tick> Axis::ticks(std::size_t most) const {
  if (!names_.empty()) {
    std::vector<Tick> ticks;
    const std::size_t every = (names_.size() + most - 1) / most;
    for (std::size_t i = 0; i < names_.size(); i += every) {
      ticks.push_back({static_cast<double>(i), label(names_[i])});
    }
    return ticks;
  }
  std::vector<Tick> ticks = scale_ == Scale::linear ? linear_ticks(low_, high_, most, whole_)
                                                    : logarithmic_ticks(low_, high_, most);
  if (ticks.empty()) ticks.push_back({low_, number_text(low_)});
  return ticks;
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e-3 && size < 1e6) {
    const int order = static_cast<int>(std::floor(std::log10(size)));
    std::string text = fmt::format("{:.{}f}", value, std::max(digits - 1 - order, 0));
    if (text.find('.') != text.npos) {
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    }
    return text;
  }
  std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = text.find('e');
  if (e == text.npos) return text;  // infinite
  std::string mantissa = text.substr(0, e);
  mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (mantissa.back() == '.') mantissa.pop_back();
  return mantissa + fmt::format("e{}", std::stoi(text.substr(e + 1)));
}

}  // namespace attune::plots
