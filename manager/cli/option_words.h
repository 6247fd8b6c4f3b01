#pragma once
// Converts words of the command line that CLI11 cannot convert itself.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/trials/trial_record.h"

namespace attune {

// The largest amount of a resource; the coordinator accepts no more.
inline constexpr double kMostAmount = 1e18;

// --retry: "failed=restart" -> {failed, restart}. Errors name the text and the known words.
Result<std::map<std::string, std::string>> read_retries(const std::vector<std::string>& texts);

// --resource: "licence=2" -> {licence, 2}. Errors as above.
Result<std::map<std::string, double>> read_amounts(const std::vector<std::string>& texts);

// --status: status_word()s, in any order. Other words are ignored.
std::vector<TrialStatus> read_statuses(const std::vector<std::string>& texts);

}  // namespace attune
