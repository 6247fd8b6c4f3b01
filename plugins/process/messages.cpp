#include "plugins/process/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/members.h"
#include "base/objective_json.h"
#include "plugins/answers.h"
#include "plugins/description.h"
#include "space/declaration.h"

namespace attune {
namespace {

std::string_view name_of(End end) {
  switch (end) {
    case End::completed:
      return "completed";
    case End::failed:
      return "failed";
    case End::stopped:
      return "stopped";
    case End::diverged:
      return "diverged";
    case End::imported:
      return "imported";
  }
  return "";
}

struct ActionName {
  std::string_view name;
  Action action;
};
constexpr ActionName kActions[] = {{"keep_going", Action::keep_going},
                                   {"checkpoint", Action::checkpoint},
                                   {"pause", Action::pause},
                                   {"stop", Action::stop},
                                   {"drop_checkpoint", Action::drop_checkpoint}};

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

// dump_json() makes null of NaN and infinities.
json metrics_json(const Metrics& metrics) {
  json object = json::object();
  for (const auto& [name, value] : metrics) object[name] = value;
  return object;
}

json context_json(const Context& context) {
  json fidelity;
  if (context.fidelity)
    fidelity = {{"metric", context.fidelity->metric}, {"max", context.fidelity->max}};
  return {{"max_trials", or_null(context.max_trials)},
          {"concurrency", or_null(context.concurrency)},
          {"objectives", to_json(context.objectives)},
          {"fidelity", std::move(fidelity)},
          {"pauses", context.pauses},
          {"assessed", context.assessed}};
}

json outcome_json(const Space& space, const Outcome& outcome) {
  json said = {{"id", outcome.trial},
               {"parameters", to_json(space, outcome.point)},
               {"loss", or_null(outcome.loss)},
               {"end", name_of(outcome.end)},
               {"metrics", metrics_json(outcome.metrics)}};
  if (outcome.budget) said["budget"] = *outcome.budget;
  if (!outcome.extra.is_null()) said["extra"] = outcome.extra;
  return said;
}

Result<std::optional<TrialId>> optional_id(const Members& members, const char* key) {
  if (!members.has(key)) return std::nullopt;
  return TRY(members.integer(key));
}

Result<Answer> read_answer(const Space& space, const json& said, const std::string& place) {
  if (said == "exhausted") return Exhausted{};
  if (said == "not_yet") return NotYet{};
  if (!said.is_object()) return fail_at(place, "must be an object, \"exhausted\" or \"not_yet\"");
  const Members members = TRY(
      Members::of(said, place, {"parameters", "budget", "resume", "checkpoint_from", "reason"}));
  auto point = point_from_json(space, members.get("parameters"));
  if (!point) return fail_at(members.at("parameters"), point.error().message);
  Proposal proposal{.point = *std::move(point)};
  proposal.budget = TRY(members.number("budget"));
  proposal.resume = TRY(optional_id(members, "resume"));
  proposal.checkpoint_from = TRY(optional_id(members, "checkpoint_from"));
  if (members.has("reason")) proposal.reason = TRY(members.text("reason"));
  return proposal;
}

// `trial`: whom the decision is about if it does not say so itself.
Result<Decision> read_decision(const json& said, const std::string& place,
                               std::optional<TrialId> trial) {
  std::vector<std::string> known = {"action", "reason", "complete"};
  if (!trial) known.emplace_back("id");
  const Members members = TRY(Members::of(said, place, known));
  Decision decision;
  decision.trial = trial ? *trial : TRY(members.integer("id"));
  if (trial && !members.has("action")) return decision;
  const std::string action = TRY(members.text("action"));
  const auto* const found = std::ranges::find(kActions, action, &ActionName::name);
  if (found == std::end(kActions)) {
    return fail_at(members.at("action"),
                   fmt::format("unknown action {}; known: keep_going, checkpoint, pause, stop, "
                               "drop_checkpoint",
                               dump_json(action.substr(0, 100))));
  }
  decision.action = found->action;
  if (members.has("reason")) decision.reason = TRY(members.text("reason"));
  decision.complete = TRY(members.boolean("complete"));
  return decision;
}

bool is_strict(const json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  return !value.is_structured() || std::ranges::all_of(value, is_strict);
}

}  // namespace

json describe_request() { return {{"op", "describe"}, {"protocol", kPluginProtocol}}; }

json init_request(const PluginDescription& which, const PluginSetup& setup, const Space* space) {
  json request = {{"op", "init"},
                  {"kind", which.kind == PluginDescription::Kind::tuner ? "tuner" : "assessor"},
                  {"name", which.name},
                  {"arguments", setup.arguments},
                  {"seed", setup.seed},
                  {"context", context_json(setup.context)}};
  if (space) request["space"] = declaration_of(*space);
  return request;
}

json ask_request(std::span<const TrialId> ids) {
  return {{"op", "ask"}, {"ids", std::vector<TrialId>(ids.begin(), ids.end())}};
}

json tell_request(const Space& space, std::span<const Outcome> outcomes) {
  json all = json::array();
  for (const Outcome& outcome : outcomes) all.push_back(outcome_json(space, outcome));
  return {{"op", "tell"}, {"outcomes", std::move(all)}};
}

json adopt_request(const Space& space, TrialId id, const Point& point) {
  return {{"op", "adopt"}, {"id", id}, {"parameters", to_json(space, point)}};
}

json report_request(const Report& report) {
  return {{"op", "report"},
          {"id", report.trial},
          {"step", report.step},
          {"metrics", metrics_json(report.metrics)}};
}

json assess_request(TrialId trial, std::span<const Report> reports, std::size_t from) {
  json all = json::array();
  for (const Report& report : reports.subspan(from)) all.push_back(metrics_json(report.metrics));
  return {{"op", "assess"}, {"id", trial}, {"from", from}, {"reports", std::move(all)}};
}

json trial_end_request(TrialId trial, End end) {
  return {{"op", "trial_end"}, {"id", trial}, {"end", name_of(end)}};
}

Result<std::vector<PluginDescription>> read_describe(const json& reply) {
  const json none;
  const auto protocol = reply.find("protocol");
  if (protocol == reply.end() || *protocol != kPluginProtocol) {
    return fail_at("protocol",
                   fmt::format("must be {}, not {}", kPluginProtocol,
                               protocol == reply.end() ? "missing" : dump_json(*protocol)));
  }
  const auto algorithms = reply.find("algorithms");
  return read_descriptions(algorithms == reply.end() ? none : *algorithms);
}

Result<std::vector<Answer>> read_ask(const Space& space, const json& reply, std::size_t asked) {
  const auto said = reply.find("answers");
  if (said == reply.end() || !said->is_array()) return fail_at("answers", "an array is missing");
  if (said->size() > asked)
    return fail_at("answers", fmt::format("{} answers to {} ids", said->size(), asked));
  std::vector<Answer> answers;
  for (const json& each : *said) {
    answers.push_back(TRY(read_answer(space, each, fmt::format("answers[{}]", answers.size()))));
  }
  return answers;
}

Result<std::vector<Decision>> read_report(const json& reply) {
  const auto said = reply.find("decisions");
  if (said == reply.end()) return std::vector<Decision>();
  if (!said->is_array() || said->size() > kMostDecisions)
    return fail_at("decisions", fmt::format("must be an array of at most {}", kMostDecisions));
  std::vector<Decision> decisions;
  for (const json& each : *said) {
    decisions.push_back(
        TRY(read_decision(each, fmt::format("decisions[{}]", decisions.size()), std::nullopt)));
  }
  return decisions;
}

Result<Decision> read_assess(TrialId trial, const json& reply) {
  return read_decision(reply, "reply", trial);
}

Result<json> read_save(const json& reply) {
  const auto state = reply.find("state");
  if (state == reply.end()) return fail_at("state", "is missing");
  if (!is_strict(*state)) return fail_at("state", "NaN and infinities cannot be saved");
  return *state;
}

}  // namespace attune
