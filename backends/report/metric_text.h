#pragma once
// The numbers that a regular expression found, as the JSON text of a metric. In the shim too.
#include <optional>
#include <string>
#include <string_view>

#include "backends/report/regex.h"

namespace attune {

// What programs print for a number: also "+5", ".5", "nan", "-inf" and Fortran's "1.0D-3"; blanks
// around it do not count.
std::optional<double> read_number(std::string_view text);

struct MetricText {
  std::string json;  // {"iter": 3, "default": 0.25}, NaN and Infinity as Python writes them; empty:
                     // no group is a number
  std::string_view bad_group;  // one that is no number, and what it is; views as in the match
  std::string_view bad_text;
};
MetricText metric_text(const Regex::Match& match);

}  // namespace attune
