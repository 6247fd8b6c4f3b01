#pragma once
// The recordings of NNI in tests/data/transcripts: one JSON object per line. `dir` is "out" for
// what the manager sent, "in" for what the tuner answered; `code` is the two-letter command.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

inline std::vector<json> read_recording(const std::string& name) {
  std::ifstream file(ATTUNE_TEST_DATA "/transcripts/" + name + ".jsonl");
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) {
    auto parsed = parse_json(line);
    if (!parsed) FAIL(name << ": " << parsed.error().message);
    lines.push_back(*std::move(parsed));
  }
  if (lines.empty()) FAIL("no recording " << name);
  return lines;
}

// The text of `key`, or "".
inline std::string text_at(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace attune
