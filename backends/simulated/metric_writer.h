#pragma once
// What a simulated trial reports, in the form in which a real one does: the JSON text that NNI's
// trial library writes, and beside it the same decoded, so that nobody has to parse it again.
#include <cstdint>
#include <optional>
#include <string>

#include "backends/trial_backend.h"

namespace attune {

// Of one attempt; it knows what all its reports share.
class MetricWriter {
 public:
  MetricWriter() = default;
  // plain: the value alone instead of an object around it, in which it has the name `metric`.
  MetricWriter(const ParameterId& parameter_id, const std::string& job_id, bool plain,
               std::string metric);

  // PERIODICAL: the value, or {metric, "training_iteration": epoch, "time_this_iter_s":
  // seconds}. FINAL: without the seconds; whoever adds them up must not see those of an epoch
  // twice.
  TrialReport periodical(double value, int epoch, double seconds);
  TrialReport final(double value, int epoch);

 private:
  TrialReport report(ReportMetricData::Type type, std::int64_t sequence, double value, int epoch,
                     std::optional<double> seconds);

  bool plain_ = false;
  std::string name_, name_text_;  // of the value; as JSON within a JSON text
  ReportMetricData metric_;       // without what differs
  std::string head_;              // the same as text
  std::int64_t sequence_ = 0;     // of the next PERIODICAL one
  std::uint64_t position_ = 0;
};

}  // namespace attune
