// The command attune importance.
#include <fmt/format.h>

#include <cmath>

#include "manager/cli/commands/importance.h"
#include "manager/cli/commands/views.h"
#include "manager/cli/progress.h"
#include "manager/control/json_format.h"

namespace attune {
namespace {

constexpr std::size_t kBar = 20;    // characters of a share of 1
constexpr std::size_t kPairs = 20;  // the table has no more

std::string heading(const StoredEvidence& stored, const JudgedImportance& found) {
  const auto trials = static_cast<std::int64_t>(stored.evidence.results.size());
  const std::string& metric = stored.objective.metric;
  std::string text =
      found.target > 0
          ? fmt::format("What makes a trial one of the {} with the {} {}, of {} (PED-ANOVA):\n",
                        found.target, stored.objective.maximize ? "highest" : "lowest", metric,
                        trials_text(trials))
          : fmt::format("What {} depends on over the whole search space, from {} (fANOVA):\n",
                        metric, trials_text(trials));
  if (stored.without_result > 0)
    text += fmt::format("Left out: {} without a finite {}\n", trials_text(stored.without_result),
                        metric);
  if (stored.outside > 0)
    text += fmt::format("Left out: {} outside of the search space\n", trials_text(stored.outside));
  return text;
}

std::vector<std::string> row(const std::string& name, double share) {
  const auto length = static_cast<std::size_t>(std::lround(share * kBar));
  return {name, fmt::format("{:.3f}", share), std::string(length, '#')};
}

std::string shares_text(const PairImportances& shares, bool pairs, std::size_t width) {
  TextTable table({"PARAMETER", "SHARE", ""});
  bool explained = false;
  for (const auto& [path, share] : shares.alone) {
    table.add(row(path, share));
    explained = explained || share > 0;
  }
  std::string rest;
  for (std::size_t k = 0; k < shares.pairs.size(); ++k) {
    const PairImportance& pair = shares.pairs[k];
    explained = explained || pair.share > 0;
    if (k == kPairs) {
      rest = fmt::format("{} more pairs have at most {:.3f}; --json prints them\n",
                         shares.pairs.size() - kPairs, pair.share);
      break;
    }
    table.add(row(pair.first + " with " + pair.second, pair.share));
  }
  if (explained) return table.text(width) + rest;
  return fmt::format("No parameter{} explains anything: all results are equal, or all parameters\n",
                     pairs ? " and no pair" : "");
}

}  // namespace

Result<int> view(const ImportanceOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  const StoredEvidence stored = TRY(stored_evidence(reader, experiment, options.metric));
  const ImportanceQuestion question{options.method, options.metric, options.pairs};
  const JudgedImportance found = judged_importance(stored.evidence, question);
  if (options.which.json) {
    print_json(console, with_format(importance_json(experiment, question, stored, found)));
    return kExitOk;
  }
  print_text(console,
             heading(stored, found) + shares_text(found.shares, options.pairs, console.width));
  return kExitOk;
}

}  // namespace attune
