#include "manager/app/live_export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "manager/interchange/export_format.h"
#include "os/private_file.h"

namespace attune {

// A form that is written.
struct LiveExport::Form {
  const ExportFormat& format;
  std::filesystem::path path;
  std::FILE* file = nullptr;  // of a form that is a file
  std::unique_ptr<Exporter> exporter = nullptr;
  std::size_t told = 0;  // so many of its losses
};

void LiveExport::Closer::operator()(Form* form) const {
  if (form->file != nullptr) std::fclose(form->file);
  delete form;
}

Result<void> LiveExport::open(Form& form) const {
  if (form.format.into_folder != nullptr) {
    form.exporter = TRY(form.format.into_folder(experiment_, form.path, form.path));
    return {};
  }
  UniqueFd fd = TRY(open_private(form.path, O_WRONLY | O_CREAT | O_TRUNC));
  form.file = ::fdopen(fd.get(), "w");
  if (form.file == nullptr)
    return fail(fmt::format("cannot write {}: {}", form.path.string(), strerror(errno)));
  fd.release();
  form.exporter = TRY(form.format.into_file(experiment_, form.file));
  return {};
}

Result<void> LiveExport::start(const std::vector<std::string>& forms, const std::string& id) {
  StoreReader reader = TRY(StoreReader::open(directory_));
  experiment_ = exported_experiment(TRY(reader.find(id)));
  const std::filesystem::path folder = directory_ / "export";
  TRY(make_directories(folder));
  for (const std::string& name : forms) {
    const ExportFormat* format = find_export_format(name);
    if (format == nullptr || format->live_name.empty()) continue;
    forms_.emplace_back(new Form{*format, folder / format->live_name});
    TRY(open(*forms_.back()));
  }
  return reader.trials(experiment_.stored, {}, [this](const TrialRecord& trial) {
    if (has_ended(trial.status)) ended_.push_back(trial.job_id);
    return true;
  });
}

void LiveExport::begin(const std::vector<std::string>& forms, const std::string& id) {
  if (forms.empty()) return;
  if (const auto started = start(forms, id); !started) {
    progress_.message("warning: nothing is exported: " + started.error().message);
    forms_.clear();
  }
  write_ended();
}

void LiveExport::on_trial_changed(const TrialRecord& trial) {
  const bool is_new = has_ended(trial.status) && !forms_.empty() &&
                      std::ranges::find(ended_, trial.job_id) == ended_.end();
  if (is_new) ended_.push_back(trial.job_id);
  next_.on_trial_changed(trial);
}

void LiveExport::write_ended() {
  if (ended_.empty()) return;
  auto reader = StoreReader::open(directory_);
  if (!reader) return;  // the store cannot be read now; the next call tries again
  // A trial whose end is not committed yet stays.
  std::erase_if(ended_, [&](const std::string& job_id) {
    const auto trial = reader->whole_trial(experiment_.stored, job_id);
    if (!trial || !has_ended(trial->trial.status)) return false;
    add(*trial);
    return true;
  });
}

Result<void> LiveExport::add(Form& form, const StoredTrial& trial) {
  TRY(form.exporter->add(trial));
  if (form.file != nullptr && (std::fflush(form.file) != 0 || std::ferror(form.file) != 0))
    return fail(fmt::format("cannot write {}: {}", form.path.string(), strerror(errno)));
  const auto& losses = form.exporter->losses().all();
  for (; form.told < losses.size(); ++form.told)
    progress_.message(fmt::format("{}: {}", form.format.name, losses[form.told]));
  return {};
}

void LiveExport::add(const StoredTrial& trial) {
  std::erase_if(forms_, [&](const auto& form) {
    const auto added = add(*form, trial);
    if (!added)
      progress_.message(
          fmt::format("warning: {} is no longer exported: {}; attune export writes it",
                      form->format.name, added.error().message));
    return !added;
  });
}

}  // namespace attune
