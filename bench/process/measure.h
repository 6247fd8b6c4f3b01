#pragma once
// What bench_process measures; docs/performance.md says why and how. Each function starts processes
// of its own, one a repetition, and throws when the dispatcher does not answer as it should.
#include <vector>

#include "bench/process/figure.h"
#include "bench/process/options.h"

namespace attune::bench {

// One byte to /bin/cat and back: two pipes, two context switches. What no dispatcher can undercut,
// and the scale by which figures of busy and of idle machines compare.
Figure pipe_round_trip(const Options& options);

// From the launch to Initialized; resident memory then; from Terminate to the exit of the process.
std::vector<Figure> life(const Options& options);

// RequestTrialJobs of one trial to the whole NewTrialJob; the final result of the trial before was
// sent just before, so its handling is part of it. Then resident memory.
std::vector<Figure> latency(const Options& options, const std::string& tuner);

// Intermediate results under Medianstop, 100 a trial, trials one after another; until the kill of a
// last trial, which is bad, has arrived: then everything before it has been judged. Metrics per
// second, processor time of the dispatcher for each, resident memory afterwards.
std::vector<Figure> throughput(const Options& options, int metrics);

}  // namespace attune::bench
