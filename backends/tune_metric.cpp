#include "backends/tune_metric.h"

#include <string>

namespace attune {

Result<std::optional<json>> parse_tune_metric(std::string_view line) {
  constexpr std::string_view kMark = "[tune-metric]: {";
  const std::size_t mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::size_t begin = mark + kMark.size() - 1;
  const std::size_t end = line.rfind('}');
  if (end == std::string_view::npos || end < begin) return std::nullopt;
  auto value = parse_json(line.substr(begin, end - begin + 1));
  if (!value) return fail("a line [tune-metric] is no JSON object: " + value.error().message);
  return *std::move(value);
}

}  // namespace attune
