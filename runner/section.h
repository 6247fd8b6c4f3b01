#pragma once
// Typed access to one object of a document, with errors that point into the file:
//   experiment.yaml:12: tuner.nam: unknown key; did you mean "name"?
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "runner/yaml.h"

namespace attune {

// "90", "90s", "10m", "1.5h", "1d" in seconds; a JSON number is seconds. Always positive and
// finite.
Result<double> parse_duration(const json& value);

// "512MB", "1.5 GiB", "2e9" in bytes (k, M, G, T: powers of 1000; Ki, Mi, Gi, Ti: of 1024); a JSON
// number is bytes. Never negative, always finite.
Result<double> parse_bytes(const json& value);

// Refers to the document, which must outlive it. A value of null counts as absent.
class Section {
 public:
  Section(const YamlDocument& document, std::string file)
      : Section(document, std::move(file), "", document.value) {}

  const json& value() const { return object_; }
  const json* find(const std::string& key) const;

  Result<void> check_keys(const std::vector<std::string>& known) const;

  // Nothing when the key is absent; an error when its value has another type or range.
  Result<std::optional<std::string>> text(const std::string& key) const;
  Result<std::optional<bool>> boolean(const std::string& key) const;
  Result<std::optional<std::int64_t>> integer(const std::string& key, std::int64_t low,
                                              std::int64_t high) const;
  Result<std::optional<double>> number(const std::string& key, double low) const;
  Result<std::optional<double>> duration(const std::string& key) const;
  Result<std::optional<double>> bytes(const std::string& key) const;
  Result<std::optional<Section>> section(const std::string& key) const;
  Result<std::vector<std::string>> texts(const std::string& key) const;         // empty when absent
  Result<std::vector<Section>> sections(const std::string& key) const;          // a list of objects
  Result<std::map<std::string, double>> numbers(const std::string& key) const;  // any names

  // With an empty key the error is about the object itself.
  std::unexpected<Error> error(const std::string& key, const std::string& what) const;

 private:
  Section(const YamlDocument& document, std::string file, std::string path, const json& object)
      : document_(document), file_(std::move(file)), path_(std::move(path)), object_(object) {}

  std::string path_of(const std::string& key) const;
  std::unexpected<Error> wrong_type(const std::string& key, std::string_view expected,
                                    const json& value) const;

  const YamlDocument& document_;
  std::string file_;
  std::string path_;  // of this object in the document; empty at the top
  const json& object_;
};

}  // namespace attune
