// Any --exp_params: an error, or a daemon's crew that answers. The input is the JSON; behind an
// exclamation mark it is the argument itself.
#include <array>

#include "base/base64.h"
#include "daemon/crew.h"
#include "daemon/options.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  const bool encoded = input.starts_with('!');
  const std::string argument = encoded ? std::string(input.substr(1)) : base64_encode(input);
  if (argument.find('\0') != argument.npos) return;  // no argument of a program
  if (encoded) {
    const auto decoded = base64_decode(argument);
    ATTUNE_CHECK(!decoded || base64_encode(*decoded) == argument);
  }
  const std::array<const char*, 3> argv = {"attuned", "--exp_params", argument.c_str()};
  Options options;
  const auto read = read_options(3, argv.data(), {}, 1, options);
  if (!read || !*read) return;
  ATTUNE_CHECK(options.run == Options::Run::daemon);
  options.configuration.resume = false;  // of a file, which state_fuzz has
  auto crew =
      make_crew(options.configuration, {builtin_tuners(), builtin_assessors()}, SystemClock(), {});
  if (!crew) return;
  const json space = {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}};
  TuneWorker& tune = crew->workers->tune();
  const auto ready = tune.handle(SetSpace{space, true});
  ATTUNE_CHECK(!ready.empty());  // SpaceSet or Failed
  if (std::holds_alternative<Failed>(ready[0])) return;
  tune.handle(AskTrials{0, 0, 3});
  crew->workers->assess().handle(IntermediateResult{0, 0, 0.5});
  tune.handle(FinalResult{0, 0.5});
}
