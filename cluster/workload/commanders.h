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

// What make_commander takes.
std::vector<std::string> commander_names();

// `trials` is no commander, a null pointer, which the Coordinator allows: all tasks come from
// clients. The others decide by `settings` and `seed` only, so that the same course of events gives
// the same tasks. Errors name the key and what is accepted; the place of one is "solo" or the key
// below it.
Result<std::unique_ptr<Commander>> make_commander(std::string_view name, const json& settings,
                                                  std::uint64_t seed);

}  // namespace attune
