#include "daemon/when_exhausted.h"

#include <algorithm>
#include <array>

namespace attune {
namespace {

// NNI's tuners that never say NoMoreTrialJobs, whatever the space. Its Random, TPE, GridSearch and
// Batch do; of our other tuners NNI has none.
constexpr std::array<std::string_view, 8> kRepeatInNni = {
    "Anneal", "DNGO", "Evolution", "GP", "Metis", "PPO", "RegularizedEvolution", "SMAC"};

}  // namespace

std::optional<WhenExhausted> parse_when_exhausted(std::string_view name) {
  if (name == "stop") return WhenExhausted::stop;
  if (name == "repeat") return WhenExhausted::repeat;
  return std::nullopt;
}

std::string_view name_of(WhenExhausted what) {
  return what == WhenExhausted::stop ? "stop" : "repeat";
}

WhenExhausted default_when_exhausted(bool nni_manager, std::string_view tuner,
                                     const json& arguments) {
  const bool repeats = std::ranges::find(kRepeatInNni, tuner) != kRepeatInNni.end();
  const bool no_repeats =
      tuner == "SMAC" && arguments.is_object() && arguments.value("config_dedup", json()) == true;
  return nni_manager && repeats && !no_repeats ? WhenExhausted::repeat : WhenExhausted::stop;
}

}  // namespace attune
