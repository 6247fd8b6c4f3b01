#pragma once
// Early stopping by rules that Katib's metrics collector carries out beside each trial: "stop when
// this metric is below or above this value, from this report on". So only those of attune's
// assessors are served that can be said so.
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "assessors/registry.h"
#include "base/result.h"
#include "katib/api.pb.h"
#include "os/log.h"

namespace attune::katib {

// What a trial has reported of a metric, in order. The address is that of Katib's DB manager.
using ReadReports = std::function<Result<std::vector<double>>(
    const std::string& address, const std::string& trial, const std::string& metric)>;

// Any thread may call; calls take turns.
class StopRules {
 public:
  // The registry must outlive the object.
  StopRules(const AssessorRegistry& assessors, ReadReports read, Log log)
      : assessors_(assessors), read_(std::move(read)), log_(std::move(log)) {}

  // Errors: an unknown algorithm or setting, with what is accepted.
  Result<void> check(const api::v1::beta1::EarlyStoppingSpec& spec) const;

  // The rules for trials that start now. None while too few trials have succeeded. Reports that
  // cannot be read now are read at the next call. `cancelled`: the rules are not wanted any more;
  // then the error says so, and what was read by then is kept.
  using Request = api::v1::beta1::GetEarlyStoppingRulesRequest;
  using Reply = api::v1::beta1::GetEarlyStoppingRulesReply;
  Result<Reply> rules(const Request& request, const std::function<bool()>& cancelled);

 private:
  Result<void> read_new(const Request& request, std::int64_t start_step,
                        const std::function<bool()>& cancelled);

  const AssessorRegistry& assessors_;
  const ReadReports read_;
  const Log log_;
  std::mutex mutex_;  // protects all that follows
  std::string of_;    // experiment and specification of what is known
  std::map<std::string, std::vector<double>> known_;  // the first reports, by trial
};

}  // namespace attune::katib
