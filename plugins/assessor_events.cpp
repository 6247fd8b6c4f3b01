#include "plugins/assessor_events.h"

#include <string>
#include <unordered_map>

#include "base/saved_numbers.h"

namespace attune {
namespace {

std::unexpected<Error> odd_event() { return fail("saved state: an impossible event"); }

// step, number of metrics, then name and value of each
Result<std::vector<Report>> reports_from(TrialId trial, const std::vector<double>& numbers,
                                         const json& names) {
  std::vector<Report> reports;
  std::size_t at = 0;
  const auto left = [&] { return numbers.size() - at; };
  while (left() > 0) {
    if (left() < 2 || !is_whole(numbers[at])) return odd_event();
    Report report{.trial = trial, .step = static_cast<std::int64_t>(numbers[at]), .metrics = {}};
    const double count = numbers[at + 1];
    at += 2;
    if (!is_index(count, static_cast<double>(left()) + 1) ||
        2 * count > static_cast<double>(left())) {
      return odd_event();
    }
    for (double i = 0; i < count; ++i, at += 2) {
      if (!is_index(numbers[at], static_cast<double>(names.size()))) return odd_event();
      const json& name = names[static_cast<std::size_t>(numbers[at])];
      if (!name.is_string()) return odd_event();
      report.metrics.emplace_back(name.get<std::string>(), numbers[at + 1]);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace

json save_events(const AssessorEvents& events) {
  std::vector<double> numbers;  // trial, then the count of reports, or the end as a negative number
  for (const AssessorEvent& event : events.events) {
    if (const auto* assessed = std::get_if<Assessed>(&event)) {
      numbers.push_back(static_cast<double>(assessed->trial));
      numbers.push_back(static_cast<double>(assessed->reports));
    } else {
      const auto& ended = std::get<Ended>(event);
      numbers.push_back(static_cast<double>(ended.trial));
      numbers.push_back(-1 - static_cast<double>(ended.end));
    }
  }
  json names = json::array(), trials = json::array();
  std::unordered_map<std::string, double> known;
  for (const auto& [trial, reports] : events.reports) {
    std::vector<double> values;
    for (const Report& report : reports) {
      values.push_back(static_cast<double>(report.step));
      values.push_back(static_cast<double>(report.metrics.size()));
      for (const auto& [name, value] : report.metrics) {
        const auto [at, is_new] = known.try_emplace(name, static_cast<double>(names.size()));
        if (is_new) names.push_back(name);
        values.push_back(at->second);
        values.push_back(value);
      }
    }
    trials.push_back({{"trial", trial}, {"reports", save_numbers(values)}});
  }
  return {{"events", save_numbers(numbers)}, {"names", names}, {"trials", trials}};
}

Result<AssessorEvents> load_assessor_events(const json& state) {
  AssessorEvents events;
  const auto numbers = TRY(numbers_at(state, "events"));
  const json names = TRY(array_at(state, "names"));
  for (const json& one : TRY(array_at(state, "trials"))) {
    const TrialId trial = TRY(integer_at(one, "trial"));
    const auto values = TRY(numbers_at(one, "reports"));
    events.reports[trial] = TRY(reports_from(trial, values, names));
  }
  if (numbers.size() % 2 != 0) return odd_event();
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    constexpr double kMost = 0x1p53;
    const double what = numbers[i + 1];
    if (!is_whole(numbers[i]) || !is_whole(what) || what > kMost) return odd_event();
    const auto trial = static_cast<TrialId>(numbers[i]);
    if (what >= 0) {
      events.events.emplace_back(Assessed{trial, static_cast<std::size_t>(what)});
    } else if (-1 - what <= static_cast<double>(End::imported)) {
      events.events.emplace_back(Ended{trial, static_cast<End>(-1 - static_cast<int>(what))});
    } else {
      return odd_event();
    }
  }
  return events;
}

}  // namespace attune
