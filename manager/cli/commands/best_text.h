#pragma once
// How the best trials of an experiment are shown. Where there are several objectives, or limits, a
// user must see all of them, and whether the limits are kept.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/trial.h"
#include "manager/trials/trial_record.h"

namespace attune {

inline constexpr const char* kNoneKeepsLimits = "no trial keeps the limits yet";

// "minimize loss", "seconds at most 2".
std::string sought_text(const Objective& objective);

// "best 0.98 (t0007)", "12 trade-offs, best loss 0.1 (t0007)", "no trial keeps the limits yet,
// nearest 0.98 (t0007)"; empty for nothing.
std::string best_text(const std::optional<BestSoFar>& best,
                      const std::vector<Objective>& objectives);

// " (limit: at most 2)", " (breaks the limit: at most 2)"; empty for what has none.
std::string limit_note(const TrialRecord& trial, const Objective& objective);

// Whether the first breaks a limit: no trial keeps them all then.
bool limits_broken(const std::vector<TrialRecord>& best, const std::vector<Objective>& objectives);

// All trade-offs, or the one trial that is nearest to the limits, which are not empty: a line that
// says which, and a table of them, or of the first `count`, as wide as TextTable has it.
std::string trade_offs_text(const std::vector<TrialRecord>& best,
                            const std::vector<Objective>& objectives, std::size_t width,
                            std::optional<std::int64_t> count = std::nullopt);

// Adds "objectives", the number of each, and "violation" of the limits; nothing where one objective
// says it all.
void add_objectives(json& object, const TrialRecord& trial,
                    const std::vector<Objective>& objectives);

}  // namespace attune
