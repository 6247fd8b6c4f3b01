#include "rungs/population_policy.h"

#include <algorithm>
#include <string>

namespace attune {

Result<PopulationPolicy> parse_population_policy(std::string_view text) {
  std::vector<json> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto parsed = parse_json(line);
    const bool right = parsed && parsed->is_array() && parsed->size() == 6 &&
                       (*parsed)[0].is_string() && (*parsed)[1].is_string() &&
                       (*parsed)[2].is_number() && (*parsed)[3].is_number() &&
                       (*parsed)[4].is_object() && (*parsed)[5].is_object();
    if (!right) {
      return fail("line " + std::to_string(number) +
                  ": [trial, donor, number, number, {...}, {...}] expected");
    }
    lines.push_back(*std::move(parsed));
  }
  PopulationPolicy policy;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    // The trial of this line must be the donor of the line after it.
    if (line != lines.rbegin() && (*line)[0] != (*std::prev(line))[1]) break;
    policy.initial = (*line)[4];
    policy.changes.push_back({(*line)[3].get<double>(), (*line)[5]});
  }
  std::ranges::reverse(policy.changes);
  return policy;
}

}  // namespace attune
