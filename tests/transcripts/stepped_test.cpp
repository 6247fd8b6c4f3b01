// Every recording of NNI's dispatcher, replayed against ours stepped by hand.
#include <catch2/catch.hpp>

#include "daemon/experiment.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript.h"

namespace attune::stepped_test {

// Empty where attuned would not start.
std::unique_ptr<Stepped> make(const Transcript& transcript) {
  Configuration configuration;
  if (!read_experiment(transcript.exp_params, configuration)) return nullptr;
  const auto& assessor = configuration.assessor;
  if (!make_tuner(builtin_tuners(), configuration.tuner.name, configuration.tuner.arguments, {},
                  1)) {
    return nullptr;
  }
  DispatcherOptions options;
  options.include_intermediate =
      transcript.environment.value("NNI_INCLUDE_INTERMEDIATE_RESULTS", "") == "true";
  return Stepped::make(configuration.tuner.name, configuration.tuner.arguments,
                       assessor ? assessor->name : "",
                       assessor ? assessor->arguments : json::object(), options);
}

void replay(const Expectation& expectation, bool assessor_first) {
  const Transcript transcript = load_transcript(expectation.name);
  const auto daemon = make(transcript);
  if (!daemon) {
    CHECK(expectation.exit == kExitConfiguration);
    return;
  }
  for (const Frame& command : transcript.commands) {
    if (daemon->exit_code != kExitOk) break;
    daemon->accept(command.code, command.payload);
    if (assessor_first) {
      while (daemon->step_assess()) {
      }
    }
    daemon->settle();
  }
  CHECK_THAT(mismatch(expectation, transcript, daemon->take()), Catch::Equals(""));
  // A broken stream is the frame decoder's matter, which the replay on the real binary covers.
  if (!transcript.raw) CHECK(daemon->exit_code == expectation.exit);
}

TEST_CASE("recordings of NNI's dispatcher, stepped") {
  for (const Expectation& expectation : load_manifest()) {
    for (const bool assessor_first : {false, true}) {
      DYNAMIC_SECTION(expectation.name << (assessor_first ? ", assessor first" : "")) {
        replay(expectation, assessor_first);
      }
    }
  }
}

}  // namespace attune::stepped_test
