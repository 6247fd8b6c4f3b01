#pragma once
// Recorded decisions of the schedulers of Ray Tune and Syne Tune (tests/data/scheduler-traces). The
// variable ATTUNE_SCHEDULER_TRACES names a folder with others of the same names and formats, which
// the tests replay instead.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

inline std::filesystem::path traces_folder() {
  const char* other = std::getenv("ATTUNE_SCHEDULER_TRACES");
  return other ? other : ATTUNE_TEST_DATA "/scheduler-traces";
}

inline json read_trace(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  auto trace = parse_json(text.str());
  if (!trace) FAIL(path << ": " << trace.error().message);
  return *std::move(trace);
}

// All traces whose file name begins with `trace_` and `prefix`, in the order of their names. There
// must be one at least.
inline std::vector<std::filesystem::path> traces(const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(traces_folder())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("trace_" + prefix)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  INFO("traces of " << prefix << " in " << traces_folder());
  REQUIRE_FALSE(found.empty());
  return found;
}

}  // namespace attune
