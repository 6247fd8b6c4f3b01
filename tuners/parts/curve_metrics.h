#pragma once
// What FreezeThaw reads of reports and outcomes, and how it speaks of them.
#include <optional>
#include <string>
#include <vector>

#include "base/trial.h"
#include "tuners/parts/curve_results.h"
#include "tuners/tuner.h"

namespace attune {

// A value. Results have the form of CurveResults.
class CurveMetrics {
 public:
  // `attribute`: the metric that counts how far a trial is.
  CurveMetrics(std::string attribute, const std::vector<Objective>& objectives);

  CurveShape shape() const { return {objectives_.size(), limits_.size()}; }
  const std::string& attribute() const { return attribute_; }

  struct Progress {
    double resource = 0;
    std::vector<double> result;  // a number of it may be NaN: it was not finite
  };
  // Nothing: the report lacks the resource or an objective. A limit whose metric it lacks is kept.
  std::optional<Progress> operator()(const Report& report) const;
  // Nothing: it is not usable, or lacks an objective, or one is not finite.
  std::optional<std::vector<double>> operator()(const Outcome& outcome) const;

  // "0.4", "(0.4, 9)" or "a result over its limits by 2.5".
  std::string text(const std::vector<double>& result) const;
  // What reports of NaN are about: "\"loss\"" or "one of the objectives".
  std::string not_finite_text(double resource) const;

 private:
  void append_excesses(const Metrics& metrics, std::vector<double>& result) const;

  std::string attribute_;
  std::vector<Objective> objectives_, limits_;
};

}  // namespace attune
