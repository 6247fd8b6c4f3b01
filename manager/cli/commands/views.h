#pragma once
// The sub-commands that only read the store, whether a manager runs or not, and print. Each returns
// the exit code. An error means kExitFailed; main() prints it on standard error.
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
Result<int> view(const ImportanceOptions& options, const Console& console);
Result<int> view(const ExportOptions& options, const Console& console);
Result<int> view(const ConfigOptions& options, const Console& console);
Result<int> view(const CompareOptions& options, const Console& console);
Result<int> view(const CompletionWordsOptions& options, const Console& console);

}  // namespace attune
