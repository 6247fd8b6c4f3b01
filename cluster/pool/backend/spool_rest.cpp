#include "cluster/pool/backend/spool_rest.h"

#include <utility>

#include "backends/local/trial_inputs.h"
#include "backends/report/attempt_end.h"
#include "backends/report/final_result.h"
#include "backends/report/spool_reader.h"
#include "backends/trial_folder.h"

namespace attune {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} << 10;

}  // namespace

std::vector<TrialEvent> read_rest(const KnownAttempt& attempt, const ReportRules& rules, bool ended,
                                  TrialFinished* end) {
  std::vector<TrialEvent> events;
  const std::string& job = attempt.start.job_id;
  const auto files = TrialFolder::open(attempt.folder);
  if (!files) return events;
  auto spool = files->open_spool(attempt.start.attempt);
  if (!spool || !*spool) return events;
  SpoolReader reader(job, *std::move(spool), attempt.position,
                     parameter_id_of(attempt.start.parameter_text), rules.objective);
  const bool late = attempt.wanted.has_value();
  std::vector<char> buffer(kBuffer);
  while (reader.read(buffer, late, events)) continue;
  if (ended) reader.finish(late, events);
  if (end != nullptr) {
    // A trial that succeeded before its worker was lost must not run again.
    auto told = end_of_attempt(reader.facts(), attempt.wanted);
    told.job_id = job;
    if (end->how == Ending::lost && told.how == Ending::succeeded) *end = std::move(told);
    if (auto last = final_result(rules, reader, *files, *end)) events.push_back(*std::move(last));
  }
  return events;
}

}  // namespace attune
