#pragma once
// Makes a study again from the bytes of its file.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "study/core.h"

namespace attune {

struct Replayed {
  std::unique_ptr<StudyCore> core = {};
  json header = {};
  std::size_t length = 0;  // of the whole lines; the caller cuts off a torn line behind them
  std::vector<std::string> warnings = {};
};

// Errors name the line, counted from 1. If this version proposes other trials than the version that
// wrote the file, all trials of the file are adopted as they were run, with a warning: no result is
// lost, but the study continues differently.
Result<Replayed> replay(std::string_view bytes, const TunerRegistry& tuners,
                        const AssessorRegistry& assessors);

}  // namespace attune
