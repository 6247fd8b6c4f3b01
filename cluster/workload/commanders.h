#pragma once
// The commanders by name. After DI-engine (opendilab), ding/worker/coordinator: naive_parallel,
// solo_parallel and one_vs_one_parallel; docs/workloads.md, "Commanders", has their settings.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/commander.h"

namespace attune {

// The names that make_commander() takes.
std::vector<std::string> commander_names();

// `trials` gives a null pointer: there is no commander, and all tasks come from clients. The other
// commanders decide by `settings`, `seed` and what they are told, so the same events lead to the
// same tasks. An error says what is accepted; its place is the commander's name ("solo") or the key
// below it.
Result<std::unique_ptr<Commander>> make_commander(std::string_view name, const json& settings,
                                                  std::uint64_t seed);

}  // namespace attune
