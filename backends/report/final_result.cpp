#include "backends/report/final_result.h"

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

#include "backends/report/metric_text.h"
#include "backends/report/regex.h"
#include "os/unique_fd.h"
#include "protocol/frame.h"

namespace attune {
namespace {

constexpr int kLastOwnCode = 125;
constexpr std::uint64_t kMaxFileSteps = 5'000'000;  // of a regular expression: some 100 ms
constexpr std::size_t kShown = 60;                  // of a text in a message

Result<std::string> read_result(const TrialFolder& folder, const std::string& file) {
  const UniqueFd fd(::openat(folder.fd(), file.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
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

// As in the trial runner: NaN and infinity are numbers too, of a trial that diverged.
bool is_result(const json& value, const std::string& objective) {
  if (!value.is_object()) return value.is_number();
  const auto found = value.find(objective);
  return found != value.end() && (found->is_number() || found->is_boolean());
}

// Searches from the last line backwards. The cost of a line is limited, and so is that of the whole
// file, because the manager waits for it.
Result<json> last_match(const ReportRules& rules, const std::string& text) {
  const Regex regex = TRY(Regex::compile(rules.file_regex));
  Regex::Match match;
  std::uint64_t steps = 0;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    const std::size_t begin = rest.rfind('\n') + 1;  // 0 in the first line
    const std::string_view line = rest.substr(begin);
    rest = rest.substr(0, begin);
    const auto outcome = regex.find(line, match);
    steps += match.steps;
    if (outcome == Regex::Outcome::too_costly || steps > kMaxFileSteps)
      return fail("the regular expression takes too long for it; make it simpler");
    if (outcome == Regex::Outcome::none) continue;
    const MetricText metric = metric_text(match);
    json value = metric.json.empty() ? json::object() : TRY(parse_json(metric.json));
    if (is_result(value, rules.objective)) return value;
    return fail(fmt::format("the last line that matches has no number for \"{}\": '{}'",
                            rules.objective, printable(line, kShown)));
  }
  return fail("no line of it matches the regular expression");
}

Result<json> read_and_parse(const ReportRules& rules, const TrialFolder& folder) {
  const std::string text = TRY(read_result(folder, rules.file));
  if (!rules.file_regex.empty()) return last_match(rules, text);
  auto value = TRY(parse_json(text));
  if (is_result(value, rules.objective)) return value;
  if (!value.is_object())
    return fail(fmt::format("a JSON number or object expected, not {}", json_type_name(value)));
  return fail(fmt::format("it has no number for \"{}\", the metric that is searched for: '{}'",
                          rules.objective, printable(dump_json(value), kShown)));
}

// Explains why the output of an attempt holds no result.
std::string why_none(const ReportRules& rules, const SpoolReader& spool) {
  if (rules.how == ReportRules::How::tune_metric)
    return fmt::format("no [tune-metric] line of its standard output has a number for \"{}\"",
                       rules.objective);
  std::string why = fmt::format(
      "no line of its output has a number for \"{}\" where the regular expression of `report` "
      "looks for it",
      rules.objective);
  const bool out_only = std::ranges::all_of(rules.patterns, [](const LinePattern& pattern) {
    return pattern.stream == OutputStream::out;
  });
  if (out_only && spool.printed() == 0) why += "; standard error is searched with `stream: both`";
  return why;
}

}  // namespace

std::optional<TrialEvent> final_result(const ReportRules& rules, const SpoolReader& spool,
                                       const TrialFolder& folder, TrialFinished& end) {
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
    auto value = read_and_parse(rules, folder);
    if (value) return spool.final_report(*std::move(value), end.time);
    end.how = Ending::failed;
    end.detail = fmt::format("the result file {}: {}", rules.file, value.error().message);
    return std::nullopt;
  }
  if (!spool.last_printed().is_null()) return spool.final_report(spool.last_printed(), end.time);
  return TrialProblem{end.job_id, why_none(rules, spool)};
}

}  // namespace attune
