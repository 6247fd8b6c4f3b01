#include "manager/cli/reporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "manager/cli/commands/best_text.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/commands/shell_words.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/options.h"
#include "manager/control/json_format.h"

namespace attune {
namespace {

constexpr int kMaxWarnings = 20;   // shown on standard error; the log has all
constexpr int kMaxTradeOffs = 20;  // in the summary; `attune best` shows all

std::string_view to_text(ExperimentEnd::Kind kind) {
  switch (kind) {
    case ExperimentEnd::Kind::completed:
      return to_text(ExperimentStatus::completed);
    case ExperimentEnd::Kind::interrupted:
      return to_text(ExperimentStatus::interrupted);
    case ExperimentEnd::Kind::failed:
      return to_text(ExperimentStatus::failed);
  }
  return "";
}

std::string ended_text(const Tally& tally, double seconds) {
  return fmt::format(
      "{} in {}: {} succeeded, {} stopped early, {} failed{}\n", trials_text(tally.finished()),
      duration_text(seconds), tally.succeeded, tally.early_stopped, tally.failed,
      tally.user_canceled > 0 ? fmt::format(", {} cancelled", tally.user_canceled) : "");
}

}  // namespace

Reporter::Reporter(RunFacts facts, ProgressLine& progress)
    : facts_(std::move(facts)), progress_(progress), best_(facts_.objectives) {}

void Reporter::on_tally(const Tally& tally) {
  tally_ = tally;
  progress_.update(tally);
}

void Reporter::on_trial_changed(const TrialRecord& trial) {
  if (!has_ended(trial.status)) return;
  best_.offer(trial);
  progress_.trial_ended(trial, best_text(best_.get(), facts_.objectives));
}

void Reporter::on_event(const RunnerEvent& event) {
  if (event.kind == EventKind::notice) progress_.message(event.text);
  if (event.kind != EventKind::warning || ++warnings_ > kMaxWarnings) return;
  progress_.message("warning: " + event.text);
  if (warnings_ == kMaxWarnings)
    progress_.message("warning: no more warnings here; see log/runner.log");
}

void Reporter::on_done(const ExperimentEnd& outcome) {
  outcome_ = outcome;
  seconds_ = progress_.elapsed();
  progress_.clear();
}

int Reporter::exit_code() const {
  if (outcome_.kind == ExperimentEnd::Kind::interrupted) return kExitInterrupted;
  if (outcome_.kind == ExperimentEnd::Kind::completed) return 0;
  return attempts_ ? 1 : 2;
}

json Reporter::best_json(const TrialRecord& trial) const {
  json best = {{"trial_job_id", trial.job_id},
               {"score", *trial.score(facts_.objective().metric)},
               {"final", trial.final_metric},
               {"parameters", trial.proposed.parameters}};
  add_objectives(best, trial, facts_.objectives);
  return best;
}

// Only the counts of ended trials are of this session; the others are left as they are.
Tally Reporter::ended_now() const {
  Tally ended = tally_;
  if (!earlier_) return ended;
  const Tally& before = earlier_->tally;
  ended.succeeded -= before.succeeded;
  ended.failed -= before.failed;
  ended.early_stopped -= before.early_stopped;
  ended.user_canceled -= before.user_canceled;
  return ended;
}

json Reporter::summary() const {
  json session = {{"status", to_text(outcome_.kind)},
                  {"reason", outcome_.reason},
                  {"seconds", seconds_},
                  {"trials", tally_json(ended_now())}};
  if (several(facts_.objectives)) {
    json& trade_offs = session["trade_offs"] = json::array();
    const bool kept = best_.get() && best_.get()->violation == 0;
    for (const TrialRecord& trial : kept ? best_.leaders() : std::vector<TrialRecord>())
      trade_offs.push_back(best_json(trial));
  }
  return with_format({{"experiment_id", facts_.experiment_id},
                      {"directory", facts_.directory},
                      {"status", to_text(outcome_.kind)},
                      {"reason", outcome_.reason},
                      {"objective", facts_.objective().metric},
                      {"optimize_mode", facts_.objective().maximize ? "maximize" : "minimize"},
                      {"seed", facts_.seed},
                      {"trials", tally_json(tally_)},
                      {"best", best_.get() ? best_json(best_.get()->trial) : json()},
                      {"session", std::move(session)}});
}

std::string Reporter::summary_text() const {
  std::string text = ended_text(ended_now(), seconds_);
  if (earlier_)
    text = "since the resume: " + text +
           "whole experiment: " + ended_text(tally_, earlier_->seconds + seconds_);
  if (tally_.pending + tally_.paused > 0) {
    text += fmt::format("{} trials have not ended: attune resume {} goes on with them\n",
                        tally_.pending + tally_.paused,
                        experiment_words(facts_.directory, facts_.experiment_id, true));
  }
  if (!best_.get()) return text;
  if (several(facts_.objectives))
    return text + trade_offs_text(best_.leaders(), facts_.objectives, 0, kMaxTradeOffs);
  const TrialRecord& best = best_.get()->trial;
  text += fmt::format(
      "{} {} ({}, trial {})\n",
      best_.get()->violation > 0 ? fmt::format("{}; nearest", kNoneKeepsLimits) : "best",
      *best.score(facts_.objective().metric), facts_.objective().maximize ? "highest" : "lowest",
      best.job_id);
  if (best.final_metric.is_object()) {
    for (const auto& [key, value] : best.final_metric.items()) {
      if (key == facts_.objective().metric) continue;
      const auto limited = std::ranges::find(facts_.objectives, key, &Objective::metric);
      text += fmt::format("  with {} {}{}\n", key, dump_json(value),
                          limited == facts_.objectives.end() ? "" : limit_note(best, *limited));
    }
  }
  return text + best.proposed.parameters.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace attune
