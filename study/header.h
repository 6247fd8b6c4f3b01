#pragma once
// The first line of a study file: what the study was made with.
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "study/study_options.h"

namespace attune {

// Without the options that concern only this process: file, if_exists, durability.
json make_header(const json& space, const StudyOptions& options);

struct Header {
  json space = {};
  StudyOptions options = {};
};
Result<Header> read_header(const json& line);

}  // namespace attune
