#include "manager/dashboard/shown_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

constexpr double kGoesOn = std::numeric_limits<double>::quiet_NaN();

// Of a run after which the trial went on.
TrialStatus status_after(const std::optional<Ending>& ending) {
  if (!ending) return TrialStatus::paused;  // its manager was killed
  switch (*ending) {
    case Ending::succeeded:
    case Ending::stopped:
    case Ending::paused:
      return TrialStatus::paused;
    case Ending::failed:
    case Ending::signalled:
    case Ending::out_of_memory:
    case Ending::lost:
    case Ending::restore_failed:
      return TrialStatus::failed;
  }
  return TrialStatus::failed;
}

}  // namespace

std::string place_text(const std::string& worker, const std::string& gpus) {
  if (gpus.empty()) return worker;
  return (worker.empty() ? "gpu " : worker + " gpu ") + gpus;
}

std::vector<ShownRun> shown_runs(TrialStatus status, double end, std::span<const TrialRun> runs) {
  std::vector<ShownRun> shown;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TrialRun& run = runs[i];
    const bool last = i + 1 == runs.size();
    const double unseen = last ? kGoesOn : runs[i + 1].started;
    ShownRun next{run.started, run.ended.value_or(unseen), run.worker, run.gpus,
                  status_after(run.ending)};
    if (last && (has_ended(status) || !run.ended)) next.status = status;
    if (last && has_ended(status) && !run.ended) next.ended = end;
    shown.push_back(std::move(next));
  }
  return shown;
}

double overlap_slack(const ShownRun& run) {
  constexpr double kMost = 1, kShare = 0.25;
  return std::isnan(run.ended) ? kMost : std::min(kMost, kShare * (run.ended - run.began));
}

}  // namespace attune
