#pragma once
// The folder of a trial, and the environment that a manager makes for it.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/temporary_folder.h"

namespace attune {

// Sets variables, and puts back what was there. Empty: unset.
class Environment {
 public:
  void set(const std::string& name, const std::string& value) {
    if (!before_.contains(name)) {
      const char* old = ::getenv(name.c_str());
      before_[name] = old == nullptr ? std::optional<std::string>() : old;
    }
    put(name, value.empty() ? std::nullopt : std::optional(value));
  }
  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_) put(name, value);
  }

 private:
  static void put(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  std::map<std::string, std::optional<std::string>> before_;
};

class Folder : public TemporaryFolder {
 public:
  void write(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
  std::string text(const std::filesystem::path& name) const {
    std::ifstream stream(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Every file below, in order, as relative paths.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) {
        names.push_back(entry.path().lexically_relative(path).string());
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

// A manager's folder with these parameters in it, and the variables set.
class ManagedFolder : public Folder {
 public:
  explicit ManagedFolder(const std::string& parameters = R"({"lr": 0.01})") {
    write("parameter.cfg", R"({"parameter_id": 3, "parameters": )" + parameters + "}");
    environment.set("NNI_PLATFORM", "local");
    environment.set("NNI_SYS_DIR", path.string());
    environment.set("NNI_OUTPUT_DIR", path.string());
    environment.set("NNI_TRIAL_JOB_ID", "t0003");
    environment.set("NNI_TRIAL_SEQ_ID", "3");
    environment.set("ATTUNE_ATTEMPT", "1");
    environment.set("ATTUNE_CHECKPOINT_DIR", (path / "checkpoint").string());
    std::filesystem::create_directory(path / "checkpoint");
  }

  // Strict: a wrong length, or a byte between two records, fails the test.
  std::vector<json> records() const {
    std::vector<json> all;
    std::string bytes = text(".nni/metrics");
    while (!bytes.empty()) {
      REQUIRE(bytes.starts_with("ME"));
      const std::size_t length = std::stoul(bytes.substr(2, 6));
      const std::string body = bytes.substr(8, length);
      REQUIRE(body.size() == length);
      REQUIRE(body.ends_with('\n'));
      all.push_back(json::parse(body));
      bytes.erase(0, 8 + length);
    }
    return all;
  }
  std::vector<std::string> values(const std::string& type) const {
    std::vector<std::string> all;
    for (const json& record : records()) {
      if (record.at("type") == type) all.push_back(record.at("value").get<std::string>());
    }
    return all;
  }

  Environment environment;
};

}  // namespace attune
