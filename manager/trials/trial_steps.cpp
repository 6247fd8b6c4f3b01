#include "manager/trials/trial_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attune {
namespace {

constexpr double kMost = 4503599627370496;  // 2^52: attuned refuses larger ones

}  // namespace

std::optional<std::int64_t> iteration_of(const Metrics& metrics, std::string_view fidelity) {
  auto found = std::ranges::find(metrics, "training_iteration", &Metrics::value_type::first);
  if (found == metrics.end())
    found = std::ranges::find(metrics, fidelity, &Metrics::value_type::first);
  if (found == metrics.end()) return std::nullopt;
  if (!(found->second >= 1 && found->second < kMost)) return std::nullopt;  // NaN, too
  return static_cast<std::int64_t>(found->second);
}

void TrialSteps::begin(std::optional<std::int64_t> before) {
  before_ = before;
  done_ = before.value_or(0);
  offset_.reset();
  if (!before) untold_ = 0;
}

std::int64_t TrialSteps::next(std::int64_t sequence, std::optional<std::int64_t> iteration) {
  if (!offset_) offset_ = offset_of(sequence, iteration);
  const std::int64_t step = *offset_ + sequence;
  const bool counts = step >= 0 && iteration && *iteration % (step + 1) == 0;
  const std::int64_t stride = counts ? *iteration / (step + 1) : 0;
  stride_ = stride == 1 || stride == last_stride_ ? stride : 0;
  last_stride_ = stride;
  done_ = std::max(done_, step + 1);
  return step;
}

std::int64_t TrialSteps::offset_of(std::int64_t sequence,
                                   std::optional<std::int64_t> iteration) const {
  if (!before_) return 0;
  const auto near = [this](std::int64_t step) { return std::abs(step - *before_) <= kFarthest; };
  // A number that is too far from before_ counts something else; this result is then step before_.
  if (sequence > 0) return near(sequence) ? 0 : *before_ - sequence;
  const bool counts = iteration && stride_ > 0 && *iteration % stride_ == 0;
  if (counts && near(*iteration / stride_ - 1)) return *iteration / stride_ - 1;
  return *before_;
}

void TrialSteps::told(std::int64_t step) { untold_ = std::max(untold_, step + 1); }

}  // namespace attune
