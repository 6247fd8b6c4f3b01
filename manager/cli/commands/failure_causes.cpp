#include "manager/cli/commands/failure_causes.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backends/ending_text.h"
#include "base/names.h"
#include "base/terminal_text.h"
#include "manager/cli/commands/shell_words.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

constexpr std::size_t kLongest = 200;  // bytes of a line that are shown

// The end of a file that a trial has written. Empty if the file is not regular, or its owner is not
// trusted: somebody may have put it there.
std::string end_of(const std::filesystem::path& path) {
  const auto file = open_private(path, O_RDONLY);
  return file && check_owner(file->get(), path.string()) ? end_of_file(*file) : "";
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Removes escape sequences such as colours: ESC [, up to the byte that ends the sequence.
std::string without_colours(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~'); ++i) continue;
    } else {
      text += line[i] == '\t' ? ' ' : line[i];
    }
  }
  return text;
}

std::string last_line(const std::string& text) {
  for (std::size_t end = text.size(); end > 0;) {
    const std::size_t newline = text.rfind('\n', end - 1);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    std::string line = without_colours(text.substr(begin, end - begin));
    while (!line.empty() && is_blank(line.back())) line.pop_back();
    line.erase(0,
               static_cast<std::size_t>(std::ranges::find_if_not(line, is_blank) - line.begin()));
    if (!line.empty()) return terminal_line(line.substr(0, kLongest));
    if (begin == 0) break;
    end = begin - 1;
  }
  return "";
}

// The causes among trials that ended in the same way: the commonest first, of equal ones the
// newest.
std::vector<FailureCause> causes_of(const FailedAlike& alike, const std::filesystem::path& trials) {
  std::vector<FailureCause> causes;
  for (const std::string& job_id : alike.newest) {
    if (!check_name("the trial", job_id)) continue;  // a damaged or foreign store may hold any path
    std::string line = last_line(end_of(trials / job_id / "stderr"));
    const auto found = std::ranges::find(causes, line, &FailureCause::last_line);
    if (found == causes.end()) {
      causes.push_back({1, alike.ending, alike.detail, std::move(line), job_id});
    } else {
      ++found->count;
    }
  }
  std::ranges::stable_sort(causes, std::ranges::greater(), &FailureCause::count);
  if (!causes.empty() && alike.count > std::ssize(alike.newest)) {
    causes.resize(1);
    causes.front().count = alike.count;
  }
  return causes;
}

std::string ending_words(const FailureCause& cause) {
  if (!cause.detail.empty()) return terminal_line(cause.detail.substr(0, kLongest));
  return cause.ending ? std::string(to_text(*cause.ending)) : "not started";
}

}  // namespace

Result<std::vector<FailureCause>> failure_causes(StoreReader& reader,
                                                 const StoredExperiment& experiment) {
  std::vector<FailureCause> all;
  for (const FailedAlike& alike : TRY(reader.failures(experiment, kTrialsOfEnd, kTrialsRead))) {
    for (FailureCause& cause : causes_of(alike, experiment.directory / "trials"))
      all.push_back(std::move(cause));
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &FailureCause::count);
  all.resize(std::min(all.size(), kMostCauses));
  return all;
}

std::string failure_causes_text(const std::vector<FailureCause>& causes,
                                const StoredExperiment& experiment) {
  if (causes.empty()) return "";
  std::string text = "Commonest failures:\n";
  for (const FailureCause& cause : causes)
    text += fmt::format(" - {} trial{}: {}{}{}\n   attune logs {} --stderr {}\n", cause.count,
                        cause.count == 1 ? "" : "s", ending_words(cause),
                        cause.last_line.empty() ? "" : ": ", cause.last_line, cause.trial,
                        experiment_words(experiment.directory, experiment.id, false));
  return text;
}

json failure_causes_json(const std::vector<FailureCause>& causes) {
  json array = json::array();
  for (const FailureCause& cause : causes)
    array.push_back({{"count", cause.count},
                     {"ending", cause.ending ? json(to_text(*cause.ending)) : json()},
                     {"detail", cause.detail},
                     {"last_line", cause.last_line},
                     {"trial_job_id", cause.trial}});
  return array;
}

}  // namespace attune
