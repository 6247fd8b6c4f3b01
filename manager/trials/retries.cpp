#include "manager/trials/retries.h"

#include <algorithm>
#include <limits>

namespace attune {

std::optional<FailureClass> parse_failure_class(std::string_view text) {
  if (text == "out_of_memory") text = "outOfMemory";  // as on the command line
  const auto* found = std::ranges::find(kFailureClasses, text);
  if (found == kFailureClasses.end()) return std::nullopt;
  return static_cast<FailureClass>(found - kFailureClasses.begin());
}

std::optional<RetryHow> parse_retry_how(std::string_view text) {
  const auto* found = std::ranges::find(kRetryHows, text);
  if (found == kRetryHows.end()) return std::nullopt;
  return static_cast<RetryHow>(found - kRetryHows.begin());
}

Retries::Retries() {
  (*this)[FailureClass::lost] = {RetryHow::resume_or_restart, 3};
  (*this)[FailureClass::stopped] = {RetryHow::resume_or_restart, std::numeric_limits<int>::max()};
}

std::optional<std::string> Retries::start_again(FailureClass c, int failures,
                                                const std::string& newest) const {
  const RetryRule& rule = (*this)[c];
  if (failures > rule.limit || rule.how == RetryHow::skip) return std::nullopt;
  if (rule.how == RetryHow::restart) return "";
  if (newest.empty() && rule.how == RetryHow::resume) return std::nullopt;
  return newest;
}

std::optional<FailureClass> failure_class(Ending how) {
  switch (how) {
    case Ending::failed:
      return FailureClass::failed;
    case Ending::signalled:
      return FailureClass::signalled;
    case Ending::out_of_memory:
      return FailureClass::out_of_memory;
    case Ending::lost:
      return FailureClass::lost;
    case Ending::stopped:
    case Ending::paused:
      return FailureClass::stopped;
    case Ending::succeeded:
    case Ending::restore_failed:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace attune
