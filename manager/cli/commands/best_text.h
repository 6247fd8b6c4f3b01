#pragma once
// Texts about the best trials of an experiment. With several objectives or limits, the user must
// see the values of all of them, and whether the limits are kept.
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
// nearest 0.98 (t0007)"; empty if there is no best trial.
std::string best_text(const std::optional<BestSoFar>& best,
                      const std::vector<Objective>& objectives);

// " (limit: at most 2)", " (breaks the limit: at most 2)"; empty if the objective has no limit.
std::string limit_note(const TrialRecord& trial, const Objective& objective);

// Whether the best trial (the first) breaks a limit. Then no trial keeps all limits.
bool limits_broken(const std::vector<TrialRecord>& best, const std::vector<Objective>& objectives);

// `best`: all trade-offs, or the one trial that is nearest to the limits (StoreReader::best); may
// be empty. A line that says which of the two, and a table of all or of the first `count`. `width`:
// of the terminal, as for TextTable::text().
std::string trade_offs_text(const std::vector<TrialRecord>& best,
                            const std::vector<Objective>& objectives, std::size_t width,
                            std::optional<std::int64_t> count = std::nullopt);

// Adds the keys "objectives", the value of each, and "violation" of the limits. Adds nothing if
// there is only one objective.
void add_objectives(json& object, const TrialRecord& trial,
                    const std::vector<Objective>& objectives);

}  // namespace attune
