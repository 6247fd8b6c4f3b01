#include "backends/final_result.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "backends/metric_text.h"
#include "backends/regex.h"
#include "base/unique_fd.h"

namespace attune {
namespace {

constexpr int kLastOwnCode = 125;

Result<std::string> read_result(const std::filesystem::path& path) {
  const UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return fail(errno == ELOOP ? "it is a symbolic link" : strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail("it is no regular file");
  if (static_cast<std::size_t>(status.st_size) > kMaxResultFile)
    return fail(fmt::format("it is larger than {} bytes", kMaxResultFile));
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t part = ::read(fd.get(), text.data() + size, text.size() - size);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return fail(strerror(errno));
    if (part == 0) break;
    size += static_cast<std::size_t>(part);
  }
  text.resize(size);
  return text;
}

// Line by line, as in the output: what a match may cost is limited, and so is the whole then.
Result<json> last_match(const std::string& pattern, const std::string& text) {
  const Regex regex = TRY(Regex::compile(pattern));
  Regex::Match match;
  std::string last;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto outcome = regex.find(line, match);
    if (outcome == Regex::Outcome::too_costly)
      return fail("the regular expression takes too long for it; make it simpler");
    if (outcome == Regex::Outcome::none) continue;
    if (MetricText metric = metric_text(match); !metric.json.empty()) last = std::move(metric.json);
  }
  if (last.empty()) return fail("the regular expression finds no number in any of its lines");
  return parse_json(last);
}

Result<json> read_and_parse(const ReportRules& rules, const std::filesystem::path& path) {
  const std::string text = TRY(read_result(path));
  if (!rules.file_regex.empty()) return last_match(rules.file_regex, text);
  auto value = TRY(parse_json(text));
  if (value.is_number() || value.is_object()) return value;
  return fail(fmt::format("a JSON number or object expected, not {}", json_type_name(value)));
}

}  // namespace

std::optional<TrialEvent> final_result(const ReportRules& rules, const SpoolReader& spool,
                                       const std::filesystem::path& folder, TrialFinished& end) {
  using How = ReportRules::How;
  if (rules.how == How::metrics_file) return std::nullopt;
  if (rules.how == How::exit_code) {
    const auto& exit = spool.facts().exit;
    if (end.how == Ending::failed && exit && exit->signal == 0 && exit->code <= kLastOwnCode)
      end.how = Ending::succeeded;
    if (end.how != Ending::succeeded) return std::nullopt;
    return spool.final_report({{rules.objective, exit->code}}, end.time);
  }
  if (end.how != Ending::succeeded || !spool.final_wanted()) return std::nullopt;
  if (rules.how == How::result_file) {
    auto value = read_and_parse(rules, folder / rules.file);
    if (value) return spool.final_report(*std::move(value), end.time);
    end.how = Ending::failed;
    end.detail = fmt::format("the result file {}: {}", rules.file, value.error().message);
    return std::nullopt;
  }
  if (!spool.last_printed().is_null()) return spool.final_report(spool.last_printed(), end.time);
  return TrialProblem{end.job_id,
                      rules.how == How::lines
                          ? "no line of its output matches the regular expression of `report`"
                          : "no line of its standard output is a [tune-metric]"};
}

}  // namespace attune
