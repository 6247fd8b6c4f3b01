#pragma once
// What remains of an experiment: one JSON line for each finished trial, and the best of them.
#include <filesystem>
#include <optional>
#include <string>

#include "backends/unique_fd.h"
#include "base/json.h"
#include "base/result.h"
#include "runner/trial_record.h"

namespace attune {

json to_json(const TrialRecord& trial);  // the line; docs/experiment-file.md lists its keys

// results.jsonl. Each line is written whole, at once, when its trial ends.
class ResultsFile {
 public:
  // Fails when another process has it open, or when it holds results of another run.
  static Result<ResultsFile> open(const std::filesystem::path& path);

  Result<void> append(const TrialRecord& trial);

 private:
  ResultsFile(std::filesystem::path path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  std::filesystem::path path_;
  UniqueFd fd_;
};

// The succeeded trial with the best score; the first of equals.
class BestTrial {
 public:
  explicit BestTrial(bool maximize) : maximize_(maximize) {}

  void offer(const TrialRecord& trial);
  const std::optional<TrialRecord>& get() const { return best_; }

 private:
  bool maximize_;
  std::optional<TrialRecord> best_;
};

}  // namespace attune
