#include "backends/report/tune_metric.h"

namespace attune {

std::optional<std::string_view> find_tune_metric(std::string_view line) {
  constexpr std::string_view kMark = "[tune-metric]: {";
  const std::size_t mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::size_t begin = mark + kMark.size() - 1;
  const std::size_t end = line.rfind('}');
  if (end == std::string_view::npos || end < begin) return std::nullopt;
  return line.substr(begin, end - begin + 1);
}

}  // namespace attune
