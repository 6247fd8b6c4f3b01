#pragma once
// Why the trials of an experiment failed: the commonest causes.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "manager/store/store_reader.h"

namespace attune {

// Trials that ended in the same way, and whose standard error ends with the same line.
struct FailureCause {
  std::int64_t count = 0;
  std::optional<Ending> ending;  // nothing: none of them was started
  std::string detail;            // "exit code 1"
  std::string last_line;         // the last one that is not blank, for a terminal; may be empty
  std::string trial;             // the newest of them
};

// At most kMostCauses, the commonest first. One pass over the failed trials in the store, and the
// ends of at most kTrialsRead files: where more trials than kTrialsOfEnd ended alike they count as
// one cause, whose line is the commonest one of the newest kTrialsOfEnd.
inline constexpr std::size_t kMostCauses = 3;
inline constexpr std::size_t kTrialsOfEnd = 16, kTrialsRead = 48;
Result<std::vector<FailureCause>> failure_causes(StoreReader& reader,
                                                 const StoredExperiment& experiment);

// Lines with the command that shows more of each; empty: there are none.
std::string failure_causes_text(const std::vector<FailureCause>& causes,
                                const StoredExperiment& experiment);
json failure_causes_json(const std::vector<FailureCause>& causes);

}  // namespace attune
