// Any saved state, gone on from exactly and after a restart: an error, or a daemon that goes on,
// and whose own state is one from which another answers the same.
#include "tests/fuzz/fuzz.h"
#include "tests/support/moody_tuner.h"
#include "tests/support/stepped.h"

using namespace attune;

static std::unique_ptr<Stepped> start_plain() {
  return Stepped::make("TPE", {{"seed", 1}}, "Medianstop");
}

static std::unique_ptr<Stepped> start_pausing() {
  DispatcherOptions options;
  options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  options.wants_reports = true;
  return std::make_unique<Stepped>(std::make_unique<MoodyTuner>(1), false, nullptr, options);
}

static void go_on(std::unique_ptr<Stepped> (*start)(), const json& state, bool exactly) {
  const auto daemon = start();
  if (!(exactly ? daemon->load(state) : daemon->restart(state))) return;
  const std::string saved = dump_json(daemon->save());
  const auto copy = start();
  ATTUNE_CHECK(copy->load(parse_json(saved).value()));
  ATTUNE_CHECK(dump_json(copy->save()) == saved);
  for (const Frame& command :
       {Frame{"ME", R"({"parameter_id":1,"trial_job_id":"J1","type":"PERIODICAL","value":"1"})"},
        Frame{"AD", R"([{"parameter_id":2,"trial_job_id":"J2","paused":true,"parameters":{}}])"},
        Frame{"GE", "2"}, Frame{"CK", R"({"trial_job_id":"J1","checkpoint":"c"})"},
        Frame{"EN", R"({"trial_job_id":"J3","event":"PAUSED","hyper_params":"{}"})"},
        Frame{"ME", R"({"parameter_id":0,"trial_job_id":"J0","type":"FINAL","value":"1"})"},
        Frame{"EN", R"({"trial_job_id":"J1","event":"FAILED","hyper_params":"{}"})"},
        Frame{"SS", R"({"x":{"_type":"uniform","_value":[0,0.5]}})"}, Frame{"GE", "2"}}) {
    daemon->send(command.code, command.payload);
    copy->send(command.code, command.payload);
    ATTUNE_CHECK(daemon->take() == copy->take());
  }
  ATTUNE_CHECK(dump_json(daemon->save()) == dump_json(copy->save()));
}

FUZZ_TARGET(input) {
  const auto state = parse_json(input);
  if (!state || !state->is_object()) return;
  for (const char* part : {"jobs", "tuner", "assessor"}) {
    if (!state->contains(part)) return;
  }
  for (const bool exactly : {true, false}) {
    go_on(start_plain, *state, exactly);
    go_on(start_pausing, *state, exactly);
  }
}
