#pragma once
// One per commander, for the list in commanders.cpp.
#include <cstdint>
#include <memory>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/commander.h"

namespace attune {

Result<std::unique_ptr<Commander>> make_naive(const json& settings, std::uint64_t seed);
Result<std::unique_ptr<Commander>> make_solo(const json& settings, std::uint64_t seed);
Result<std::unique_ptr<Commander>> make_one_vs_one(const json& settings, std::uint64_t seed);

}  // namespace attune
