#pragma once
// The sub-commands that only look: they read the store, whether a manager runs or not, and print.
// Each yields the exit code; an error is for standard error, and means kExitFailed.
#include "base/result.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

Result<int> view(const ListOptions& options, const Console& console);
Result<int> view(const StatusOptions& options, const Console& console);
Result<int> view(const TrialsOptions& options, const Console& console);
Result<int> view(const ShowOptions& options, const Console& console);
Result<int> view(const BestOptions& options, const Console& console);
Result<int> view(const LogsOptions& options, const Console& console);
Result<int> view(const ExportOptions& options, const Console& console);
Result<int> view(const ConfigOptions& options, const Console& console);
Result<int> view(const CompareOptions& options, const Console& console);
Result<int> view(const CompletionWordsOptions& options, const Console& console);

}  // namespace attune
