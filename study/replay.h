#pragma once
// A study again, from the bytes of its file.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "study/core.h"

namespace attune {

struct Replayed {
  std::unique_ptr<StudyCore> core = {};
  json header = {};
  std::size_t length = 0;  // of what counts; a torn line behind it is to be cut off
  std::vector<std::string> warnings = {};
};

// Errors name the line, counted from 1. Where this version proposes other trials than the one that
// wrote the file, all trials of the file are adopted as they were run, with a warning: nothing is
// lost, but the study goes on differently.
Result<Replayed> replay(std::string_view bytes, const TunerRegistry& tuners,
                        const AssessorRegistry& assessors);

}  // namespace attune
