#include "runner/reporter.h"

#include <fmt/format.h>

#include "runner/options.h"

namespace attune {
namespace {

constexpr int kMaxWarnings = 20;  // on the terminal; all of them are in the log

std::string_view to_text(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::completed:
      return "completed";
    case Outcome::Kind::interrupted:
      return "interrupted";
    case Outcome::Kind::failed:
      return "failed";
  }
  return "";
}

}  // namespace

Reporter::Reporter(RunFacts facts, Progress& progress)
    : facts_(std::move(facts)), progress_(progress), best_(facts_.objective) {}

void Reporter::on_tally(const Tally& tally) {
  tally_ = tally;
  progress_.update(tally);
}

void Reporter::on_trial_changed(const TrialRecord& trial) {
  if (!has_ended(trial.status)) return;
  best_.offer(trial);
  progress_.trial_ended(trial, best_.get(), best_.score());
}

void Reporter::on_event(const std::string& kind, const std::string& text) {
  if (kind == "notice") progress_.message(text);
  if (kind != "warning" || ++warnings_ > kMaxWarnings) return;
  progress_.message("warning: " + text);
  if (warnings_ == kMaxWarnings)
    progress_.message("warning: no more warnings here; see log/runner.log");
}

void Reporter::on_done(const Outcome& outcome) {
  outcome_ = outcome;
  seconds_ = progress_.elapsed();
  progress_.clear();
}

int Reporter::exit_code() const {
  if (outcome_.kind == Outcome::Kind::interrupted) return kExitInterrupted;
  if (outcome_.kind == Outcome::Kind::completed) return 0;
  return attempts_ ? 1 : 2;
}

json Reporter::summary() const {
  json best = nullptr;
  if (best_.get()) {
    best = {{"trial_job_id", best_.get()->job_id},
            {"metric", best_.score()},
            {"final", best_.get()->final_metric},
            {"parameters", best_.get()->proposed.parameters}};
  }
  return {{"experiment_id", facts_.experiment_id},
          {"directory", facts_.directory},
          {"outcome", to_text(outcome_.kind)},
          {"reason", outcome_.reason},
          {"optimize_mode", facts_.objective.maximize ? "maximize" : "minimize"},
          {"seed", facts_.seed},
          {"seconds", seconds_},
          {"trials",
           {{"succeeded", tally_.succeeded},
            {"failed", tally_.failed},
            {"early_stopped", tally_.early_stopped},
            {"user_canceled", tally_.user_canceled},
            {"pending", tally_.pending},
            {"paused", tally_.paused}}},
          {"best", std::move(best)}};
}

std::string Reporter::summary_text() const {
  std::string text = fmt::format(
      "{} trials in {}: {} succeeded, {} stopped early, {} failed{}\n", tally_.finished(),
      duration_text(seconds_), tally_.succeeded, tally_.early_stopped, tally_.failed,
      tally_.user_canceled > 0 ? fmt::format(", {} cancelled", tally_.user_canceled) : "");
  if (tally_.pending + tally_.paused > 0) {
    text += fmt::format("{} trials have not ended: attune resume {} goes on with them\n",
                        tally_.pending + tally_.paused, facts_.experiment_id);
  }
  if (best_.get() == nullptr) return text;
  const TrialRecord& best = *best_.get();
  text += fmt::format("best {} ({}, trial {})\n", best_.score(),
                      facts_.objective.maximize ? "highest" : "lowest", best.job_id);
  if (best.final_metric.is_object()) {
    for (const auto& [key, value] : best.final_metric.items()) {
      if (key != facts_.objective.metric)
        text += fmt::format("  with {} {}\n", key, dump_json(value));
    }
  }
  return text + best.proposed.parameters.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace attune
