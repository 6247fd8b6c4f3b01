#pragma once
// When and where a trial ran, as timelines show it.
#include <span>
#include <string>
#include <vector>

#include "manager/store/store_reader.h"

namespace attune {

// "w7", "w7 gpu 0,1" or "gpu 2"; empty: neither a worker nor GPUs are known.
std::string place_text(const std::string& worker, const std::string& gpus);

struct ShownRun {
  double began = 0, ended = 0;  // seconds since 1970-01-01 UTC; ended is NaN while it goes on
  std::string worker, gpus;
  TrialStatus status = TrialStatus::running;  // in which it left its trial
};

// `status` and `end`: of the trial, as in TrialRecord. `runs`: all of it, the first one first. A
// run of which nobody saw the end, since its manager was killed, ends at the latest when the next
// one begins.
std::vector<ShownRun> shown_runs(TrialStatus status, double end, std::span<const TrialRun> runs);

// How much later than the beginning of this run another one at the same place may end without
// overlapping it: seconds. Clocks and events of several machines are never exact.
double overlap_slack(const ShownRun& run);

}  // namespace attune
