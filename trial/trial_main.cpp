#include "trial/trial_main.h"

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "trial/process_reporter.h"

namespace attune {
namespace {

Result<void> run(const TrialFunction& function, const TrialOptions& options) {
  Trial trial = TRY(Trial::from_environment(options));
  const std::optional<json> parameters = TRY(trial.next_parameters());
  ProcessReporter reporter(trial);
  std::optional<json> result;
  try {
    result = function(*parameters, reporter, reporter.newest_checkpoint());
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("the function threw something that is no std::exception");
  }
  if (!result) result = reporter.last_report();
  if (!result) {
    return fail(
        "the function returned nothing and reported nothing: there is no result to compare");
  }
  return trial.final(*result);
}

}  // namespace

int run_trial(const TrialFunction& function, const TrialOptions& options) {
  const auto ran = run(function, options);
  if (ran) return 0;
  std::fprintf(stderr, "trial failed: %s\n", ran.error().message.c_str());
  return 1;
}

}  // namespace attune
