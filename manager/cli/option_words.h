#pragma once
// What words on the command line mean, where CLI11 knows only that they are words.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/trials/trial_record.h"

namespace attune {

// Of anything that a machine has; what the coordinator takes.
inline constexpr double kMostAmount = 1e18;

// --retry: "failed=restart" -> {failed, restart}. Errors name the text and the known words.
Result<std::map<std::string, std::string>> read_retries(const std::vector<std::string>& texts);

// --resource: "licence=2" -> {licence, 2}. Errors as above.
Result<std::map<std::string, double>> read_amounts(const std::vector<std::string>& texts);

// --status: lower-case names; others are ignored.
std::vector<TrialStatus> read_statuses(const std::vector<std::string>& texts);

}  // namespace attune
