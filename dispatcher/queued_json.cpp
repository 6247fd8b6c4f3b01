#include "dispatcher/queued_json.h"

#include "base/check.h"
#include "base/saved_numbers.h"
#include "dispatcher/jobs.h"
#include "dispatcher/messages_json.h"

namespace attune {
namespace {

Result<std::vector<TrialId>> trials_at(const json& state) {
  std::vector<TrialId> trials;
  for (const json& trial : TRY(array_at(state, "trials"))) {
    if (!trial.is_number_integer()) return fail("saved state: a trial is no integer");
    trials.push_back(trial.get<TrialId>());
  }
  return trials;
}

Result<End> end_at(const json& state) {
  const std::int64_t end = TRY(integer_at(state, "end"));
  if (end < 0 || end > static_cast<std::int64_t>(End::imported)) {
    return fail("saved state: an impossible end");
  }
  return static_cast<End>(end);
}

json save_imported(const Session::Imported& record) {
  json state = {{"parameters", save_json(record.parameters)},
                {"value", save_json(record.value)},
                {"has_job", record.has_job},
                {"index", record.index}};
  if (record.trial) state["trial"] = *record.trial;
  return state;
}

Result<Session::Imported> load_imported(const json& state) {
  Session::Imported record;
  record.parameters = TRY(json_at(state, "parameters"));
  record.value = TRY(json_at(state, "value"));
  record.has_job = TRY(boolean_at(state, "has_job"));
  record.index = static_cast<std::size_t>(TRY(integer_at(state, "index")));
  if (state.contains("trial")) record.trial = TRY(integer_at(state, "trial"));
  return record;
}

struct QueuedSaver {
  json operator()(const SetSpace& m) const {
    json state = {
        {kMessageKind, "space"}, {"space", save_json(m.search_space)}, {"initial", m.initial}};
    if (!m.earlier.is_null()) state["earlier"] = save_json(m.earlier);
    return state;
  }
  json operator()(const AskTrials& m) const {
    return {{kMessageKind, "ask"}, {"request", m.request}, {"first", m.first}, {"count", m.count}};
  }
  json operator()(const AskForJob& m) const {
    return {{kMessageKind, "ask for job"},
            {"id", m.id},
            {"trial_job_id", m.trial_job_id},
            {"parameter_index", m.parameter_index}};
  }
  json operator()(const FinalResult& m) const {
    return {{kMessageKind, "final"}, {"trial", m.trial}, {"value", save_json(m.value)}};
  }
  json operator()(const StoppedEarly& m) const {
    return {{kMessageKind, "stopped early"},
            {"trial", m.trial},
            {"last", save_json(m.last)},
            {"expected", save_json(m.expected)}};
  }
  json operator()(const IntermediateResult& m) const {
    return {{kMessageKind, "report"},
            {"trial", m.trial},
            {"step", m.step},
            {"value", save_json(m.value)}};
  }
  json operator()(const TrialsEnded& m) const {
    json state = {{kMessageKind, "ended"}, {"trials", m.trials}, {"end", static_cast<int>(m.end)}};
    if (m.declined) state["declined"] = true;
    return state;
  }
  json operator()(const TrialsPaused& m) const {
    json state = {{kMessageKind, "paused"}, {"trials", m.trials}, {"failed", m.failed}};
    if (m.decided) state["decided"] = true;
    return state;
  }
  json operator()(const CheckpointAnswered& m) const {
    return {{kMessageKind, "checkpoint"}, {"trial", m.trial}, {"saved", m.saved}};
  }
  json operator()(const ImportResults& m) const {
    json records = json::array();
    for (const auto& record : m.records) records.push_back(save_imported(record));
    return {{kMessageKind, "import"}, {"records", std::move(records)}};
  }
  json operator()(const AdoptTrial& m) const {
    return {{kMessageKind, "adopt"},
            {"trial", m.trial},
            {"parameters", save_json(m.parameters)},
            {"paused", m.paused},
            {"unknown", m.unknown}};
  }
  json operator()(const ReviveTrial& m) const {
    return {{kMessageKind, "revive"}, {"trial", m.trial}};
  }
  json operator()(const Refuse& m) const {
    const auto answer = std::visit([](const auto& a) { return WorkerMessage(a); }, m.answer);
    return {{kMessageKind, "refuse"}, {"answer", save_message(answer)}};
  }
  json operator()(const Barrier& m) const {
    return {{kMessageKind, "barrier"}, {"number", m.number}};
  }
  json operator()(const SaveState&) const {
    ATTUNE_CHECK(false);  // there is one at a time
    return nullptr;
  }
};

Result<AskTrials> load_ask(const json& state, std::size_t most) {
  AskTrials m;
  m.request = TRY(integer_at(state, "request"));
  m.first = TRY(integer_at(state, "first"));
  m.count = TRY(integer_at(state, "count"));
  // Refused here: else the tuner would be asked for a damaged number of trials.
  if (m.request < 0 || m.first < m.request || m.first > kLargestId || m.count < 1 ||
      static_cast<std::size_t>(m.count) > most) {
    return fail("saved state: an impossible request");
  }
  return m;
}

Result<AskForJob> load_ask_for_job(const json& state) {
  AskForJob m;
  m.id = TRY(integer_at(state, "id"));
  m.trial_job_id = TRY(text_at(state, "trial_job_id"));
  m.parameter_index = TRY(integer_at(state, "parameter_index"));
  return m;
}

Result<ImportResults> load_import(const json& state) {
  ImportResults m;
  for (const json& record : TRY(array_at(state, "records"))) {
    m.records.push_back(TRY(load_imported(record)));
  }
  return m;
}

Result<AdoptTrial> load_adopt(const json& state) {
  AdoptTrial m;
  m.trial = TRY(integer_at(state, "trial"));
  m.parameters = TRY(json_at(state, "parameters"));
  m.paused = TRY(boolean_at(state, "paused"));
  m.unknown = TRY(boolean_at(state, "unknown"));
  return m;
}

Result<Refuse> load_refuse(const json& state) {
  WorkerMessage answer = TRY(load_message(TRY(value_at(state, "answer"))));
  if (auto* none = std::get_if<NoMore>(&answer)) return Refuse{std::move(*none)};
  if (auto* none = std::get_if<ParameterForJob>(&answer)) return Refuse{std::move(*none)};
  return fail("saved state: no answer to a request that is refused");
}

// Those that both queues have; nothing: another kind.
template <class Message>
Result<std::optional<Message>> load_shared(const std::string& kind, const json& state) {
  if (kind == "report") {
    IntermediateResult m;
    m.trial = TRY(integer_at(state, "trial"));
    m.step = TRY(integer_at(state, "step"));
    m.value = TRY(json_at(state, "value"));
    return Message(std::move(m));
  }
  if (kind == "ended") {
    TrialsEnded m;
    m.trials = TRY(trials_at(state));
    m.end = TRY(end_at(state));
    if (state.contains("declined")) m.declined = TRY(boolean_at(state, "declined"));
    return Message(std::move(m));
  }
  if (kind == "barrier") {
    const std::int64_t number = TRY(integer_at(state, "number"));
    if (number < 0) return fail("saved state: \"number\" must not be negative");
    return Message(Barrier{static_cast<std::uint64_t>(number)});
  }
  return std::optional<Message>();
}

std::unexpected<Error> unknown(const std::string& kind) {
  return fail("saved state: \"" + kind + "\" is no message for this worker");
}

}  // namespace

json save_queued(const TuneMessage& message) { return std::visit(QueuedSaver{}, message); }
json save_queued(const AssessMessage& message) { return std::visit(QueuedSaver{}, message); }

template <>
Result<TuneMessage> load_queued(const json& state, std::size_t most_asked) {
  const std::string kind = TRY(text_at(state, kMessageKind));
  if (auto shared = TRY(load_shared<TuneMessage>(kind, state))) return *std::move(shared);
  if (kind == "space") {
    SetSpace m;
    m.search_space = TRY(json_at(state, "space"));
    m.initial = TRY(boolean_at(state, "initial"));
    if (state.contains("earlier")) m.earlier = TRY(json_at(state, "earlier"));
    return m;
  }
  if (kind == "ask") return TRY(load_ask(state, most_asked));
  if (kind == "ask for job") return TRY(load_ask_for_job(state));
  if (kind == "final") {
    FinalResult m;
    m.trial = TRY(integer_at(state, "trial"));
    m.value = TRY(json_at(state, "value"));
    return m;
  }
  if (kind == "stopped early") {
    StoppedEarly m;
    m.trial = TRY(integer_at(state, "trial"));
    m.last = TRY(json_at(state, "last"));
    m.expected = TRY(json_at(state, "expected"));
    return m;
  }
  if (kind == "paused") {
    TrialsPaused m;
    m.trials = TRY(trials_at(state));
    m.failed = TRY(boolean_at(state, "failed"));
    if (state.contains("decided")) m.decided = TRY(boolean_at(state, "decided"));
    return m;
  }
  if (kind == "checkpoint") {
    CheckpointAnswered m;
    m.trial = TRY(integer_at(state, "trial"));
    m.saved = TRY(boolean_at(state, "saved"));
    return m;
  }
  if (kind == "import") return TRY(load_import(state));
  if (kind == "adopt") return TRY(load_adopt(state));
  if (kind == "revive") return ReviveTrial{TRY(integer_at(state, "trial"))};
  if (kind == "refuse") return TRY(load_refuse(state));
  return unknown(kind);
}

template <>
Result<AssessMessage> load_queued(const json& state, std::size_t) {
  const std::string kind = TRY(text_at(state, kMessageKind));
  if (auto shared = TRY(load_shared<AssessMessage>(kind, state))) return *std::move(shared);
  return unknown(kind);
}

}  // namespace attune
