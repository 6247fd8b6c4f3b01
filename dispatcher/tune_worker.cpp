#include "dispatcher/tune_worker.h"

#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/messages_json.h"
#include "dispatcher/metrics.h"
#include "dispatcher/sink.h"
#include "dispatcher/trial_name.h"
#include "space/constraint.h"
#include "space/parse.h"

namespace attune {

WorkerMessages TuneWorker::handle(TuneMessage message) {
  WorkerMessages messages = std::visit([this](auto& m) { return on(m); }, message);
  std::string notes = session_.take_notes();
  if (!notes.empty()) messages.insert(messages.begin(), Noted{std::move(notes)});
  return messages;
}

// Turns the session's replies into messages; those that a running job asked for go to that job.
WorkerMessages TuneWorker::address(Replies replies) {
  WorkerMessages messages;
  messages.reserve(replies.size());
  for (Reply& reply : replies) {
    const TrialId asked = std::visit([](const auto& r) { return r.asked; }, reply);
    if (const auto job = for_job_.find(asked); job != for_job_.end()) {
      auto* offer = std::get_if<Offer>(&reply);
      messages.emplace_back(ParameterForJob{asked, job->second.trial_job_id,
                                            job->second.parameter_index,
                                            offer ? std::move(offer->parameters) : json()});
      for_job_.erase(job);
    } else {
      std::visit([&](auto& r) { messages.emplace_back(std::move(r)); }, reply);
    }
  }
  return messages;
}

WorkerMessages TuneWorker::address(Effects effects) {
  WorkerMessages messages;
  for (Decision& decision : effects.decisions) {
    json last = decision.complete ? session_.last_report(decision.trial) : json();
    // A trial without a report has no result. It is only stopped.
    decision.complete = !last.is_null();
    messages.emplace_back(Decided{std::move(decision), std::move(last)});
  }
  for (WorkerMessage& message : address(std::move(effects.replies))) {
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<Space> TuneWorker::make_space(const json& search_space) const {
  if (session_.any_parameters() && search_space.is_null()) return fail("search_space: is null");
  Space space =
      session_.any_parameters() ? unread_space(search_space) : TRY(parse_space(search_space));
  TRY(set_constraints(space, constraints_));
  return space;
}

WorkerMessages TuneWorker::on(SetSpace& m) {
  // After a resume the manager sends the space that the tuner has already: there is nothing to tell
  // it again.
  if (m.initial && m.search_space == search_space_) return {SpaceSet{}};
  auto space = make_space(m.search_space);
  if (m.initial && search_space_.is_null()) {
    auto earlier = read_earlier(m.earlier);
    if (!earlier) return {Failed{kExitConfiguration, earlier.error().message}};
    session_.set_earlier(*std::move(earlier));
    earlier_ = std::move(m.earlier);
  }
  auto effects = space ? session_.set_space(*std::move(space))
                       : Result<Effects>(std::unexpected(space.error()));
  WorkerMessages messages;
  if (m.initial) {
    if (!effects) return {Failed{kExitConfiguration, effects.error().message}};
    messages.emplace_back(SpaceSet{});
  } else if (!effects) {
    log_.error("search space not updated, the former one stays: {}", effects.error().message);
    return {};
  }
  search_space_ = std::move(m.search_space);
  for (WorkerMessage& message : address(*std::move(effects))) {
    messages.push_back(std::move(message));
  }
  return messages;
}

WorkerMessages TuneWorker::on(AskTrials& m) {
  return address(session_.request(m.first, m.count, m.request));
}

WorkerMessages TuneWorker::on(AskForJob& m) {
  const TrialId id = m.id;
  for_job_.emplace(id, std::move(m));
  return address(session_.request_for_job(id));
}

WorkerMessages TuneWorker::on(FinalResult& m) {
  return address(session_.final_result(m.trial, m.value));
}

// The assessor could judge these, so they are metrics.
WorkerMessages TuneWorker::on(StoppedEarly& m) {
  const auto last = to_metrics(m.last, session_.objective().metric);
  const auto expected = to_metrics(m.expected, session_.objective().metric);
  if (last && expected) session_.stopped_early(m.trial, *last, *expected);
  return {};
}

WorkerMessages TuneWorker::on(IntermediateResult& m) {
  auto metrics = to_metrics(m.value, session_.objective().metric);
  if (!metrics) {
    log_.warning("intermediate result {} of {} ignored: {}", m.step, trial_name(m.trial),
                 metrics.error().message);
    return {};
  }
  return address(session_.report({m.trial, m.step, *std::move(metrics)}));
}

WorkerMessages TuneWorker::on(TrialsEnded& m) {
  Replies replies;
  if (m.declined) session_.declined();
  for (const TrialId trial : m.trials) append(replies, session_.trial_end(trial, m.end));
  return address(std::move(replies));
}

WorkerMessages TuneWorker::on(TrialsPaused& m) {
  Effects all;
  for (const TrialId trial : m.trials) {
    Effects effects =
        m.failed ? Effects{{}, session_.pause_failed(trial)} : session_.paused(trial, m.decided);
    for (Decision& decision : effects.decisions) all.decisions.push_back(std::move(decision));
    append(all.replies, std::move(effects.replies));
  }
  return address(std::move(all));
}

WorkerMessages TuneWorker::on(CheckpointAnswered& m) {
  session_.checkpoint_answered(m.trial, m.saved);
  return {};
}

WorkerMessages TuneWorker::on(ImportResults& m) { return address(session_.import(m.records)); }

WorkerMessages TuneWorker::on(AdoptTrial& m) {
  // The record of this proposal was lost. The tuner, with the state from before it, must not
  // propose the same again. One skip is enough: it leads past all lost proposals.
  if (m.unknown && !search_space_.is_null() && !std::exchange(skipped_, true)) {
    log_.warning("trial {} was given out, but is not remembered: other proposals follow", m.trial);
    session_.skip_ahead();
  }
  auto adopted = session_.adopt(m.trial, m.parameters, m.paused);
  if (adopted) return address(*std::move(adopted));
  log_.warning("trial {} runs without the tuner's knowledge: {}", m.trial, adopted.error().message);
  return {};
}

WorkerMessages TuneWorker::on(ReviveTrial& m) {
  session_.revive(m.trial);
  return {};
}

WorkerMessages TuneWorker::on(Refuse& m) {
  return {std::visit([](auto& answer) { return WorkerMessage(std::move(answer)); }, m.answer)};
}

WorkerMessages TuneWorker::on(SaveState& m) {
  json for_job = json::array();
  for (const auto& [id, ask] : for_job_) {
    for_job.push_back(
        {{"id", id}, {"trial_job_id", ask.trial_job_id}, {"parameter_index", ask.parameter_index}});
  }
  json state;
  state["search_space"] = save_json(search_space_);
  if (!earlier_.is_null()) state["earlier"] = save_json(earlier_);
  state["for_job"] = std::move(for_job);
  state["skipped"] = skipped_;
  state["session"] = session_.save();
  WorkerMessages messages;  // an initialiser list would copy the state
  messages.emplace_back(TunerState{m.number, std::move(state)});
  return messages;
}

Result<void> TuneWorker::load(const json& state) {
  search_space_ = TRY(json_at(state, "search_space"));
  if (state.contains("earlier")) earlier_ = TRY(json_at(state, "earlier"));
  session_.set_earlier(TRY(read_earlier(earlier_)));
  std::optional<Space> space;
  if (!search_space_.is_null()) space = TRY(make_space(search_space_));
  for (const json& one : TRY(array_at(state, "for_job"))) {
    AskForJob ask;
    ask.id = TRY(integer_at(one, "id"));
    ask.trial_job_id = TRY(text_at(one, "trial_job_id"));
    ask.parameter_index = TRY(integer_at(one, "parameter_index"));
    for_job_.insert_or_assign(ask.id, std::move(ask));
  }
  const json skipped = TRY(value_at(state, "skipped"));
  if (!skipped.is_boolean()) return fail("saved state: \"skipped\" is neither true nor false");
  skipped_ = skipped.get<bool>();
  return session_.load(std::move(space), TRY(object_at(state, "session")));
}

void TuneWorker::restart(bool manager_pauses) {
  session_.restart(manager_pauses);
  for_job_.clear();
  skipped_ = false;
}

WorkerMessages TuneWorker::on(Barrier& m) { return {Passed{m.number}}; }

}  // namespace attune
