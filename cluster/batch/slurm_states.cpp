#include "cluster/batch/slurm_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace attune {
namespace {

using enum BatchPhase;
using Cause = BatchCause;

struct Word {
  std::string_view word;
  BatchPhase phase;
  BatchCause cause = Cause::none;
};

constexpr std::array kWords = {
    Word{"PENDING", pending},
    Word{"CONFIGURING", pending},
    Word{"POWER_UP_NODE", pending},
    Word{"EXPEDITING", pending},
    Word{"REQUEUED", pending},
    Word{"REQUEUE_FED", pending},
    Word{"REQUEUE_HOLD", pending},
    Word{"RESV_DEL_HOLD", pending},
    Word{"SPECIAL_EXIT", pending},
    Word{"RUNNING", running},
    Word{"RESIZING", running},
    Word{"SIGNALING", running},
    Word{"SUSPENDED", suspended},
    Word{"STOPPED", suspended},
    Word{"COMPLETING", completing},
    Word{"STAGE_OUT", completing},
    Word{"UPDATE_DB", completing},
    Word{"COMPLETED", ended, Cause::completed},
    Word{"FAILED", ended, Cause::failed},
    Word{"LAUNCH_FAILED", ended, Cause::failed},
    Word{"RECONFIG_FAIL", ended, Cause::failed},
    Word{"NODE_FAIL", ended, Cause::node_failed},
    Word{"PREEMPTED", ended, Cause::preempted},
    Word{"TIMEOUT", ended, Cause::time_limit},
    Word{"OUT_OF_MEMORY", ended, Cause::out_of_memory},
    Word{"BOOT_FAIL", ended, Cause::boot_failed},
    Word{"CANCELLED", ended, Cause::cancelled},
    Word{"DEADLINE", ended, Cause::deadline},
    Word{"REVOKED", ended, Cause::revoked},
};

struct Reason {
  std::string_view begin;
  std::string_view why;
  bool failed_to_start = false;
};

constexpr std::string_view kTooBig = "it asks for more than the partition, account or qos permits";

// Matched by the beginning of the reason. AssocGrp... and QOSGrp... are not here, because these
// limits are shared with other jobs and pass. For limits of one job, which do not pass, see
// slurm_stuck().
constexpr std::array kStuck = {
    Reason{"DependencyNeverSatisfied",
           "it waits for a job that cannot succeed any more; cancel it"},
    Reason{"launch failed requeued held",
           "a node could not start it; see `sinfo -R`, then `scontrol release` it", true},
    Reason{"JobHeldAdmin", "an administrator holds it; ask them, or cancel it"},
    Reason{"JobHeldUser", "it is held; `scontrol release` it, or cancel it"},
    Reason{"JobHoldMaxRequeue", "it was started too often; `scontrol release` it, or cancel it"},
    Reason{"job requeued in held state", "it is held; `scontrol release` it, or cancel it"},
    Reason{"PartitionNodeLimit", kTooBig},
    Reason{"PartitionTimeLimit", kTooBig},
    Reason{"BadConstraints", "no node is as it wants"},
    Reason{"PartitionDown", "its partition is down"},
    Reason{"PartitionInactive", "its partition is inactive"},
    Reason{"NodeDown", "the node that it wants is down"},
    Reason{"AccountNotAllowed", "the account may not use the partition"},
    Reason{"QOSNotAllowed", "the qos may not be used in the partition"},
    Reason{"InvalidAccount", "the account is not valid"},
    Reason{"InvalidQOS", "the qos is not valid"},
    Reason{"ReservationDeleted", "its reservation was deleted"},
};

const Reason* known_reason(std::string_view reason) {
  const auto* known = std::ranges::find_if(
      kStuck, [&](const Reason& each) { return reason.starts_with(each.begin); });
  return known == kStuck.end() ? nullptr : known;
}

std::optional<std::string_view> cut(std::string_view& line) {
  const std::size_t bar = line.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  const std::string_view field = line.substr(0, bar);
  line.remove_prefix(bar + 1);
  return field;
}

bool is_state_word(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

// 12, 12_3 of an array, 12+1 of a job of several parts.
bool is_id(std::string_view id) {
  return !id.empty() && std::isdigit(static_cast<unsigned char>(id[0])) != 0;
}

// Ids are numbers, so the longer one is larger.
bool later_id(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

bool preferred(const BatchState& a, const BatchState& b) {
  if ((a.phase == ended) != (b.phase == ended)) return a.phase != ended;
  return later_id(a.id, b.id);
}

void add_line(BatchStates& states, std::string_view line) {
  const auto name = cut(line);
  const auto id = cut(line);
  const auto word = cut(line);
  if (!name || !id || !word || !is_id(*id) || !is_state_word(*word)) return;
  BatchState state = slurm_state(*word);
  state.id = *id;
  state.reason = line == "None" ? "" : line;
  if (state.phase == pending) {
    const Reason* known = known_reason(line);
    state.stuck = slurm_stuck(line);
    state.failed_to_start = known != nullptr && known->failed_to_start;
  }
  const auto [known, is_new] = states.try_emplace(std::string(*name), state);
  if (!is_new && preferred(state, known->second)) known->second = state;
}

}  // namespace

BatchState slurm_state(std::string_view word) {
  BatchState state;
  state.phase = running;
  if (const auto* known = std::ranges::find(kWords, word, &Word::word); known != kWords.end()) {
    state.phase = known->phase;
    state.cause = known->cause;
  }
  return state;
}

std::string slurm_stuck(std::string_view reason) {
  if (const Reason* known = known_reason(reason)) return fmt::format("{} ({})", known->why, reason);
  const bool of_one_job = reason.starts_with("QOSMax") || reason.starts_with("AssocMax");
  // Limits of a user or an account, and on the number of jobs, are shared with other jobs: they
  // pass.
  const bool passes = reason.find("PerUser") != std::string_view::npos ||
                      reason.find("PerAccount") != std::string_view::npos ||
                      reason.find("JobsLimit") != std::string_view::npos;
  return of_one_job && !passes ? fmt::format("{} ({})", kTooBig, reason) : "";
}

BatchStates parse_slurm_states(std::string_view text) {
  BatchStates states;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_line(states, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return states;
}

}  // namespace attune
