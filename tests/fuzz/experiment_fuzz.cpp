// Any experiment parameters: an error, or a tuner and an assessor that work.
#include <array>

#include "assessors/registry.h"
#include "daemon/experiment.h"
#include "tests/fuzz/fuzz.h"
#include "tuners/registry.h"

using namespace attune;

FUZZ_TARGET(input) {
  const auto experiment = parse_json(input);
  if (!experiment) return;
  Configuration configuration;
  if (!read_experiment(*experiment, configuration)) return;
  const auto& [tuner, assessor] = std::pair(configuration.tuner, configuration.assessor);
  const auto made =
      make_tuner(builtin_tuners(), tuner.name, tuner.arguments, configuration.context, 1);
  if (made) {
    const Space space{{Param{"x", "x", Uniform{0, 1, false, {}}, {}}}};
    if (made->tuner->set_space(space)) {
      const std::array<TrialId, 3> ids = {0, 1, 2};
      ATTUNE_CHECK(made->tuner->ask(ids).size() == ids.size());
    }
  }
  if (!assessor) return;
  const auto judge = make_assessor(builtin_assessors(), assessor->name, assessor->arguments,
                                   configuration.context, 1);
  if (!judge) return;
  const std::array<Report, 1> reports = {
      Report{.trial = 0, .step = 0, .metrics = {{"default", 1}}}};
  ATTUNE_CHECK((*judge)->assess(0, reports).trial == 0);
}
