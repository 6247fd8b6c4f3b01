#include "manager/trials/judged_report.h"

#include <fmt/format.h>

#include <sstream>

namespace attune {
namespace {

constexpr const char* kJudged = "judged";

}  // namespace

std::string to_token(const JudgedReport& report) {
  return fmt::format("{} {} {} {}", kJudged, report.job_id, report.attempt, report.reports);
}

std::optional<JudgedReport> judged_report(const std::string& token) {
  std::istringstream words(token);
  std::string kind;
  JudgedReport report;
  words >> kind >> report.job_id >> report.attempt >> report.reports;
  if (!words || kind != kJudged) return std::nullopt;
  return report;
}

}  // namespace attune
