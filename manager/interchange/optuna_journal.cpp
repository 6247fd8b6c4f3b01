#include "manager/interchange/optuna_journal.h"

#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <cstdlib>

namespace attune {

std::string optuna_time(double seconds) {
  const double whole = std::floor(seconds);
  const auto time = static_cast<time_t>(whole);
  std::tm parts = {};
  ::localtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     static_cast<int>((seconds - whole) * 1e6));
}

std::optional<double> seconds_of_optuna_time(const json& text) {
  if (!text.is_string()) return std::nullopt;
  const std::string written = text.get<std::string>();
  std::tm parts = {};
  const char* rest = ::strptime(written.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  double fraction = 0;
  if (*rest == '.') {
    char* end = nullptr;
    fraction = std::strtod(rest, &end);
    rest = end;
  }
  std::tm offset = {};
  const bool has_offset = (*rest == '+' || *rest == '-') && ::strptime(rest, "%z", &offset);
  if (*rest == 'Z' || has_offset)
    return static_cast<double>(::timegm(&parts) - (has_offset ? offset.tm_gmtoff : 0)) + fraction;
  parts.tm_isdst = -1;
  return static_cast<double>(::mktime(&parts)) + fraction;
}

}  // namespace attune
