// A plug-in of attuned with one assessor, in one file.
#include <attune/plugins/attune_plugin.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace attune::plugin;

// Stops a trial that has not improved for `patience` reports.
class Patience : public Assessor {
 public:
  explicit Patience(const Setup& setup);

  Decision assess(std::int64_t trial, const std::vector<Report>& reports) override;
  // Everything that it needs is in the reports.
  std::string save() override { return ""; }
  void load(const std::string&) override {}

 private:
  const std::size_t patience_;
  const std::string metric_;
  const bool maximize_;
};

Patience::Patience(const Setup& setup)
    : patience_(static_cast<std::size_t>(setup.number("patience"))),
      metric_(setup.objectives[0].metric),
      maximize_(setup.objectives[0].maximize) {}

Decision Patience::assess(std::int64_t trial, const std::vector<Report>& reports) {
  std::size_t best = 0;
  double best_value = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto found = reports[i].metrics.find(metric_);
    if (found == reports[i].metrics.end()) continue;
    const double value = maximize_ ? -found->second : found->second;
    if (value < best_value) {
      best = i;
      best_value = value;
    }
  }
  const std::size_t since = reports.size() - 1 - best;
  if (since < patience_) return {trial};
  return {trial, ATTUNE_STOP, "no better for " + std::to_string(since) + " reports"};
}

}  // namespace

ATTUNE_PLUGIN(attune::plugin::assessor<Patience>(
                  "Patience", "stops a trial that has not improved for some reports")
                  .argument("patience", 5, "so many reports", 1, 1e6)
                  .saves())
