#include "conformance/assessor_script.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

#include "base/rng.h"

namespace attune::conformance {

Script::Script() {
  Rng rng(5);
  std::map<TrialId, std::vector<Report>> live;
  TrialId next = 0;
  while (next < 60 || !live.empty()) {
    while (next < 60 && live.size() < 4) live[next++] = {};
    auto chosen = live.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(live.size())));
    auto& [trial, reports] = *chosen;
    if (reports.size() >= 10 || (!reports.empty() && rng.index(12) == 0)) {
      const End ends[] = {End::completed, End::completed, End::failed, End::stopped, End::diverged};
      calls.push_back({trial, {}, ends[rng.index(5)]});
      live.erase(chosen);
      continue;
    }
    const bool repeat = !reports.empty() && rng.index(8) == 0;
    Report report = {trial, std::ssize(reports), {{"default", rng.normal()}}};
    if (rng.index(15) == 0) report.metrics[0].second = rng.index(2) ? NAN : INFINITY;
    if (rng.index(30) == 0) report.metrics.clear();
    if (repeat) {
      report.step = static_cast<std::int64_t>(rng.index(reports.size()));
      reports[static_cast<std::size_t>(report.step)] = report;
    } else {
      reports.push_back(report);
    }
    calls.push_back({trial, reports, {}});
  }
}

std::string apply(Assessor& assessor, const Script::Call& call, Findings& findings) {
  if (call.reports.empty()) {
    assessor.trial_end(call.trial, call.end);
    return "";
  }
  const Decision decision = assessor.assess(call.trial, call.reports);
  findings.require(decision.trial == call.trial,
                   fmt::format("a decision about trial {}, which has reported", call.trial),
                   [&] { return fmt::format("one about trial {}", decision.trial); });
  const bool goes_on = decision.action == Action::keep_going;
  findings.require(goes_on || decision.action == Action::stop || decision.action == Action::pause,
                   "that the trial goes on, is stopped or paused",
                   [&] { return fmt::format("action {}", static_cast<int>(decision.action)); });
  findings.require(decision.reason.empty() == goes_on,
                   "a reason if and only if the trial does not go on",
                   [&] { return goes_on ? decision.reason : std::string("no reason"); });
  if (goes_on) return "go";
  if (decision.action == Action::pause) return "pause: " + decision.reason;
  return (decision.complete ? "complete: " : "stop: ") + decision.reason;
}

}  // namespace attune::conformance
