#pragma once
// Writes the reports of a simulated trial in the form of a real one: the JSON text that NNI's trial
// library writes, and the same report decoded, so that nobody has to parse the text.
#include <cstdint>
#include <optional>
#include <string>

#include "backends/trial_backend.h"

namespace attune {

// Writes the reports of one attempt; it keeps what they have in common.
class MetricWriter {
 public:
  MetricWriter() = default;
  // `plain`: the value alone, instead of an object in which it has the name `metric`.
  MetricWriter(const ParameterId& parameter_id, const std::string& job_id, bool plain,
               std::string metric);

  // PERIODICAL: the value, or {metric, "training_iteration": epoch, "time_this_iter_s": seconds}.
  // FINAL: without the seconds, because readers that add them up must not count those of an epoch
  // twice.
  TrialReport periodical(double value, int epoch, double seconds);
  TrialReport final(double value, int epoch);

 private:
  TrialReport report(ReportMetricData::Type type, std::int64_t sequence, double value, int epoch,
                     std::optional<double> seconds);

  bool plain_ = false;
  std::string name_, name_text_;  // of the value; as JSON inside of a JSON text
  ReportMetricData metric_;       // what all reports have in common
  std::string head_;              // the same as text
  std::int64_t sequence_ = 0;     // of the next PERIODICAL one
  std::uint64_t position_ = 0;
};

}  // namespace attune
