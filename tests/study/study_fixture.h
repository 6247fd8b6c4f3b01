#pragma once
// What the tests of studies share: a small problem, files of their own, and a study as text.
#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/json.h"
#include "study/space_builder.h"
#include "study/study.h"
#include "tests/support/temporary_folder.h"

namespace attune::test {

inline json small_space() {
  return SpaceBuilder().uniform("x", -5, 5).choice("kind", {"a", "b"}).build();
}

inline double cost(const json& p) {
  const double x = p.at("x").get<double>();
  return x * x + (p.at("kind") == "a" ? 0 : 1);
}

struct Folder : TemporaryFolder {
  std::string file(const std::string& name) const { return path / name; }
};

inline std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// All that trials() says, for comparing studies.
inline std::string summary(const Study& study) {
  std::string text;
  for (const StudyTrial& trial : study.trials()) {
    text += std::to_string(trial.id) + " " + dump_json(trial.parameters) + " " +
            std::string(name_of(trial.state)) + " " +
            (trial.value ? dump_json(json(*trial.value)) : "-") + " " + trial.reason;
    for (const Report& report : trial.reports) {
      text += " " + dump_json(json(report.metrics[0].second));
    }
    text += "\n";
  }
  return text;
}

template <class T>
T must(Result<T> result) {
  INFO((result ? "" : result.error().message));
  REQUIRE(result.has_value());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

template <class T>
std::string error_of(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().message;
}

}  // namespace attune::test
