#pragma once
// Mistakes in what a user has written, and all that `attune run` says of them.
#include <catch2/catch.hpp>

#include "tests/manager/app/program_folder.h"

namespace attune {

struct Mistake {
  std::string what;                 // for messages of the test
  std::string text;                 // of e.yaml
  std::vector<std::string> errors;  // the begin of each line, in order; nothing else may be said
};

// What is said of a file of the user's, one a line, without the line with their number.
inline std::vector<std::string> errors_in(const std::string& err) {
  std::vector<std::string> lines;
  std::istringstream stream(err);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("attune: ")) line.erase(0, 8);
    if (!line.ends_with(" errors:")) lines.push_back(line);
  }
  return lines;
}

// `more`: other files, by name.
inline void check_mistake(const Mistake& mistake,
                          const std::vector<std::pair<std::string, std::string>>& more = {}) {
  CAPTURE(mistake.what, mistake.text);
  const ProgramFolder folder;
  std::ofstream(folder.path / "e.yaml") << mistake.text;
  for (const auto& [name, text] : more) std::ofstream(folder.path / name) << text;
  const Run run = folder.run({"run", "e.yaml", "--dir", "exp"});
  CAPTURE(run.err);
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  CHECK_FALSE(std::filesystem::exists(folder.path / "exp"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "attune-experiments"));
  const std::vector<std::string> said = errors_in(run.err);
  REQUIRE(said.size() == mistake.errors.size());
  for (std::size_t i = 0; i < said.size(); ++i)
    CHECK_THAT(said[i], Catch::StartsWith(mistake.errors[i]));
  if (said.size() > 1)
    CHECK_THAT(run.err, Catch::StartsWith("attune: " + std::to_string(said.size()) + " errors:\n"));
}

}  // namespace attune
