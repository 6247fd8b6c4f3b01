#include "manager/experiment/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace attune {
namespace {

constexpr std::size_t kMostShown = 100;  // more would only push the first ones off the screen

}  // namespace

Mark mark_at(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const std::size_t line_end = before.rfind('\n');  // npos + 1 is 0
  return {static_cast<int>(std::ranges::count(before, '\n')) + 1,
          static_cast<int>(byte - (line_end + 1)) + 1};
}

std::string Finding::text() const {
  const std::string place = at.line > 0 ? fmt::format("{}:{}:{}", file, at.line, at.column) : file;
  return fmt::format("{}: {}{}{}", place, key, key.empty() ? "" : ": ", message);
}

void Findings::add(Finding finding) {
  if (known_.emplace(finding.file, finding.key).second || finding.key.empty())
    all_.push_back(std::move(finding));
}

void Findings::forgive(const std::string& file, const std::string& key) {
  known_.emplace(file, key);
}

bool Findings::about(const std::string& file, const std::string& key) const {
  const auto holds = [&](const std::string& other) {
    return other == key || other.starts_with(key + ".") || other.starts_with(key + "[");
  };
  for (auto at = known_.lower_bound({file, key}); at != known_.end(); ++at) {
    if (at->first != file || !at->second.starts_with(key)) return false;
    if (holds(at->second)) return true;
  }
  return false;
}

std::vector<Finding> Findings::sorted() const {
  std::vector<std::string> files;
  for (const Finding& each : all_) {
    if (std::ranges::find(files, each.file) == files.end()) files.push_back(each.file);
  }
  std::vector<Finding> sorted = all_;
  std::ranges::stable_sort(sorted, {}, [&](const Finding& each) {
    return std::tuple(std::ranges::find(files, each.file), each.at.line, each.at.column);
  });
  return sorted;
}

Result<void> Findings::result() const {
  if (all_.empty()) return {};
  const std::vector<Finding> findings = sorted();
  if (findings.size() == 1) return fail(findings.front().text());
  std::string text = fmt::format("{} errors:", findings.size());
  for (std::size_t i = 0; i < std::min(findings.size(), kMostShown); ++i)
    text += "\n" + findings[i].text();
  if (findings.size() > kMostShown)
    text += fmt::format("\n... and {} more", findings.size() - kMostShown);
  return fail(std::move(text));
}

}  // namespace attune
