// The command attune export. docs/commands.md lists the columns.
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "manager/cli/commands/export_table.h"
#include "manager/cli/commands/views.h"
#include "manager/store/store_reader.h"
#include "manager/store/stored_values.h"
#include "protocol/codec.h"

namespace attune {
namespace {

void add_metrics(json& row, const json& metric, const std::string& objective) {
  if (metric.is_object()) {
    for (const auto& [name, value] : metric.items()) row["metrics." + name] = value;
  } else if (!metric.is_null()) {
    row["metrics." + objective] = metric;
  }
}

// The row of one trial, with its columns in order. Columns without a value are left out.
json flat(const TrialRecord& trial, const std::string& objective) {
  json row = {{"trial_job_id", trial.job_id},    {"sequence", trial.sequence},
              {"source", to_text(trial.source)}, {"status", status_word(trial.status)},
              {"reason", trial.reason},          {"attempts", trial.attempts},
              {"failures", trial.failures},      {"reports", trial.reports}};
  if (trial.start_time > 0) row["started"] = trial.start_time;
  if (trial.end_time > 0) {
    row["ended"] = trial.end_time;
    if (trial.start_time > 0) row["seconds"] = trial.end_time - trial.start_time;
  }
  if (const auto score = number_of(trial.final_metric, objective)) row["score"] = *score;
  if (const auto last = number_of(trial.last_metric, objective)) row["last"] = *last;
  add_metrics(row, trial.final_metric, objective);
  if (trial.proposed.parameters.is_object()) {
    for (const auto& [name, value] : trial.proposed.parameters.items())
      row["parameters." + name] = value;
  }
  return row;
}

// The row of one intermediate result. Columns without a value are left out.
json flat_report(const std::string& job_id, const StoredReport& report,
                 const std::string& objective) {
  json row = {{"trial_job_id", job_id},
              {"attempt", report.attempt},
              {"report", report.report},
              {"sequence", report.sequence},
              {"time", report.time}};
  if (report.ran) row["seconds"] = *report.ran;
  const auto command = decode(Frame{"ME", report.text});
  const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
  const json value = metric == nullptr ? json() : metric->value;
  if (const auto score = number_of(value, objective)) row["score"] = *score;
  row["late"] = report.late;
  row["ignored"] = report.ignored;
  add_metrics(row, value, objective);
  return row;
}

ExportTable trials_table(StoreReader& reader, const StoredExperiment& experiment) {
  return {{"trial_job_id", "sequence", "source", "status", "reason", "attempts", "failures",
           "reports", "started", "ended", "seconds", "score", "last"},
          [&](const ExportTable::Each& each) {
            return reader.trials(experiment, {}, [&](const TrialRecord& trial) {
              each(flat(trial, experiment.objective().metric));
              return true;
            });
          }};
}

ExportTable reports_table(StoreReader& reader, const StoredExperiment& experiment) {
  return {{"trial_job_id", "attempt", "report", "sequence", "time", "seconds", "score", "late",
           "ignored"},
          [&](const ExportTable::Each& each) {
            return reader.intermediate_reports(
                experiment, [&](const std::string& job_id, const StoredReport& report) {
                  each(flat_report(job_id, report, experiment.objective().metric));
                });
          }};
}

// true: `path` is a regular file or does not exist, and can be replaced by a new file. false: it is
// a device, a FIFO or /dev/stdout, which is opened and written to.
Result<bool> takes_a_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return true;
  if (S_ISDIR(status.st_mode)) return fail(path + " is a directory; name a file in it");
  if (S_ISREG(status.st_mode)) return true;
  // Links such as /dev/stdout lead to what the shell has opened. Another link to a file is refused:
  // only the user knows whether the link or the file should be replaced.
  const bool opened = path == "/dev/stdout" || path == "/dev/stderr" ||
                      path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
  if (S_ISLNK(status.st_mode) && !opened &&
      (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)))
    return fail(path + " is a symbolic link; name the file that it leads to, or remove it");
  return false;
}

using WriteInto = std::function<Result<void>(std::FILE*)>;

Result<void> write_and_close(int fd, const std::string& path, const WriteInto& body) {
  std::FILE* file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (file == nullptr) return fail(fmt::format("cannot write {}: {}", path, strerror(errno)));
  Result<void> written = body(file);
  const bool failed = std::fflush(file) != 0 || std::ferror(file) != 0;
  const int error = errno;
  if (std::fclose(file) != 0 || failed)
    return fail(fmt::format("cannot write {}: {}", path, strerror(failed ? error : errno)));
  return written;
}

Result<void> write_file(const std::string& path, const WriteInto& body) {
  if (!TRY(takes_a_file(path)))
    // Appends: /dev/stdout may lead to a file that is not empty.
    return write_and_close(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC), path,
                           body);
  // Written beside the file first, because nobody could see that a file is only half written.
  const std::string partial = path + ".part";
  // Always a new file, so that no symbolic link that somebody has put there is followed.
  ::unlink(partial.c_str());
  auto written = write_and_close(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), partial,
      body);
  if (written && std::rename(partial.c_str(), path.c_str()) != 0)
    written = fail(fmt::format("cannot write {}: {}", path, strerror(errno)));
  if (!written) ::unlink(partial.c_str());
  return written;
}

}  // namespace

Result<int> view(const ExportOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  const bool lines = options.format == "jsonl" || options.which.json;
  const ExportTable table =
      options.reports ? reports_table(reader, experiment) : trials_table(reader, experiment);
  const auto write = [&](const Console& into) -> Result<void> {
    if (lines) return write_lines(table, into);
    // write_csv() reads the rows twice, and both times must give the same.
    return reader.consistently([&] { return write_csv(table, into); });
  };
  if (options.output.empty()) {
    TRY(write(console));
    return kExitOk;
  }
  TRY(write_file(options.output, [&](std::FILE* file) {
    Console into = console;
    into.out = file;
    return write(into);
  }));
  return kExitOk;
}

}  // namespace attune
