#include "manager/trials/trial_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attune {
namespace {

constexpr double kMost = 4503599627370496;  // 2^52: attuned refuses larger ones

}  // namespace

std::optional<std::int64_t> iteration_of(const Metrics& metrics) {
  const auto found = std::ranges::find(metrics, "training_iteration", &Metrics::value_type::first);
  if (found == metrics.end()) return std::nullopt;
  if (!(found->second >= 1 && found->second < kMost)) return std::nullopt;  // NaN, too
  return static_cast<std::int64_t>(found->second);
}

void TrialSteps::begin(std::int64_t before) {
  before_ = done_ = before;
  offset_.reset();
  if (before == 0) untold_ = 0;
}

std::int64_t TrialSteps::next(std::int64_t sequence, const Metrics& metrics) {
  const auto iteration = iteration_of(metrics);
  if (!offset_) offset_ = offset_of(sequence, iteration);
  const std::int64_t step = *offset_ + sequence;
  step_is_iteration_ = iteration == step + 1;
  done_ = std::max(done_, step + 1);
  return step;
}

std::int64_t TrialSteps::offset_of(std::int64_t sequence,
                                   std::optional<std::int64_t> iteration) const {
  if (before_ == 0) return 0;
  const auto near = [this](std::int64_t step) { return std::abs(step - before_) <= kFarthest; };
  // A number that is too far from before_ counts something else; this result is then step before_.
  if (sequence > 0) return near(sequence) ? 0 : before_ - sequence;
  if (iteration && step_is_iteration_ && near(*iteration - 1)) return *iteration - 1;
  return before_;
}

void TrialSteps::told(std::int64_t step) { untold_ = std::max(untold_, step + 1); }

}  // namespace attune
