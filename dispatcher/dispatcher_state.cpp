// Saves and loads the dispatcher's part of a snapshot, and restarts for a manager that starts anew.
#include <algorithm>
#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/messages_json.h"
#include "dispatcher/queued_json.h"

namespace attune {
namespace {

Result<std::uint64_t> count_at(const json& state, const char* name) {
  const std::int64_t value = TRY(integer_at(state, name));
  if (value < 0) return fail(std::string("saved state: ") + name + " is negative");
  return static_cast<std::uint64_t>(value);
}

// Journals of format 1 have no queues in their snapshots.
template <class Message>
Result<void> load_queue(const json& state, const char* name, const Limits& limits, Queues& queues) {
  if (!state.contains(name)) return {};
  for (const json& saved : TRY(array_at(state, name))) {
    Message message = TRY(load_queued<Message>(saved, limits.request));
    const std::uint64_t bytes = TRY(count_at(saved, "bytes"));
    queues.push_over_limit(std::move(message), std::min<std::uint64_t>(bytes, limits.queue));
  }
  return {};
}

Result<std::deque<WorkerMessage>> load_messages(const json& state, const char* name) {
  std::deque<WorkerMessage> messages;
  for (const json& message : TRY(array_at(state, name))) {
    messages.push_back(TRY(load_message(message)));
  }
  return messages;
}

}  // namespace

void Dispatcher::save() {
  release();
  json echoes = json::array();
  for (const auto& [number, echo] : echoes_) {
    echoes.push_back({{"number", number},
                      {"token", echo.token},
                      {"missing", echo.missing},
                      {"followed", echo.followed}});
  }
  json state;  // member by member: an initialiser list would copy the jobs
  state["commands"] = commands_;
  state["answers"] = answers_;
  state["acknowledged"] = acknowledged_;
  state["barriers"] = barriers_;
  state["echoes"] = std::move(echoes);
  state["jobs"] = jobs_.save();
  state["quotas"] = quotas_.save();
  const auto into = [](json& queue) {
    return [&queue](const auto& message, std::size_t bytes) {
      json saved = save_queued(message);
      saved["bytes"] = bytes;
      queue.push_back(std::move(saved));
    };
  };
  json tune = json::array(), assess = json::array();
  queues_.push_first(AssessMessage(SaveState{}), kOwnBytes, into(assess));
  queues_.push_first(TuneMessage(SaveState{}), kOwnBytes, into(tune));
  state["tune_queue"] = std::move(tune);
  state["assess_queue"] = std::move(assess);
  saving_ = Saving{.state = std::move(state)};
  journal_->begin_snapshot();
}

// Keeps a message that is in no state: ours was saved before the message came, and the worker's
// after the worker had sent it.
void Dispatcher::note_in_flight(WorkerName from, const WorkerMessage& message) {
  if (from == WorkerName::tune && !saving_->tuner) {
    saving_->tune_said.push_back(save_message(message));
  } else if (from == WorkerName::assess && !saving_->assessor) {
    saving_->assess_said.push_back(save_message(message));
  }
}

void Dispatcher::answer(TunerState& m) {
  saving_->tuner = std::move(m.state);
  finish_save();
}

void Dispatcher::answer(AssessorState& m) {
  saving_->assessor = std::move(m.state);
  finish_save();
}

void Dispatcher::finish_save() {
  if (!saving_->tuner || !saving_->assessor) return;
  Saving saved = *std::move(saving_);
  saving_.reset();
  saved.state["tuner"] = *std::move(saved.tuner);
  saved.state["assessor"] = *std::move(saved.assessor);
  saved.state["tune_said"] = std::move(saved.tune_said);
  saved.state["assess_said"] = std::move(saved.assess_said);
  sink_->save(std::move(saved.state));
}

Result<Dispatcher::InFlight> Dispatcher::load(const json& state) {
  // The server makes snapshots only when a search space is in force.
  initialized_ = true;
  commands_ = TRY(count_at(state, "commands"));
  answers_ = TRY(count_at(state, "answers"));
  acknowledged_ = TRY(count_at(state, "acknowledged"));
  barriers_ = TRY(count_at(state, "barriers"));
  for (const json& saved : TRY(array_at(state, "echoes"))) {
    const std::uint64_t number = TRY(count_at(saved, "number"));
    const json token = TRY(value_at(saved, "token"));
    const std::int64_t missing = TRY(integer_at(saved, "missing"));
    // Earlier snapshots have no such member.
    const json followed = saved.value("followed", json(false));
    if (!token.is_string() || missing < 1 || missing > 2 || !followed.is_boolean()) {
      return fail("saved state: an odd echo");
    }
    echoes_.emplace(
        number, Echo{token.get<std::string>(), static_cast<int>(missing), followed.get<bool>()});
  }
  TRY(jobs_.load(TRY(object_at(state, "jobs"))));
  TRY(quotas_.load(TRY(object_at(state, "quotas"))));
  InFlight said;
  said.tune = TRY(load_messages(state, "tune_said"));
  said.assess = TRY(load_messages(state, "assess_said"));
  TRY(load_queue<TuneMessage>(state, "tune_queue", options_.limits, queues_));
  TRY(load_queue<AssessMessage>(state, "assess_queue", options_.limits, queues_));
  return said;
}

void Dispatcher::put_aside(const WorkerMessage& message) {
  if (const auto* decided = std::get_if<Decided>(&message)) end_early(*decided);
}

void Dispatcher::restart() {
  initialized_ = false;
  commands_ = answers_ = acknowledged_ = 0;
  echoes_.clear();
  jobs_.restart();
  quotas_.restart();
}

std::uint64_t Dispatcher::acknowledged() const {
  return options_.capabilities.sync ? acknowledged_ : answers_;
}

}  // namespace attune
