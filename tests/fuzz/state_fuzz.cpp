// Any saved state: an error, or one that can be gone on from and saved again.
#include "tests/fuzz/fuzz.h"
#include "tests/support/stepped.h"

using namespace attune;

FUZZ_TARGET(input) {
  const auto state = parse_json(input);
  if (!state || !state->is_object()) return;
  for (const char* part : {"jobs", "tuner", "assessor"}) {
    if (!state->contains(part)) return;
  }
  const auto daemon = Stepped::make("TPE", {{"seed", 1}}, "Medianstop");
  if (!daemon->load(*state)) return;
  daemon->send("GE", "2");
  daemon->send("ME", R"({"parameter_id":0,"trial_job_id":"A","type":"FINAL","value":"1"})");
  ATTUNE_CHECK(!daemon->save().is_null());
}
