#pragma once
// What is done with an attempt that ended badly.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "backends/trial_backend.h"
#include "base/result.h"

namespace attune {

// failed, signalled, out of memory: the trial ended by itself. lost: its machine or its shim died.
// stopped: the experiment was interrupted while it ran.
enum class FailureClass { failed, signalled, out_of_memory, lost, stopped };
inline constexpr std::array<std::string_view, 5> kFailureClasses = {
    "failed", "signalled", "outOfMemory", "lost", "stopped"};

std::optional<FailureClass> parse_failure_class(std::string_view text);

enum class RetryHow {
  skip,               // never
  restart,            // from scratch
  resume,             // from the newest checkpoint; not without one
  resume_or_restart,  // from the newest checkpoint, without one from scratch
};
inline constexpr std::array<std::string_view, 4> kRetryHows = {"skip", "restart", "resume",
                                                               "resumeOrRestart"};
std::optional<RetryHow> parse_retry_how(std::string_view text);

struct RetryRule {
  RetryHow how = RetryHow::skip;
  int limit = 0;  // attempts of a trial that may have ended badly, of any class
};

class Retries {
 public:
  // Lost (3 times) and stopped trials go on or start again; others are not retried.
  Retries();

  RetryRule& operator[](FailureClass c) { return rules_[static_cast<std::size_t>(c)]; }
  const RetryRule& operator[](FailureClass c) const { return rules_[static_cast<std::size_t>(c)]; }

  // The checkpoint to start again from ("": from scratch), or nothing: the trial has failed.
  // `failures` counts this one, `newest` is empty when there is no checkpoint.
  std::optional<std::string> start_again(FailureClass c, int failures,
                                         const std::string& newest) const;

 private:
  std::array<RetryRule, kFailureClasses.size()> rules_;
};

// Of an attempt that nobody here asked to end. Nothing for one that succeeded, and for one that no
// retry can mend (restore_failed).
std::optional<FailureClass> failure_class(Ending how);

}  // namespace attune
