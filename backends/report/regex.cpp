#include "backends/report/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

namespace attune {
namespace {

constexpr std::uint64_t kMaxSteps = 1'000'000;
constexpr std::uint64_t kStepsOfText = 10'000, kStepsOfByte = 1'000;
// So many bytes that a repetition runs over count as a step.
constexpr std::size_t kBytesOfStep = 16;
// KiB of memory for backtracking.
constexpr std::uint32_t kHeapLimit = 16 << 10;

// PCRE2's own match limit starts again at each byte where a match could begin. So a callout counts
// the steps: it stands before each item of the pattern, and is called whenever the item is tried.
struct Work {
  std::uint64_t steps = 0;
  std::uint64_t limit = 0;
  std::size_t at = 0;  // in the text
};

int count_step(pcre2_callout_block* block, void* data) {
  auto& work = *static_cast<Work*>(data);
  const std::size_t at = block->current_position;
  work.steps += 1 + (at > work.at ? (at - work.at) / kBytesOfStep : 0);
  work.at = at;
  return work.steps > work.limit ? PCRE2_ERROR_MATCHLIMIT : 0;
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

void Regex::Free::operator()(pcre2_code* code) const { ::pcre2_code_free(code); }
void Regex::Free::operator()(pcre2_match_data* data) const { ::pcre2_match_data_free(data); }
void Regex::Free::operator()(pcre2_match_context* limits) const {
  ::pcre2_match_context_free(limits);
}

Result<Regex> Regex::compile(const std::string& pattern) {
  Regex regex;
  int error = 0;
  std::size_t offset = 0;
  regex.code_.reset(::pcre2_compile(
      units(pattern), pattern.size(),
      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT, &error,
      &offset, nullptr));
  if (!regex.code_) {
    PCRE2_UCHAR text[256] = {};
    ::pcre2_get_error_message(error, text, sizeof text);
    return fail("the regular expression is wrong at byte " + std::to_string(offset) + ": " +
                reinterpret_cast<const char*>(text));
  }
  regex.data_.reset(::pcre2_match_data_create_from_pattern(regex.code_.get(), nullptr));
  regex.limits_.reset(::pcre2_match_context_create(nullptr));
  ::pcre2_set_match_limit(regex.limits_.get(), kMaxSteps);
  ::pcre2_set_heap_limit(regex.limits_.get(), kHeapLimit);
  std::uint32_t count = 0;
  std::uint32_t size = 0;
  PCRE2_SPTR table = nullptr;
  ::pcre2_pattern_info(regex.code_.get(), PCRE2_INFO_NAMECOUNT, &count);
  ::pcre2_pattern_info(regex.code_.get(), PCRE2_INFO_NAMEENTRYSIZE, &size);
  ::pcre2_pattern_info(regex.code_.get(), PCRE2_INFO_NAMETABLE, static_cast<void*>(&table));
  // An entry: the number of the group in two bytes, its name.
  for (std::uint32_t i = 0; i < count; ++i, table += size) {
    const std::string name = reinterpret_cast<const char*>(table + 2);
    const auto known = std::ranges::find(regex.groups_, name);
    regex.numbers_.emplace_back(static_cast<std::size_t>(table[0] << 8 | table[1]),
                                static_cast<std::size_t>(known - regex.groups_.begin()));
    if (known == regex.groups_.end()) regex.groups_.push_back(name);
  }
  // By number, which is the order in the pattern; the table is sorted by name.
  std::ranges::sort(regex.numbers_);
  return regex;
}

Regex::Outcome Regex::find(std::string_view text, Match& match) const {
  text = text.substr(0, kMaxText);
  Work work{0, std::min(kMaxSteps, kStepsOfText + kStepsOfByte * text.size()), 0};
  ::pcre2_set_callout(limits_.get(), count_step, &work);
  const int found =
      ::pcre2_match(code_.get(), units(text), text.size(), 0, 0, data_.get(), limits_.get());
  match.steps = work.steps;
  if (found == PCRE2_ERROR_NOMATCH) return Outcome::none;
  if (found < 0) return Outcome::too_costly;
  const std::size_t* bounds = ::pcre2_get_ovector_pointer(data_.get());
  match.groups.clear();
  for (const auto& [number, name] : numbers_) {
    const std::size_t begin = bounds[2 * number];
    const std::size_t end = bounds[2 * number + 1];
    if (begin == PCRE2_UNSET || end < begin) continue;
    match.groups.emplace_back(groups_[name], text.substr(begin, end - begin));
  }
  return Outcome::found;
}

}  // namespace attune
