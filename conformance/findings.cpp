#include "conformance/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"

namespace attune::conformance {
namespace {

// What a plug-in says may be of any length.
constexpr std::size_t kShown = 300;  // bytes of a text

std::string shortened(std::string_view text) {
  if (text.size() <= kShown) return std::string(text);
  return fmt::format("{}... ({} bytes)", text.substr(0, kShown), text.size());
}

// A text around a byte of it.
std::string around(std::string_view text, std::size_t place) {
  constexpr std::size_t kBefore = 30, kAfter = 60;
  const std::size_t from = place - std::min(place, kBefore);
  return std::string(text.substr(from, kBefore + kAfter));
}

}  // namespace

void Findings::enter(std::string where) {
  where_ = std::move(where);
  turn_.reset();
}

void Findings::add(std::string_view expected, const std::string& came) {
  ++failed_;
  if (list_.size() >= kMost) return;
  list_.push_back({where_, turn_, std::string(expected), shortened(came)});
}

void Findings::expect_same(const std::vector<std::string>& came,
                           const std::vector<std::string>& before, std::string_view expected) {
  expect(came == before, expected, [&] {
    const auto [a, b] = std::ranges::mismatch(came, before);
    const auto text = [](const auto& at, const auto& all) {
      return at == all.end() ? std::string("nothing more") : *at;
    };
    return fmt::format("answer {} is {}, and not {}", a - came.begin() + 1, text(a, came),
                       text(b, before));
  });
}

void Findings::expect_same(std::string_view came, std::string_view before,
                           std::string_view expected) {
  expect(came == before, expected, [&] {
    const auto place =
        static_cast<std::size_t>(std::ranges::mismatch(came, before).in1 - came.begin());
    return fmt::format("from byte {} on \"{}\", and not \"{}\"", place, around(came, place),
                       around(before, place));
  });
}

void Findings::skip(std::string_view why) {
  if (std::ranges::find(skipped_, why) == skipped_.end()) skipped_.emplace_back(why);
}

std::string in_words(const Finding& finding) {
  std::string place = finding.where;
  if (finding.turn) place += fmt::format(", turn {}", *finding.turn);
  if (!place.empty()) place += ": ";
  return terminal_line(
      fmt::format("{}expected {}, came: {}", place, finding.expected, finding.came));
}

}  // namespace attune::conformance
