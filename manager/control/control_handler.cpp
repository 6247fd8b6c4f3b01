#include "manager/control/control_handler.h"

#include <fmt/format.h>

#include "manager/experiment/experiment_file.h"
#include "manager/experiment/import_rules.h"
#include "manager/experiment/preparation.h"

namespace attune {

Result<json> ControlHandler::handle(const json& request) {
  const ControlRequest parsed = TRY(parse_control_request(request));
  // These two are allowed even while the store cannot be written: they change nothing that a later
  // manager must know, and an experiment must be able to end.
  const bool always =
      std::holds_alternative<StopRequest>(parsed) || std::holds_alternative<StatusRequest>(parsed);
  if (!always) TRY(runner_.takes_requests());
  auto answer = std::visit([this](const auto& r) { return carry_out(r); }, parsed);
  if (always && store_.stalled()) return answer;
  runner_.tell_state();
  TRY(store_.commit());  // before the answer: what a client was told must survive a crash
  return answer;
}

Result<json> ControlHandler::carry_out(const StopRequest& request) {
  if (!runner_.interrupted()) runner_.interrupt("stopped by attune stop");
  if (request.kill) runner_.interrupt("killed by attune stop --kill");
  return json{{"running", runner_.tally().running}};
}

Result<json> ControlHandler::carry_out(const KillRequest& request) {
  json stopped = json::array(), failed = json::object();
  for (const std::string& job_id : request.trials) {
    if (const auto asked = runner_.stop_trial(job_id, "attune kill"); asked) {
      stopped.push_back(job_id);
    } else {
      failed[job_id] = asked.error().message;
    }
  }
  if (stopped.empty() && !failed.empty()) return fail(failed.begin().value().get<std::string>());
  return json{{"stopped", stopped}, {"failed", failed}};
}

// Adds all trials or none: all are checked first, so that a mistake in the last one does not leave
// the others running.
Result<json> ControlHandler::carry_out(const AddRequest& request) {
  for (const json& parameters : request.trials) TRY(check_point(experiment_.space, parameters));
  json added = json::array();
  for (const json& parameters : request.trials)
    added.push_back(TRY(runner_.add_trial(parameters, TrialSource::customized)));
  return json{{"trials", added}};
}

Result<json> ControlHandler::carry_out(const ImportRequest& request) {
  const FitRecords fit = fit_records(experiment_.space, request.records);
  if (!fit.good.empty()) {
    TRY(runner_.import(fit.good));
    TRY(store_.add_imports(fit.good, clock_.wall()));
  }
  return json{{"imported", fit.good.size()}, {"left_out", fit.left_out}, {"why", fit.why}};
}

// Changes everything or nothing, too. check_resumable() runs first, because a resume must accept
// what is stored.
Result<json> ControlHandler::carry_out(const UpdateRequest& request) {
  Experiment updated = experiment_;
  if (!request.search_space.is_null()) updated.search_space = request.search_space;
  if (request.concurrency) updated.trial_concurrency = *request.concurrency;
  if (request.max_seconds) updated.max_experiment_seconds = request.max_seconds;
  if (request.max_trials) updated.max_trial_number = request.max_trials;
  updated.space = TRY(check_resumable(updated));
  experiment_ = std::move(updated);
  if (!request.search_space.is_null()) runner_.set_search_space(request.search_space);
  if (request.concurrency) runner_.set_concurrency(*request.concurrency);
  if (request.max_seconds) runner_.set_max_seconds(request.max_seconds);
  if (request.max_trials) runner_.set_max_trials(request.max_trials);
  TRY(store_.update_file(to_document(experiment_)));
  TRY(store_.add_event({EventKind::update, dump_json(to_json(ControlRequest(request)))},
                       clock_.wall()));
  return json{{"concurrency", experiment_.trial_concurrency}};
}

Result<json> ControlHandler::carry_out(const StatusRequest&) {
  json waiting = json::object();
  for (const auto& [sequence, trial] : runner_.table().in(TrialStatus::pending))
    waiting[trial->record.job_id] = runner_.table().why_waits(*trial);
  const Tally& tally = runner_.tally();
  return json{{"pending", tally.pending},
              {"running", tally.running},
              {"paused", tally.paused},
              {"finished", tally.finished()},
              {"seconds", runner_.elapsed()},
              {"waiting", waiting},
              {"committed", to_text(runner_.table().pool().committed())}};
}

}  // namespace attune
