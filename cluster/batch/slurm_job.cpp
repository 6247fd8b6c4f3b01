#include "cluster/batch/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

namespace attune {
namespace {

using Texts = std::vector<std::string>;

constexpr double kMost = 1e9;  // of countable things, and of minutes: Slurm has 32 bits for each
constexpr double kMostBytes = 1e18;
constexpr double kMostWarning = 65535;  // seconds
constexpr std::size_t kMostScript = 1 << 20;

bool is_word(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [also](unsigned char c) {
    return std::isalnum(c) != 0 || also.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_amount(double amount, double most) { return amount >= 0 && amount <= most; }

// Options that users cannot give. With them there would be several jobs of one name, or a job in
// another cluster, or sbatch would not answer at once or not with an id, or nothing would be run.
// Slurm takes abbreviations, too.
bool is_ours(std::string_view argument) {
  constexpr std::array kLong = {"--array", "--clusters", "--help", "--quiet", "--test-only",
                                "--usage", "--version",  "--wait", "--wrap"};
  constexpr std::string_view kShort = "aMQWhV";
  if (argument.starts_with("--")) {
    const std::string_view name = argument.substr(0, argument.find('='));
    return std::ranges::any_of(kLong,
                               [&](std::string_view each) { return each.starts_with(name); });
  }
  return kShort.find(argument[1]) != std::string_view::npos;
}

std::optional<JobFlaw> check_arguments(const BatchJob& job) {
  for (const std::string& argument : job.arguments) {
    if (argument.size() < 2 || argument[0] != '-') {
      return JobFlaw{"arguments",
                     fmt::format("\"{}\" is no option; write each as --name=value", argument)};
    }
    if (is_ours(argument))
      return JobFlaw{"arguments", fmt::format("\"{}\" cannot be given here", argument)};
  }
  return std::nullopt;
}

std::int64_t whole(double amount) { return static_cast<std::int64_t>(std::ceil(amount)); }

// Escapes %, because sbatch replaces %j and the like.
std::string literal(const std::filesystem::path& path) {
  std::string text;
  for (const char c : path.string()) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

std::string generic_resources(const Resources& needs) {
  std::string text;
  const auto add = [&text](const std::string& kind, double amount) {
    if (amount > 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", kind, whole(amount));
  };
  add("gpu", needs.gpu);
  for (const auto& [kind, amount] : needs.custom) add(kind, amount);
  return text;
}

}  // namespace

std::optional<JobFlaw> slurm_flaw(const BatchJob& job) {
  constexpr std::size_t kMostName = 200;
  if (!is_word(job.name, "-_.") || job.name.size() > kMostName) {
    return JobFlaw{"name",
                   fmt::format("1 to {} letters, digits, '-', '_' and '.' are wanted", kMostName)};
  }
  if (!job.script.starts_with("#!") || job.script.size() > kMostScript)
    return JobFlaw{"script", "a text of at most 1 MiB that begins with #! is wanted"};
  // A backslash anywhere in a path switches off the meaning of % in all of it.
  if (job.output.string().find('\\') != std::string::npos)
    return JobFlaw{"output", "Slurm takes no path with a backslash"};
  if (!is_amount(job.needs.cpu, kMost)) return JobFlaw{"resources.cpu", "not so many"};
  if (!is_amount(job.needs.gpu, kMost)) return JobFlaw{"resources.gpu", "not so many"};
  if (!is_amount(job.needs.memory, kMostBytes)) return JobFlaw{"resources.memory", "not so much"};
  for (const auto& [kind, amount] : job.needs.custom) {
    if (!job.devices.empty()) break;
    if (!is_word(kind, "-_:") || !is_amount(amount, kMost))
      return JobFlaw{fmt::format("resources.custom.{}", kind), "this is no kind of Slurm's"};
  }
  if (!(job.time_limit > 0) || (std::isfinite(job.time_limit) && job.time_limit / 60 > kMost))
    return JobFlaw{"timeLimit",
                   fmt::format("a time above 0, and of at most {} minutes, is wanted", kMost)};
  if (!is_amount(job.warning, kMostWarning) || job.warning >= job.time_limit)
    return JobFlaw{"timeLimit", "the warning must come before it, at most 18 hours"};
  return check_arguments(job);
}

std::expected<Texts, BatchRefusal> slurm_options(const BatchJob& job) {
  if (const auto flaw = slurm_flaw(job)) {
    return std::unexpected(BatchRefusal{
        true, flaw->about, fmt::format("job {}: {}: {}", job.name, flaw->about, flaw->why)});
  }
  Texts options = job.arguments;  // first: of two that contradict each other, the later one counts
  const auto add = [&options](std::string_view name, const std::string& value) {
    if (!value.empty()) options.push_back(fmt::format("--{}={}", name, value));
  };
  options.emplace_back("--parsable");
  add("job-name", job.name);
  // With any other value, even NIL, slurmd runs the user's login shell for each job. That takes
  // long, and the launch fails if it takes too long.
  add("export", "ALL");
  options.emplace_back("--no-requeue");
  add("output", job.output.empty() ? "/dev/null" : literal(job.output));
  add("chdir", job.directory.string());
  add("comment", job.comment);
  add("partition", job.partition);
  add("account", job.account);
  add("qos", job.qos);
  add("nodes", "1");
  add("ntasks", "1");
  add("cpus-per-task", fmt::to_string(std::max<std::int64_t>(1, whole(job.needs.cpu))));
  if (job.needs.memory > 0) add("mem", fmt::format("{}M", whole(job.needs.memory / (1 << 20))));
  add("gres", job.devices.empty() ? generic_resources(job.needs) : job.devices);
  if (std::isfinite(job.time_limit)) add("time", fmt::to_string(whole(job.time_limit / 60)));
  if (job.warning > 0) add("signal", fmt::format("B:USR1@{}", whole(job.warning)));
  return options;
}

}  // namespace attune
