#pragma once
// Typed access to one object of a YAML or JSON document. Mistakes are collected with their place:
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

// One object of a document. The document and the findings must outlive it. A value that is wrong
// becomes a finding, and then counts as absent, so that reading can go on. null counts as absent,
// too.
class Section {
 public:
  Section(const YamlDocument& document, std::string file, Findings& findings)
      : Section(document, std::move(file), "", document.value, findings) {}

  const json& value() const { return object_; }
  const json* find(const std::string& key) const;  // null: absent

  // A finding for each key that is not in `known`.
  void check_keys(const std::vector<std::string>& known) const;

  // These return nothing if the key is absent. A value of another type or range is a finding, and
  // they return nothing, too.
  std::optional<std::string> text(const std::string& key) const;
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t low,
                                      std::int64_t high) const;
  std::optional<double> number(const std::string& key, double low) const;
  std::optional<double> duration(const std::string& key) const;
  std::optional<double> bytes(const std::string& key) const;
  std::optional<Section> section(const std::string& key) const;
  // One of `choices`; the first one if the key is absent or wrong.
  std::string choice(const std::string& key, const std::vector<std::string>& choices) const;
  // These leave out elements that are wrong, and are empty if the key is absent.
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<Section> sections(const std::string& key) const;  // a list of objects
  // Of a list that is there and has more than `i` elements.
  std::optional<Section> element(const std::string& key, std::size_t i) const;
  std::map<std::string, double> numbers(const std::string& key) const;  // any names

  // Adds a finding. An empty key: it is about the object itself.
  void error(const std::string& key, const std::string& what) const;
  // Whether there is a finding about the key or something inside of it, so that checks that depend
  // on its value should be skipped.
  bool wrong(const std::string& key) const { return findings_.about(file_, path_of(key)); }
  // The text "file:line:column: key: what", for a warning.
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
