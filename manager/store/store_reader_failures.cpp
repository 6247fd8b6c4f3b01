#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "backends/ending_text.h"
#include "manager/store/store_reader_state.h"

namespace attune {

Result<std::vector<FailedAlike>> StoreReader::failures(const StoredExperiment& experiment,
                                                       std::size_t each, std::size_t trials) {
  // Grouped here, because SQLite's window functions take seven times as long.
  auto statement = TRY(state_->database.prepare(
      "SELECT a.ending, coalesce(a.detail, t.reason), t.job_id FROM trials AS t "
      "LEFT JOIN attempts AS a ON a.experiment = t.experiment AND a.trial = t.trial "
      "AND a.attempt = t.attempts - 1 WHERE t.experiment = ? AND t.status = 'FAILED' "
      "ORDER BY t.trial DESC"));
  std::map<std::pair<std::optional<Ending>, std::string>, FailedAlike> groups;
  TRY(statement.query({experiment.number}, [&](const SqlRow& row) {
    const auto ending = row.is_null(0) ? std::nullopt : ending_of(row.text(0));
    FailedAlike& group = groups[{ending, row.text(1)}];
    if (++group.count == 1) group = {ending, row.text(1), 1, {}};
    if (group.newest.size() < each) group.newest.push_back(row.text(2));
    return true;
  }));
  std::vector<FailedAlike> found;
  for (auto& [how, group] : groups) found.push_back(std::move(group));
  std::ranges::stable_sort(found, std::ranges::greater(), &FailedAlike::count);
  const auto over = std::ranges::find_if(found, [&](const FailedAlike& group) {
    const bool fits = group.newest.size() <= trials;
    trials -= fits ? group.newest.size() : 0;
    return !fits;
  });
  found.erase(over, found.end());
  return found;
}

}  // namespace attune
