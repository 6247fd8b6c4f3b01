#pragma once
// The user's regular expressions: PCRE2 with limits, so that a bad one costs only milliseconds.
// Also used in the shim: it needs neither JSON nor logging.
#include <cstdint>
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

// A regular expression in UTF-8. Invalid bytes in a text match nothing and are no error. Named
// groups: (?<n>...), (?P<n>...).
class Regex {
 public:
  static Result<Regex> compile(const std::string& pattern);  // the error names the byte
  Regex(Regex&&) noexcept = default;
  Regex& operator=(Regex&&) noexcept = default;

  const std::vector<std::string>& groups() const { return groups_; }  // each once

  static constexpr std::size_t kMaxText = 8 << 10;

  struct Match {
    // The named groups that took part in the match; views into the text.
    std::vector<std::pair<std::string_view, std::string_view>> groups;
    // The cost of the search, also if it found nothing; a million steps take some 20 ms.
    std::uint64_t steps = 0;
  };
  enum class Outcome { none, found, too_costly };
  // Finds the first match in the first kMaxText bytes. The limit is for the whole search, for all
  // places where a match could begin. It grows with the text, so many short lines cost no more than
  // a long one.
  Outcome find(std::string_view text, Match& match) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
    void operator()(pcre2_real_match_data_8* data) const;
    void operator()(pcre2_real_match_context_8* limits) const;
  };
  Regex() = default;

  std::unique_ptr<pcre2_real_code_8, Free> code_;
  std::unique_ptr<pcre2_real_match_data_8, Free> data_;  // of the last match
  std::unique_ptr<pcre2_real_match_context_8, Free> limits_;
  std::vector<std::string> groups_;
  std::vector<std::pair<std::size_t, std::size_t>>
      numbers_;  // of a group in the pattern, in groups_
};

}  // namespace attune
