#pragma once
// A random experiment for tests that compare an assessor with its rule computed from scratch:
// reports with ties, without the metric, not finite, repeated, and ends of all kinds.
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/rng.h"
#include "tests/support/assessor_feed.h"

namespace attune {

struct RandomCurves {
  using Curve = std::map<int, double>;  // step -> value; a step without the metric is missing

  // Calls expected(trial, curve, completed) -> bool after each report that has the metric, and
  // compares with whether the assessor stops the trial. `unusual`: how many of 100 reports are NaN
  // or infinite. Returns how many were stopped; a stopped trial goes on now and then.
  template <class Expected>
  int run(AssessorFeed& feed, std::uint64_t seed, int calls, std::size_t unusual,
          Expected expected) {
    Rng rng(seed);
    std::map<TrialId, Curve> live;
    std::map<TrialId, std::size_t> lengths;
    TrialId next = 0;
    int stops = 0;
    for (int call = 0; call < calls; ++call) {
      while (live.size() < 4) live[next++];
      auto chosen = live.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(live.size())));
      const TrialId trial = chosen->first;
      Curve& curve = chosen->second;
      std::size_t& length = lengths[trial];
      if (length > 0 && (length >= 12 || rng.index(12) == 0)) {
        const End ends[] = {End::completed, End::completed, End::completed, End::failed,
                            End::stopped};
        const End end = ends[rng.index(5)];
        feed.end(trial, end);
        if (end == End::completed) completed[trial] = curve;
        live.erase(chosen);
        continue;
      }
      const bool repeat = length > 0 && rng.index(10) == 0;
      const std::size_t step = repeat ? rng.index(length) : length++;
      std::optional<double> value = std::round(4 * rng.normal()) / 4 + 0.25 * double(trial % 3);
      if (rng.index(100) < unusual) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double odd[] = {NAN, NAN, infinity, -infinity};
        value = odd[rng.index(4)];
      }
      if (!repeat && rng.index(15) == 0) value.reset();
      Decision decision;
      if (repeat) {
        decision = feed.rewrite(trial, step, *value);
      } else if (value) {
        decision = feed.value(trial, *value);
      } else {
        decision = feed.metrics(trial, {{"other", 1}});
      }
      if (value) curve[static_cast<int>(step)] = *value;
      // A report without the metric is not judged, and neither is a repeated step if it is not the
      // last one and the last one lacks the metric.
      const bool judged = !curve.empty() && curve.rbegin()->first + 1 == static_cast<int>(length);
      const bool stop = judged && expected(trial, curve, completed);
      CAPTURE(call, trial, step, repeat, decision.reason);
      REQUIRE((decision.action == Action::stop) == stop);
      stops += stop;
      if (stop && rng.index(3) > 0) {
        feed.end(trial, End::stopped);
        live.erase(trial);
      }
      if (call % 150 == 149) feed.reload();
    }
    return stops;
  }

  std::map<TrialId, Curve> completed;
};

}  // namespace attune
