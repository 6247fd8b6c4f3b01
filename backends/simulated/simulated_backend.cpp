#include "backends/simulated/simulated_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/simulated/metric_writer.h"
#include "base/check.h"
#include "protocol/codec.h"

namespace attune {
namespace {

using Kind = SimulatedEvent::Kind;

// The last epoch of an attempt, from 1.
int last_epoch(const json& parameters, const SimulatedCurve& curve) {
  const auto budget = parameters.find("TRIAL_BUDGET");
  if (budget == parameters.end() || !budget->is_number()) return curve.epochs();
  // Compared as doubles, because the number may be too large for an int, or NaN, which sets no
  // limit.
  const double epochs = budget->get<double>();
  return epochs < curve.epochs() ? static_cast<int>(std::max(1.0, epochs)) : curve.epochs();
}

}  // namespace

struct SimulatedBackend::Trial {
  std::string job_id;
  std::int64_t sequence = 0;
  int done = 0;  // finished epochs in its state, which a checkpoint keeps

  // The attempt that runs, or ran last.
  std::uint64_t start = 0;  // its key in busy_
  bool busy = false;        // until its TrialFinished was fetched
  bool over = true;
  std::optional<Ending> told;  // whether, and how, it was told to end
  std::string checkpoint;      // to start from
  SimulatedCurve curve;
  int first = 0, last = 0;          // finished epochs before the attempt, and at its end
  int dies_at = 0;                  // the epoch in which it fails or is lost; 0: never
  Ending fate = Ending::succeeded;  // how it ends if it is not told to
  double begun = 0;                 // when it was started
  MetricWriter metrics;
};

SimulatedBackend::SimulatedBackend(SimulatedBackendOptions options,
                                   std::unique_ptr<CurveSource> curves, ManualClock& clock)
    : options_(std::move(options)), curves_(std::move(curves)), clock_(clock) {}

SimulatedBackend::~SimulatedBackend() = default;

bool SimulatedBackend::advance() {
  const auto next = queue_.next_time();
  if (!next) return false;
  clock_.advance_to(*next);
  while (const auto event = queue_.pop(clock_.now())) handle(*event);
  return true;
}

SimulatedBackend::Trial& SimulatedBackend::busy_trial(const TrialStart& start) {
  auto& trial = trials_[start.sequence];
  if (!trial) trial = std::make_unique<Trial>();
  sequences_[start.job_id] = start.sequence;
  trial->job_id = start.job_id;
  trial->sequence = start.sequence;
  trial->start = starts_++;
  trial->busy = true;
  trial->over = false;
  trial->told.reset();
  trial->begun = clock_.now();
  busy_[trial->start] = start.sequence;
  return *trial;
}

Result<void> SimulatedBackend::start(const TrialStart& start) {
  if (const auto old = trials_.find(start.sequence); old != trials_.end() && old->second->busy) {
    return fail(fmt::format("trial {} was started, but runs already", start.job_id));
  }
  const auto proposal = TRY(decode(Frame{"TR", start.parameter_text}));
  const auto& trial_job = std::get<NewTrialJob>(proposal);
  if (!trial_job.parameters.is_object()) {
    return fail(fmt::format("the parameters of trial {} are {}, not an object", start.job_id,
                            json_type_name(trial_job.parameters)));
  }
  SimulatedCurve curve = TRY(curves_->curve(trial_job.parameters, start.sequence));
  ATTUNE_CHECK(curve.epochs() > 0 && curve.seconds.size() == curve.values.size());

  Trial& trial = busy_trial(start);
  trial.curve = std::move(curve);
  trial.last = last_epoch(trial_job.parameters, trial.curve);
  trial.checkpoint = start.checkpoint;
  const auto from = checkpoints_.find(start.checkpoint);
  trial.done = trial.first = from == checkpoints_.end() ? 0 : from->second;
  trial.metrics =
      MetricWriter(trial_job.parameter_id, start.job_id, options_.plain_metrics, options_.metric);
  draw_fate(start, trial);
  queue_.push(clock_.now() + options_.delays.start, start.sequence, Kind::start);
  return {};
}

void SimulatedBackend::draw_fate(const TrialStart& start, Trial& trial) const {
  const SimulatedBackendOptions::Failures& failures = options_.failures;
  Rng rng = Rng(options_.seed).fork(fmt::format("{}/{}", start.job_id, start.attempt));
  trial.dies_at = 0;
  trial.fate = Ending::succeeded;
  const double drawn = rng.uniform();
  if (drawn >= failures.fail_rate + failures.lost_rate || trial.first >= trial.last) return;
  const int epoch =
      failures.epoch.value_or(static_cast<int>(rng.integer(trial.first + 1, trial.last + 1)));
  if (epoch <= trial.first || epoch > trial.last) return;
  trial.dies_at = epoch;
  trial.fate = drawn < failures.fail_rate ? Ending::failed : Ending::lost;
}

Result<TrialBackend::Adoption> SimulatedBackend::adopt(const TrialStart& start, std::uint64_t) {
  Trial& trial = busy_trial(start);
  trial.done = 0;
  finish(trial, Ending::lost, "the process that simulated it has ended");
  return Adoption::lost;
}

void SimulatedBackend::handle(const SimulatedEvent& event) {
  Trial& trial = *trials_.at(event.trial);
  // A checkpoint may be beyond the end of the curve; then the last value counts.
  const auto index = static_cast<std::size_t>(std::clamp(event.epoch, 1, trial.curve.epochs()) - 1);
  switch (event.kind) {
    case Kind::start:
      begin(trial);
      break;
    case Kind::report:
      if (!trial.told) trial.done = event.epoch;
      report(trial, trial.metrics.periodical(trial.curve.values[index], event.epoch,
                                             trial.curve.seconds[index]));
      break;
    case Kind::end:
      // A pause right after the last epoch is common (a rung, a budget). Its result must not depend
      // on whether the trial would have ended within delays.stop.
      if (trial.told) return;
      if (trial.fate == Ending::succeeded) {
        report(trial, trial.metrics.final(final_value(trial, index), event.epoch));
        finish(trial, Ending::succeeded, "exit code 0");
      } else {
        finish(trial, trial.fate, trial.fate == Ending::failed ? "exit code 1" : "simulated loss");
      }
      break;
    case Kind::stop:
      finish(trial, *trial.told, *trial.told == Ending::paused ? "paused" : "stopped");
      break;
  }
}

void SimulatedBackend::begin(Trial& trial) {
  if (!trial.checkpoint.empty() && !checkpoints_.contains(trial.checkpoint)) {
    finish(trial, Ending::restore_failed, fmt::format("no checkpoint {}", trial.checkpoint));
    return;
  }
  double time = clock_.now(), last_report = time;
  for (int epoch = trial.first + 1; epoch <= trial.last; ++epoch) {
    time += trial.curve.seconds[static_cast<std::size_t>(epoch - 1)];
    last_report = time + options_.delays.report;
    if (epoch == trial.dies_at) {
      queue_.push(last_report, trial.sequence, Kind::end, epoch);
      return;
    }
    queue_.push(last_report, trial.sequence, Kind::report, epoch);
  }
  queue_.push(last_report + options_.delays.end, trial.sequence, Kind::end,
              std::max(trial.first, trial.last));
}

double SimulatedBackend::final_value(const Trial& trial, std::size_t last) const {
  double value = trial.curve.values[last];
  if (options_.final_metric == SimulatedBackendOptions::Final::last) return value;
  for (auto e = static_cast<std::size_t>(trial.first); e < last; ++e) {
    const double other = trial.curve.values[e];
    const bool better = options_.maximize ? other > value : other < value;
    if (better || std::isnan(value)) value = other;
  }
  return value;
}

void SimulatedBackend::report(Trial& trial, TrialReport report) {
  report.time = clock_.wall();
  report.late = trial.told.has_value();
  report.ran = clock_.now() - trial.begun;
  fetchable_.emplace_back(std::move(report));
}

void SimulatedBackend::finish(Trial& trial, Ending how, std::string detail) {
  queue_.remove(trial.sequence);
  trial.over = true;
  trial.curve = {};
  fetchable_.emplace_back(TrialFinished{trial.job_id, how, std::move(detail), clock_.wall(),
                                        clock_.now() - trial.begun, 0, false,
                                        clock_.now() - trial.begun});
}

SimulatedBackend::Trial* SimulatedBackend::running(const std::string& job_id) {
  const auto sequence = sequences_.find(job_id);
  if (sequence == sequences_.end()) return nullptr;
  Trial& trial = *trials_.at(sequence->second);
  return trial.over ? nullptr : &trial;
}

void SimulatedBackend::end_soon(Trial& trial, Ending how, double delay) {
  // If it was told to end before: a pause may become a stop, and a kill comes sooner; any other
  // request changes nothing.
  const bool again = trial.told.has_value();
  if (!again || how == Ending::stopped) trial.told = how;
  if (!again || delay == 0) queue_.push(clock_.now() + delay, trial.sequence, Kind::stop);
}

void SimulatedBackend::stop(const std::string& job_id) {
  if (Trial* trial = running(job_id)) end_soon(*trial, Ending::stopped, options_.delays.stop);
}

void SimulatedBackend::pause(const std::string& job_id) {
  if (Trial* trial = running(job_id)) end_soon(*trial, Ending::paused, options_.delays.stop);
}

void SimulatedBackend::kill_all() {
  for (const auto& [start, sequence] : busy_) {
    if (Trial& trial = *trials_.at(sequence); !trial.over) end_soon(trial, Ending::stopped, 0);
  }
}

Result<void> SimulatedBackend::give_parameter(const std::string& job_id, std::int64_t,
                                              const std::string&) {
  return fail(fmt::format("trial {} is simulated and asks for no more parameters", job_id));
}

void SimulatedBackend::save_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  CheckpointStored saved{job_id, checkpoint, 0, ""};
  const auto sequence = sequences_.find(job_id);
  if (sequence == sequences_.end()) {
    saved.error = fmt::format("there is no trial {}", job_id);
  } else if (const int done = trials_.at(sequence->second)->done;
             done == 0 || !options_.checkpoints) {
    saved.error = "nothing saved";
  } else {
    checkpoints_[checkpoint] = done;
  }
  fetchable_.emplace_back(std::move(saved));
}

void SimulatedBackend::copy_checkpoint(const std::string& from, const std::string& to) {
  CheckpointStored saved{"", to, 0, ""};
  if (const auto found = checkpoints_.find(from); found != checkpoints_.end()) {
    checkpoints_[to] = found->second;
  } else {
    saved.error = fmt::format("no checkpoint {}", from);
  }
  fetchable_.emplace_back(std::move(saved));
}

void SimulatedBackend::delete_checkpoint(const std::string& checkpoint) {
  checkpoints_.erase(checkpoint);
}

void SimulatedBackend::release(const std::string& job_id) {
  const auto sequence = sequences_.find(job_id);
  if (sequence == sequences_.end() || trials_.at(sequence->second)->busy) return;
  trials_.erase(sequence->second);
  sequences_.erase(sequence);
}

std::vector<TrialEvent> SimulatedBackend::fetch_status_results() {
  std::vector<TrialEvent> events = std::exchange(fetchable_, {});
  for (const TrialEvent& event : events) {
    const auto* finished = std::get_if<TrialFinished>(&event);
    if (finished == nullptr) continue;
    Trial& trial = *trials_.at(sequences_.at(finished->job_id));
    trial.busy = false;
    busy_.erase(trial.start);
  }
  return events;
}

std::filesystem::path SimulatedBackend::stderr_path(const std::string& job_id) const {
  return directory_ / "trials" / job_id / "stderr";
}

}  // namespace attune
