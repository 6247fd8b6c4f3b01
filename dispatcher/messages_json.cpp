#include "dispatcher/messages_json.h"

#include "base/check.h"
#include "base/python_json.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

// The largest values of --max-depth and --max-keys: what the manager sent was within them.
// Parameters may have one key more, TRIAL_BUDGET.
constexpr JsonLimits kLimits{.depth = 1000, .keys = 1'000'001};

struct MessageSaver {
  json operator()(const SpaceSet&) const { return {{kMessageKind, "space"}}; }
  json operator()(const Offer& m) const {
    json state = save_offer(m);
    state[kMessageKind] = "offer";
    return state;
  }
  json operator()(const NoMore& m) const {
    return {{kMessageKind, "no more"}, {"asked", m.asked}, {"reason", m.reason}};
  }
  json operator()(const ParameterForJob& m) const {
    return {{kMessageKind, "parameter"},
            {"id", m.id},
            {"trial_job_id", m.trial_job_id},
            {"parameter_index", m.parameter_index},
            {"parameters", save_json(m.parameters)}};
  }
  json operator()(const Decided& m) const {
    json state = {{kMessageKind, "decided"},
                  {"decision", save_decision(m.decision)},
                  {"last_value", save_json(m.last_value)}};
    if (!m.expected.is_null()) state["expected"] = save_json(m.expected);
    return state;
  }
  json operator()(const Passed& m) const {
    return {{kMessageKind, "passed"}, {"number", m.number}};
  }
  json operator()(const Noted& m) const { return {{kMessageKind, "noted"}, {"notes", m.notes}}; }
  template <class Other>
  json operator()(const Other&) const {
    ATTUNE_CHECK(false);  // it is never part of a state
    return nullptr;
  }
};

}  // namespace

json save_message(const WorkerMessage& message) { return std::visit(MessageSaver{}, message); }

Result<WorkerMessage> load_message(const json& state) {
  const std::string kind = TRY(text_at(state, kMessageKind));
  if (kind == "space") return SpaceSet{};
  if (kind == "offer") return TRY(load_offer(state));
  if (kind == "no more") {
    NoMore m;
    m.asked = TRY(integer_at(state, "asked"));
    m.reason = TRY(text_at(state, "reason"));
    return m;
  }
  if (kind == "parameter") {
    ParameterForJob m;
    m.id = TRY(integer_at(state, "id"));
    m.trial_job_id = TRY(text_at(state, "trial_job_id"));
    m.parameter_index = TRY(integer_at(state, "parameter_index"));
    m.parameters = TRY(json_at(state, "parameters"));
    return m;
  }
  if (kind == "decided") {
    Decided m;
    m.decision = TRY(load_decision(TRY(value_at(state, "decision"))));
    m.last_value = TRY(json_at(state, "last_value"));
    if (state.contains("expected")) m.expected = TRY(json_at(state, "expected"));
    return m;
  }
  if (kind == "passed") {
    const std::int64_t number = TRY(integer_at(state, "number"));
    if (number < 0) return fail("saved state: \"number\" must not be negative");
    return Passed{static_cast<std::uint64_t>(number)};
  }
  if (kind == "noted") return Noted{TRY(text_at(state, "notes"))};
  return fail("saved state: \"" + kind + "\" is no message of a worker");
}

json save_offer(const Offer& offer) {
  json state = {
      {"asked", offer.asked}, {"trial", offer.trial}, {"parameters", save_json(offer.parameters)}};
  if (offer.checkpoint_from) state["checkpoint_from"] = *offer.checkpoint_from;
  if (!offer.reason.empty()) state["reason"] = offer.reason;
  return state;
}

Result<Offer> load_offer(const json& state) {
  Offer offer;
  offer.asked = TRY(integer_at(state, "asked"));
  offer.trial = TRY(integer_at(state, "trial"));
  offer.parameters = TRY(json_at(state, "parameters"));
  if (state.contains("checkpoint_from")) {
    offer.checkpoint_from = TRY(integer_at(state, "checkpoint_from"));
  }
  if (state.contains("reason")) offer.reason = TRY(text_at(state, "reason"));
  return offer;
}

json save_decision(const Decision& decision) {
  json state = {{"trial", decision.trial},
                {"action", static_cast<int>(decision.action)},
                {"reason", decision.reason}};
  if (decision.complete) state["complete"] = true;
  return state;
}

Result<Decision> load_decision(const json& state) {
  Decision decision;
  decision.trial = TRY(integer_at(state, "trial"));
  const std::int64_t action = TRY(integer_at(state, "action"));
  if (action < 0 || action > static_cast<int>(Action::drop_checkpoint)) {
    return fail("saved state: an impossible \"action\"");
  }
  decision.action = static_cast<Action>(action);
  decision.reason = TRY(text_at(state, "reason"));
  const auto complete = state.find("complete");
  if (complete != state.end() && !complete->is_boolean()) {
    return fail("saved state: an impossible \"complete\"");
  }
  decision.complete = complete != state.end() && complete->get<bool>();
  return decision;
}

json save_json(const json& value) { return dump_python_json(value); }

Result<json> json_at(const json& object, std::string_view key) {
  auto value = parse_json(TRY(text_at(object, key)), kLimits);
  if (!value) return fail("saved state: \"" + std::string(key) + "\": " + value.error().message);
  return value;
}

}  // namespace attune
