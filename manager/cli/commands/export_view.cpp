// The command attune export. docs/commands.md lists the columns.
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "base/terminal_text.h"
#include "manager/cli/commands/output_file.h"
#include "manager/cli/commands/views.h"
#include "manager/interchange/export_format.h"
#include "manager/interchange/trial_rows.h"
#include "manager/store/store_reader.h"
#include "os/standard_output.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

Result<void> write_rows(const ExportOptions& options, StoreReader& reader,
                        const StoredExperiment& experiment, std::FILE* out) {
  const ExportTable table =
      options.reports ? reports_table(reader, experiment) : trials_table(reader, experiment);
  if (options.format == "jsonl") return write_lines(table, out);
  // write_csv() reads the rows twice, and both times must give the same.
  return reader.consistently([&] { return write_csv(table, out); });
}

// Writes all trials, and says what the form cannot say.
Result<void> write_trials(const ExportOptions& options, StoreReader& reader,
                          const ExportedExperiment& experiment, Exporter& exporter,
                          const Console& console) {
  TRY(export_trials(reader, experiment, exporter));
  const auto imports = TRY(reader.imports(experiment.stored));
  if (!imports.empty())
    put_text(console.err, fmt::format("attune: {}: {} imported results are no trials; left out\n",
                                      options.format, imports.size()));
  for (const std::string& loss : exporter.losses().all())
    put_text(console.err, terminal_text(fmt::format("attune: {}: {}\n", options.format, loss)));
  return {};
}

// Written beside the folder first, because nobody could see that it is only half written.
Result<void> write_folder(const fs::path& folder,
                          const std::function<Result<void>(fs::path)>& body) {
  std::error_code error;
  const bool in_the_way =
      fs::exists(fs::symlink_status(folder)) &&
      !(fs::is_directory(fs::symlink_status(folder)) && fs::is_empty(folder, error));
  if (in_the_way) return fail(folder.string() + " exists and is not empty; name a new folder");
  const fs::path partial = fs::path(folder).concat(".part");
  fs::remove_all(partial, error);
  auto written = body(partial);
  if (written && std::rename(partial.c_str(), folder.c_str()) != 0)
    written = fail(fmt::format("cannot write {}: {}", folder.string(), strerror(errno)));
  if (!written) fs::remove_all(partial, error);
  return written;
}

}  // namespace

Result<int> view(const ExportOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const ExportedExperiment experiment =
      exported_experiment(TRY(reader.find(options.which.experiment)));
  const ExportFormat* format = find_export_format(options.format);
  if (format != nullptr && format->into_folder != nullptr) {
    // Without a slash at its end, so that ".part" can follow.
    fs::path home = (fs::absolute(options.output).lexically_normal() / "").parent_path();
    if (format->is_shared) home /= experiment.stored.id;
    TRY(write_folder(home, [&](const fs::path& into) -> Result<void> {
      const auto exporter = TRY(format->into_folder(experiment, into, home));
      return write_trials(options, reader, experiment, *exporter, console);
    }));
    return kExitOk;
  }
  const auto write = [&](std::FILE* out) -> Result<void> {
    const bool rows = format == nullptr || options.format == "jsonl";
    if (rows) return write_rows(options, reader, experiment.stored, out);
    const auto exporter = TRY(format->into_file(experiment, out));
    return write_trials(options, reader, experiment, *exporter, console);
  };
  if (options.output.empty()) {
    TRY(write(console.out));
    return kExitOk;
  }
  if (options.format == "optuna" && fs::exists(fs::symlink_status(options.output)))
    return fail(options.output + " exists, and may hold other studies; name a new file");
  TRY(write_file(options.output, write));
  return kExitOk;
}

}  // namespace attune
