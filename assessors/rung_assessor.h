#pragma once
// An assessor around a rule that stops trials at rungs (rungs/stopping.h).
//
// A trial is drawn into its bracket at its first report, whatever that report holds. All reports
// that the rule has not seen are judged in their order; the first stop is the decision. A report
// without one of the metrics, or without a usable resource, is left out.
//
// A step that was reported again changes nothing: a rung keeps the result by which it judged. Such
// steps come from a trial that began again or went back to a checkpoint. A trial whose id comes
// again after its end is a new one.
//
// trial_end() forgets the trial; its results stay in the rungs. A completed trial's last report has
// been judged as the others. (Ray's AsyncHyperBand counts it once more at the end, at a lower rung
// that the trial jumped over. It must, because it did not judge the report with which a trial ends;
// here the rung would get a result of more resource than its others.)
#include <map>
#include <memory>
#include <optional>

#include "assessors/assessor.h"
#include "rungs/stopping.h"

namespace attune {

class RungAssessor final : public Assessor {
 public:
  // `time_attr`: the metric that is the resource (rungs/resource.h). Nothing: it is the number of
  // the report, counted from 0.
  RungAssessor(std::unique_ptr<StoppingRule> rule, std::vector<Objective> objectives,
               std::optional<std::string> time_attr, Rng rng)
      : rule_(std::move(rule)),
        objectives_(std::move(objectives)),
        time_attr_(std::move(time_attr)),
        rng_(rng) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override;
  void trial_end(TrialId trial, End) override { trials_.erase(trial); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  struct Trial {
    std::size_t judged = 0;  // so many of its reports
    RungVisitor visitor = {};
  };

  std::unique_ptr<StoppingRule> rule_;
  std::vector<Objective> objectives_;
  std::optional<std::string> time_attr_;
  Rng rng_;
  std::map<TrialId, Trial> trials_;  // that run
};

}  // namespace attune
