#include "backends/local_backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <optional>

#include "backends/metric_file.h"
#include "backends/unique_fd.h"
#include "protocol/frame.h"

namespace attune {
namespace {

// How much of one trial's metrics one fetch reads, so that no trial starves the others.
constexpr std::size_t kBytesPerFetch = 256 << 10;

Result<UniqueFd> open_file(const std::filesystem::path& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd) return fail(fmt::format("cannot open {}: {}", path.string(), strerror(errno)));
  return fd;
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text) {
  const UniqueFd fd = TRY(open_file(path, O_WRONLY | O_CREAT | O_EXCL));
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0)
      return fail(fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(fmt::format("cannot make {}: {}", path.string(), error.message()));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  return {};
}

}  // namespace

struct LocalBackend::Trial {
  std::string job_id;
  UniqueFd metrics, out, err;  // out and err only until the process has them
  int watch_key = 0;
  std::unique_ptr<ChildProcess> process;
  std::optional<ExitStatus> exit;
  bool stopped = false;  // reports no longer count
  bool changed = false;  // there may be unread metrics
  MetricParser parser;
};

Result<std::unique_ptr<LocalBackend>> LocalBackend::create(boost::asio::io_context& io,
                                                           LocalBackendOptions options,
                                                           std::function<void()> wake) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.code_directory, error)) {
    return fail(
        fmt::format("the trial code directory {} does not exist", options.code_directory.string()));
  }
  TRY(make_directory(options.directory));
  std::unique_ptr<LocalBackend> backend(new LocalBackend(io, std::move(options), std::move(wake)));
  backend->watch_ =
      TRY(FileWatch::create(io, [self = backend.get()](int key) { self->changed(key); }));
  return backend;
}

LocalBackend::LocalBackend(boost::asio::io_context& io, LocalBackendOptions options,
                           std::function<void()> wake)
    : io_(io),
      options_(std::move(options)),
      shell_(::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh"),
      wake_(std::move(wake)) {}

LocalBackend::~LocalBackend() = default;

Result<void> LocalBackend::make_files(const TrialStart& start, Trial& trial) {
  const std::filesystem::path directory = folder(start.job_id);
  TRY(make_directory(directory / ".nni"));
  TRY(write_file(directory / "parameter.cfg", start.parameter_text));
  trial.out = TRY(open_file(stdout_path(start.job_id), O_WRONLY | O_CREAT | O_APPEND));
  trial.err = TRY(open_file(stderr_path(start.job_id), O_WRONLY | O_CREAT | O_APPEND));
  const std::filesystem::path metrics = directory / ".nni" / "metrics";
  trial.metrics = TRY(open_file(metrics, O_RDONLY | O_CREAT));
  trial.watch_key = TRY(watch_->add(metrics));
  return {};
}

ProcessSpec LocalBackend::process_spec(const TrialStart& start, const Trial& trial) const {
  const std::string directory = folder(start.job_id).string();
  std::vector<std::pair<std::string, std::string>> variables = {
      {"NNI_PLATFORM", "local"},
      {"NNI_EXP_ID", options_.experiment_id},
      {"NNI_TRIAL_JOB_ID", start.job_id},
      {"NNI_TRIAL_SEQ_ID", std::to_string(start.sequence)},
      {"NNI_CODE_DIR", options_.code_directory.string()},
      {"NNI_SYS_DIR", directory},
      {"NNI_OUTPUT_DIR", directory}};
  if (options_.hide_gpus) variables.emplace_back("CUDA_VISIBLE_DEVICES", "-1");
  ProcessSpec spec;
  spec.arguments = {shell_, "-c", options_.command};
  spec.environment = child_environment(options_.environment, variables);
  spec.directory = options_.code_directory;
  spec.descriptors = {{1, trial.out.get()}, {2, trial.err.get()}};
  return spec;
}

Result<void> LocalBackend::start(const TrialStart& start) {
  auto trial = std::make_unique<Trial>();
  trial->job_id = start.job_id;
  TRY(make_files(start, *trial));
  auto process = ChildProcess::spawn(io_, process_spec(start, *trial),
                                     [this, started = trial.get()](ExitStatus status) {
                                       started->exit = status;
                                       wake();
                                     });
  if (!process) {
    watch_->remove(trial->watch_key);
    return std::unexpected(process.error());
  }
  trial->process = std::move(*process);
  trial->out.reset();
  trial->err.reset();
  trials_[start.sequence] = std::move(trial);
  return {};
}

void LocalBackend::stop(const std::string& job_id) {
  for (const auto& [sequence, trial] : trials_) {
    if (trial->job_id != job_id) continue;
    trial->stopped = true;
    trial->process->terminate(options_.stop_grace);
  }
}

void LocalBackend::stop_all() {
  for (const auto& [sequence, trial] : trials_) stop(trial->job_id);
}

void LocalBackend::kill_all() {
  stop_all();
  for (const auto& [sequence, trial] : trials_) trial->process->kill();
}

void LocalBackend::changed(int watch_key) {
  for (const auto& [sequence, trial] : trials_) {
    if (watch_key == trial->watch_key || watch_key == FileWatch::kAll) trial->changed = true;
  }
  wake();
}

void LocalBackend::wake() {
  if (std::exchange(wake_posted_, true)) return;
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    wake_posted_ = false;
    wake_();
  });
}

void LocalBackend::read_metrics(const std::string& job_id, Trial& trial,
                                std::vector<TrialEvent>& events) {
  std::string bytes(kBytesPerFetch, '\0');
  const ssize_t size = ::read(trial.metrics.get(), bytes.data(), bytes.size());
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  trial.changed = bytes.size() == kBytesPerFetch;
  trial.parser.feed(bytes);
  if (trial.exit && !trial.changed) trial.parser.finish();
  while (true) {
    auto next = trial.parser.next();
    if (!next) {
      events.push_back(TrialProblem{job_id, next.error().message});
      continue;
    }
    auto* record = std::get_if<MetricRecord>(&*next);
    if (record == nullptr) return;
    if (record->metric.trial_job_id != job_id) {
      events.push_back(TrialProblem{
          job_id, fmt::format("a metric with trial_job_id \"{}\" was ignored: write the value of "
                              "$NNI_TRIAL_JOB_ID, which is \"{}\" in this trial",
                              printable(record->metric.trial_job_id), job_id)});
      continue;
    }
    events.push_back(TrialReport{job_id, std::move(record->text), std::move(record->metric)});
  }
}

std::vector<TrialEvent> LocalBackend::fetch_status_results() {
  std::vector<TrialEvent> events;
  for (auto it = trials_.begin(); it != trials_.end();) {
    Trial& trial = *it->second;
    const bool ended = trial.exit.has_value();
    if (!trial.stopped && (trial.changed || ended)) read_metrics(trial.job_id, trial, events);
    if (!trial.stopped && trial.changed) wake();  // there is more
    if (!ended || (trial.changed && !trial.stopped)) {
      ++it;
      continue;
    }
    watch_->remove(trial.watch_key);
    events.push_back(TrialFinished{trial.job_id, trial.exit->success(), to_text(*trial.exit)});
    it = trials_.erase(it);
  }
  return events;
}

std::vector<std::string> LocalBackend::busy_trial_ids() const {
  std::vector<std::string> ids;
  for (const auto& [sequence, trial] : trials_) ids.push_back(trial->job_id);
  return ids;
}

std::filesystem::path LocalBackend::stdout_path(const std::string& job_id) const {
  return folder(job_id) / "stdout";
}

std::filesystem::path LocalBackend::stderr_path(const std::string& job_id) const {
  return folder(job_id) / "stderr";
}

}  // namespace attune
