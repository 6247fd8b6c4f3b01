#pragma once
// Why a running trial was asked to end. The store keeps it, so that a later manager can carry it
// out if this one dies first.
#include <optional>
#include <string>
#include <string_view>

namespace attune {

struct EndAsked {
  enum class Kind {
    complete,    // its last result says `done`, or meets stop.trial or the experiment's goal, or
                 // the decider says that the trial has used its whole resource; that result is the
                 // final one
    early_stop,  // by the decider or by maxTrialDuration
    by_user,     // a FINAL that the trial still reports counts
    pause,       // by the decider
    fail,        // its result lacks a metric that stop.trial compares
    interrupt,   // the experiment ends; a FINAL that the trial still reports counts
  };
  Kind kind;
  std::string reason;  // for people
};

// The words of the store: "complete", "early_stop", ...
std::string_view to_text(EndAsked::Kind kind);
std::optional<EndAsked::Kind> end_kind_of(std::string_view text);  // nothing: an unknown word

}  // namespace attune
