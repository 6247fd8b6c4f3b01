#pragma once
// The rules by which a trial whose attempt ended badly gets another attempt.
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
  int limit = 0;  // so many attempts of a trial, of any class, may end badly; one more fails it

  bool resumes() const { return how == RetryHow::resume || how == RetryHow::resume_or_restart; }
};

class Retries {
 public:
  // The defaults: lost (up to 3 times) and stopped trials resume or restart; others fail at once.
  Retries();

  RetryRule& operator[](FailureClass c) { return rules_[static_cast<std::size_t>(c)]; }
  const RetryRule& operator[](FailureClass c) const { return rules_[static_cast<std::size_t>(c)]; }

  // The checkpoint from which the next attempt starts ("": from scratch), or nothing when the trial
  // gets no other attempt. `failures`: how many attempts of the trial have ended badly, this one
  // included. `newest`: its newest checkpoint; empty: it has none.
  std::optional<std::string> start_again(FailureClass c, int failures,
                                         const std::string& newest) const;

 private:
  std::array<RetryRule, kFailureClasses.size()> rules_;
};

// The class of an attempt that ended so. Nothing if it succeeded, and for restore_failed: the next
// attempt could not restore the checkpoint either.
std::optional<FailureClass> failure_class(Ending how);

}  // namespace attune
