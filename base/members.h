#pragma once
// Reads the members of a JSON object that somebody else has written. Each error has a place:
//
//   algorithms[0].saves: must be true or false, not a number
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

class Members {
 public:
  // `value` must outlive this object. Error: it is no object, or has a member that is not `known`.
  static Result<Members> of(const json& value, std::string place,
                            const std::vector<std::string>& known);

  std::string at(std::string_view key) const { return place_ + "." + std::string(key); }
  bool has(const char* key) const { return !get(key).is_null(); }
  const json& get(const char* key) const;  // null if it is missing

  // Missing is false, "", nothing, an empty array.
  Result<bool> boolean(const char* key) const;
  Result<std::string> line(const char* key) const;              // printable, at most 300 bytes
  Result<std::optional<double>> number(const char* key) const;  // finite
  Result<std::vector<json>> array(const char* key, std::size_t most) const;
  // Missing is an error.
  Result<std::string> text(const char* key) const;
  Result<std::string> name(const char* key) const;  // as check_name() says
  Result<std::int64_t> integer(const char* key) const;

 private:
  Members(const json& value, std::string place) : value_(value), place_(std::move(place)) {}
  std::unexpected<Error> wrong(const char* key, std::string_view expected) const;

  const json& value_;
  std::string place_;
};

}  // namespace attune
