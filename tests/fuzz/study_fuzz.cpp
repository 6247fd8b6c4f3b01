// Any bytes: a study file is an error, or a study that is the same again when it is written.
#include "study/header.h"
#include "study/replay.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  const auto tuners = builtin_tuners();
  const auto assessors = builtin_assessors();
  const auto study = replay(input, tuners, assessors);
  if (!study) return;
  std::string text = dump_json(study->header) + "\n";
  for (const Event& event : study->core->events()) text += dump_json(to_json(event)) + "\n";
  const auto again = replay(text, tuners, assessors);
  ATTUNE_CHECK(again.has_value());
  ATTUNE_CHECK(again->core->trial_count() == study->core->trial_count());
  // With warnings it was adopted, or judged differently: then the second may differ likewise.
  if (study->warnings.empty()) ATTUNE_CHECK(again->warnings.empty());
}
