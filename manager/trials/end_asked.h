#pragma once
// Why a running trial was asked to end. A later manager carries it out, so that the store has it.
#include <optional>
#include <string>
#include <string_view>

namespace attune {

struct EndAsked {
  enum class Kind {
    complete,    // it is done, or has met its own stop criterion: its last result is its final one
    early_stop,  // the decider, or a time limit
    by_user,
    pause,
    fail,       // its result cannot be judged
    interrupt,  // the experiment ends; of this and by_user a FINAL that it still reports counts
  };
  Kind kind;
  std::string reason;  // for people
};

// The words of the store: "complete", "early_stop", ...
std::string_view to_text(EndAsked::Kind kind);
std::optional<EndAsked::Kind> end_kind_of(std::string_view text);  // nothing: it is none of them

}  // namespace attune
