#include "runner/results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "protocol/codec.h"

namespace attune {
namespace {

// A bare number becomes {"default": number}, so that readers meet one form.
json metric_object(const json& metric) {
  if (metric.is_object() || metric.is_null()) return metric;
  return {{"default", metric}};
}

}  // namespace

json to_json(const TrialRecord& trial) {
  return {{"trial_job_id", trial.job_id},
          {"sequence", trial.sequence},
          {"status", to_text(trial.status)},
          {"reason", trial.reason},
          {"parameter_id", to_json(trial.proposed.parameter_id)},
          {"parameters", trial.proposed.parameters},
          {"final", metric_object(trial.final_metric)},
          {"intermediate", trial.intermediate},
          {"start_time", trial.start_time},
          {"end_time", trial.end_time}};
}

Result<ResultsFile> ResultsFile::open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return fail(fmt::format("cannot open {}: {}", path.string(), strerror(errno)));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(
        fmt::format("{} is in use by a running experiment; choose another --dir", path.string()));
  }
  if (::lseek(fd.get(), 0, SEEK_END) != 0) {
    return fail(
        fmt::format("{} holds the results of another run; choose another --dir", path.string()));
  }
  return ResultsFile(path, std::move(fd));
}

Result<void> ResultsFile::append(const TrialRecord& trial) {
  const std::string line = dump_json(to_json(trial)) + "\n";
  const ssize_t written = ::write(fd_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  return fail(fmt::format("cannot write {}: {}", path_.string(),
                          written < 0 ? strerror(errno) : "the disk is full"));
}

void BestTrial::offer(const TrialRecord& trial) {
  const auto score = trial.score();
  if (trial.status != TrialStatus::succeeded || !score) return;
  if (best_ && (maximize_ ? *score <= *best_->score() : *score >= *best_->score())) return;
  best_ = trial;
}

}  // namespace attune
