#pragma once
// The end of what a trial has printed.
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "manager/store/store_reader.h"

namespace attune {

// At most so many bytes of the end of a file. If that is not the whole file, it begins with a whole
// line, if there is one.
struct LogEnd {
  std::string text;
  std::int64_t left_out = 0;  // bytes before it
};

// `stream`: "stdout" or "stderr". The file must be a regular one of ours, since the answer may be
// shown to others. Error: the trial was not started yet, or has no such file.
Result<LogEnd> trial_log_end(const StoredExperiment& experiment, const TrialRecord& trial,
                             const std::string& stream, std::int64_t bytes);

}  // namespace attune
