#include "manager/experiment/import_rules.h"

#include <utility>

#include "base/json.h"
#include "manager/experiment/preparation.h"
#include "manager/trials/tuning_status.h"

namespace attune {

FitRecords fit_records(const Space& space, std::vector<ImportData::Record> records) {
  FitRecords fit;
  for (ImportData::Record& record : records) {
    const auto checked = check_point(space, record.parameter);
    // "": the name that a bare number gets does not matter here.
    const std::string flaw = metrics_of(record.value, "").empty() ? "its value is no number"
                             : checked                            ? ""
                                                                  : checked.error().message;
    if (flaw.empty()) {
      fit.good.push_back(std::move(record));
    } else if (fit.left_out++ == 0) {
      fit.why = dump_json(record.parameter) + ": " + flaw;
    }
  }
  return fit;
}

}  // namespace attune
