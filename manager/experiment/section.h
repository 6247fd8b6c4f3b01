#pragma once
// Typed access to one object of a document. Errors are collected, and point into the file:
//   experiment.yaml:12:3: tuner.nam: unknown key; did you mean "name"?
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "manager/experiment/yaml.h"

namespace attune {

// "90", "90s", "10m", "1.5h", "1d" in seconds; a JSON number is seconds. Always positive and
// finite.
Result<double> parse_duration(const json& value);

// "512MB", "1.5 GiB", "2e9" in bytes (k, M, G, T: powers of 1000; Ki, Mi, Gi, Ti: of 1024); a JSON
// number is bytes. Never negative, always finite.
Result<double> parse_bytes(const json& value);

// Refers to the document and to the findings, which must outlive it. What is wrong becomes a
// finding, and reading goes on: the value counts as absent, as does a null.
class Section {
 public:
  Section(const YamlDocument& document, std::string file, Findings& findings)
      : Section(document, std::move(file), "", document.value, findings) {}

  const json& value() const { return object_; }
  const json* find(const std::string& key) const;

  void check_keys(const std::vector<std::string>& known) const;

  // Nothing when the key is absent, or has a value of another type or range, which is a finding.
  std::optional<std::string> text(const std::string& key) const;
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t low,
                                      std::int64_t high) const;
  std::optional<double> number(const std::string& key, double low) const;
  std::optional<double> duration(const std::string& key) const;
  std::optional<double> bytes(const std::string& key) const;
  std::optional<Section> section(const std::string& key) const;
  // One of `choices`; the first when the key is absent, or wrong.
  std::string choice(const std::string& key, const std::vector<std::string>& choices) const;
  // These leave out what is wrong.
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<Section> sections(const std::string& key) const;          // a list of objects
  std::map<std::string, double> numbers(const std::string& key) const;  // any names

  // A finding. With an empty key it is about the object itself.
  void error(const std::string& key, const std::string& what) const;
  // Whether there is one about the key or what it holds: what depends on it need not be looked at.
  bool wrong(const std::string& key) const { return findings_.about(file_, path_of(key)); }
  // "file:line:column: key: what", for what is no error.
  std::string remark(const std::string& key, const std::string& what) const;
  Findings& findings() const { return findings_; }

 private:
  Section(const YamlDocument& document, std::string file, std::string path, const json& object,
          Findings& findings)
      : document_(document),
        file_(std::move(file)),
        path_(std::move(path)),
        object_(object),
        findings_(findings) {}

  std::string path_of(const std::string& key) const;
  Finding finding(const std::string& key, const std::string& what) const;
  void wrong_type(const std::string& key, std::string_view expected, const json& value,
                  std::string_view cure = "") const;

  const YamlDocument& document_;
  std::string file_;
  std::string path_;  // of this object in the document; empty at the top
  const json& object_;
  Findings& findings_;
};

}  // namespace attune
