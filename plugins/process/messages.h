#pragma once
// The requests and replies of docs/plugin-protocol.md. A request is an object with "op"; the
// readers take the object of a reply, and their errors have a place in it.
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "plugins/plugin.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

inline constexpr int kPluginProtocol = 1;

json describe_request();
// `space`: of a tuner; null for an assessor.
json init_request(const PluginDescription& which, const PluginSetup& setup, const Space* space);
json ask_request(std::span<const TrialId> ids);
json tell_request(const Space& space, std::span<const Outcome> outcomes);
json adopt_request(const Space& space, TrialId id, const Point& point);
json report_request(const Report& report);
// The reports of the trial from index `from` on.
json assess_request(TrialId trial, std::span<const Report> reports, std::size_t from);
json trial_end_request(TrialId trial, End end);

Result<std::vector<PluginDescription>> read_describe(const json& reply);
// As many answers as were asked for, at most; whether they are enough is not checked.
Result<std::vector<Answer>> read_ask(const Space& space, const json& reply, std::size_t asked);
Result<std::vector<Decision>> read_report(const json& reply);
Result<Decision> read_assess(TrialId trial, const json& reply);
// Error: the state has a number that strict JSON does not have.
Result<json> read_save(const json& reply);

}  // namespace attune
