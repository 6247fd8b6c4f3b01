#pragma once
// Turns the numbers that a regular expression found into the JSON text of a metric. Also used in
// the shim.
#include <optional>
#include <string>
#include <string_view>

#include "backends/report/regex.h"

namespace attune {

// Reads what programs print as a number: also "+5", ".5", "nan", "-inf" and Fortran's "1.0D-3".
// Blanks around it are ignored.
std::optional<double> read_number(std::string_view text);

struct MetricText {
  std::string json;  // {"iter": 3, "default": 0.25}, NaN and Infinity as Python writes them; empty:
                     // no group is a number
  // A group that is no number, and its text; views as in the match.
  std::string_view bad_group;
  std::string_view bad_text;
};
MetricText metric_text(const Regex::Match& match);

}  // namespace attune
