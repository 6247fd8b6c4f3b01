#pragma once
// A report that the decider is asked to judge, as the token of Decider::sync(). The token says all:
// so its answer is understood by a later manager, too, and by one that has lost count.
#include <cstdint>
#include <optional>
#include <string>

namespace attune {

struct JudgedReport {
  std::string job_id;
  int attempt = 0;
  std::int64_t reports = 0;  // of this attempt so far, with this one
};

std::string to_token(const JudgedReport& report);
std::optional<JudgedReport> judged_report(const std::string& token);  // nothing: another token

}  // namespace attune
