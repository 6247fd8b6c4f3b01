#pragma once
// Finds the commonest causes of failed trials.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "manager/store/store_reader.h"

namespace attune {

// A group of trials that ended in the same way, and whose standard error ends with the same line.
struct FailureCause {
  std::int64_t count = 0;
  std::optional<Ending> ending;  // nothing: the trials never started
  std::string detail;            // "exit code 1"
  std::string last_line;  // the last line that is not blank, fit for a terminal; may be empty
  std::string trial;      // the newest trial of the group
};

// The commonest causes, at most kMostCauses, the commonest first. Reads all failed trials in the
// store, and the ends of at most kTrialsRead files. If more than kTrialsOfEnd trials ended in the
// same way, only the newest kTrialsOfEnd are read; all count as one cause, with the commonest line.
inline constexpr std::size_t kMostCauses = 3;
inline constexpr std::size_t kTrialsOfEnd = 16, kTrialsRead = 48;
Result<std::vector<FailureCause>> failure_causes(StoreReader& reader,
                                                 const StoredExperiment& experiment);

// One or more lines for each cause, with the command that shows more of it; empty: no causes.
std::string failure_causes_text(const std::vector<FailureCause>& causes,
                                const StoredExperiment& experiment);
json failure_causes_json(const std::vector<FailureCause>& causes);

}  // namespace attune
