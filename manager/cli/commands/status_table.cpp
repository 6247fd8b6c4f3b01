#include "manager/cli/commands/status_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace attune {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Removes the run of digits, or of other characters, with which `text` begins, and returns it.
std::string_view take_chunk(std::string_view& text) {
  const auto* end = std::ranges::find_if(
      text, [digit = is_digit(text.front())](char c) { return is_digit(c) != digit; });
  const std::string_view chunk = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(chunk.size());
  return chunk;
}

// Compares numbers of any length; returns a number below, equal to or above 0.
int compare_numbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

int compare_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (lower(a[i]) != lower(b[i])) return lower(a[i]) - lower(b[i]);
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// How many rows each group may show.
std::map<std::string, std::size_t> share(
    const std::map<std::string, std::vector<StatusRow>>& groups, std::size_t limit) {
  std::map<std::string, std::size_t> shares;
  for (std::size_t before = limit + 1; limit > 0 && limit < before;) {
    before = limit;
    for (const auto& [state, rows] : groups) {
      if (limit == 0 || shares[state] >= rows.size()) continue;
      ++shares[state];
      --limit;
    }
  }
  return shares;
}

}  // namespace

bool naturally_less(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) != is_digit(b.front())) return is_digit(a.front());
    const bool digits = is_digit(a.front());
    const std::string_view left = take_chunk(a), right = take_chunk(b);
    const int order = digits ? compare_numbers(left, right) : compare_letters(left, right);
    if (order != 0) return order < 0;
  }
  return a.empty() && !b.empty();
}

std::string progress_text(const TrialProgress& progress) {
  std::string text = progress.state;
  if (progress.failures > 0)
    text += fmt::format(", {} failures: {}", progress.failures, progress.failure);
  if (progress.location.empty()) return text;
  text +=
      fmt::format(" [{}], {} s", progress.location, static_cast<std::int64_t>(progress.seconds));
  if (progress.iterations) text += fmt::format(", {} iter", *progress.iterations);
  if (progress.steps) text += fmt::format(", {} ts", *progress.steps);
  if (progress.reward) text += fmt::format(", {:.3g} rew", *progress.reward);
  if (progress.loss) text += fmt::format(", {:.3g} loss", *progress.loss);
  if (progress.accuracy) text += fmt::format(", {:.3g} acc", *progress.accuracy);
  return text;
}

std::string status_table(std::vector<StatusRow> rows, std::size_t limit) {
  std::map<std::string, std::vector<StatusRow>> groups;
  for (StatusRow& row : rows) groups[row.state].push_back(std::move(row));
  auto shares = share(groups, limit);
  std::string text;
  const auto add = [&text](const std::vector<StatusRow>& group, std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      text += fmt::format(" - {}:\t{}\n", group[from].name, group[from].progress);
  };
  for (auto& [state, group] : groups) {
    std::ranges::sort(group, naturally_less, &StatusRow::name);
    text += state + " trials:\n";
    const bool all = shares[state] >= group.size();
    const std::size_t shown = all ? group.size() : shares[state] / 2;
    add(group, 0, shown);
    if (all) continue;
    text += fmt::format("  ... {} not shown\n", group.size() - 2 * shown);
    add(group, group.size() - shown, group.size());
  }
  return text;
}

}  // namespace attune
