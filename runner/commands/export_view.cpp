// attune export. docs/commands.md lists the columns.
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <unordered_set>
#include <utility>

#include "base/python_json.h"
#include "runner/commands/csv.h"
#include "runner/commands/views.h"
#include "runner/store/store_reader.h"
#include "runner/store/stored_values.h"

namespace attune {
namespace {

// The columns of one trial, in order; what it has not is missing.
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
  if (trial.final_metric.is_object()) {
    for (const auto& [name, value] : trial.final_metric.items()) row["metrics." + name] = value;
  } else if (!trial.final_metric.is_null()) {
    row["metrics.default"] = trial.final_metric;
  }
  if (trial.proposed.parameters.is_object()) {
    for (const auto& [name, value] : trial.proposed.parameters.items())
      row["parameters." + name] = value;
  }
  return row;
}

// Those that every table has, then metrics, then parameters, each as they first occur.
class Columns {
 public:
  Columns() {
    for (const char* name : {"trial_job_id", "sequence", "source", "status", "reason", "attempts",
                             "failures", "reports", "started", "ended", "seconds", "score", "last"})
      add(fixed_, name);
  }
  void add(const json& row) {
    for (const auto& [name, value] : row.items())
      add(name.starts_with("parameters.") ? parameters_ : metrics_, name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all = fixed_;
    all.insert(all.end(), metrics_.begin(), metrics_.end());
    all.insert(all.end(), parameters_.begin(), parameters_.end());
    return all;
  }

 private:
  void add(std::vector<std::string>& group, const std::string& name) {
    if (seen_.insert(name).second) group.push_back(name);
  }
  std::vector<std::string> fixed_, metrics_, parameters_;
  std::unordered_set<std::string> seen_;
};

Result<void> write_csv(StoreReader& reader, const StoredExperiment& experiment,
                       const Console& console) {
  // The head of the table names all columns, so that all trials are read twice.
  return reader.consistently([&]() -> Result<void> {
    Columns columns;
    TRY(reader.trials(experiment, {}, [&](const TrialRecord& trial) {
      columns.add(flat(trial, experiment.objective().metric));
      return true;
    }));
    const std::vector<std::string> names = columns.names();
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ",") + csv_cell(name);
    print(console, line + "\n");
    return reader.trials(experiment, {}, [&](const TrialRecord& trial) {
      const json row = flat(trial, experiment.objective().metric);
      std::string text;
      for (const std::string& name : names) {
        if (&name != names.data()) text += ',';
        const auto found = row.find(name);
        if (found != row.end()) text += csv_cell(*found);
      }
      print(console, text + "\n");
      return true;
    });
  });
}

Result<void> write_lines(StoreReader& reader, const StoredExperiment& experiment,
                         const Console& console) {
  return reader.trials(experiment, {}, [&](const TrialRecord& trial) {
    print(console,
          dump_python_json(with_format(flat(trial, experiment.objective().metric))) + "\n");
    return true;
  });
}

// Whether `path` is the place for a file: one is there, or nothing. Otherwise (a device, a FIFO,
// /dev/stdout) it takes the bytes as they come.
Result<bool> takes_a_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return true;
  if (S_ISDIR(status.st_mode)) return fail(path + " is a directory; name a file in it");
  if (S_ISREG(status.st_mode)) return true;
  // What the shell has opened; of other links to files only the user knows which of the two should
  // be replaced.
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
    // Appending: behind /dev/stdout there may be a file that has something already.
    return write_and_close(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC), path,
                           body);
  // Beside the file first: one that is half written looks like a whole one.
  const std::string partial = path + ".part";
  // Made here, so that no symbolic link that somebody has put there is followed.
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
  const auto write = lines ? write_lines : write_csv;
  if (options.output.empty()) {
    TRY(write(reader, experiment, console));
    return kExitOk;
  }
  TRY(write_file(options.output, [&](std::FILE* file) {
    Console into = console;
    into.out = file;
    return write(reader, experiment, into);
  }));
  return kExitOk;
}

}  // namespace attune
