#pragma once
// NNI's trial file protocol, trial's side: records appended to .nni/metrics.
//   record := "ME" + length as 6 digits + JSON text + "\n"      the length counts bytes, line end
//   included
#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// Holds the file open. One thread at a time.
class MetricFile {
 public:
  // Including "ME" and the length, NNI's readers take less than this.
  static constexpr std::size_t kMaxRecord = 1'000'000;

  // Makes the file and its folder when they are missing.
  static Result<MetricFile> open(const std::filesystem::path& path);

  // Appends a record with one write(), so that a reader, or a kill in between, sees all of it or
  // nothing. If the disk is full, the part that was written is cut off again.
  Result<void> append(const json& record);

 private:
  std::filesystem::path path_;
  UniqueFd fd_;
};

}  // namespace attune
