#pragma once
// Regular expressions of the user: PCRE2, with limits, so that a bad one costs milliseconds. In the
// shim too: no JSON, no logging.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace attune {

// UTF-8; bytes that are none match nothing but are no error. Named groups: (?<n>...), (?P<n>...).
class Regex {
 public:
  static Result<Regex> compile(const std::string& pattern);  // the error names the offset
  Regex(Regex&&) noexcept = default;
  Regex& operator=(Regex&&) noexcept = default;

  const std::vector<std::string>& groups() const { return groups_; }  // each once

  struct Match {
    // The named groups that took part; views into the text.
    std::vector<std::pair<std::string_view, std::string_view>> groups;
  };
  enum class Outcome { none, found, too_costly };
  Outcome find(std::string_view text, Match& match) const;  // the first match

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
    void operator()(pcre2_real_match_data_8* data) const;
    void operator()(pcre2_real_match_context_8* limits) const;
  };
  Regex() = default;

  std::unique_ptr<pcre2_real_code_8, Free> code_;
  std::unique_ptr<pcre2_real_match_data_8, Free> data_;  // of the newest match
  std::unique_ptr<pcre2_real_match_context_8, Free> limits_;
  std::vector<std::string> groups_;
  std::vector<std::pair<std::size_t, std::size_t>>
      numbers_;  // of a group in the pattern, in groups_
};

}  // namespace attune
