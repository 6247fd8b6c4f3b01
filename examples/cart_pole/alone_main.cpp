// Learning to balance a pole, in one process: a trial of `attune run experiment.yaml`, or alone.
//
//   cart_pole [--parameters FILE]   a JSON object of examples/cart_pole/settings.h
#include <cstdio>
#include <exception>
#include <string_view>

#include "examples/cart_pole/alone.h"
#include "trial/trial.h"

namespace {

attune::Result<void> run(const attune::TrialOptions& options) {
  attune::Trial trial = TRY(attune::Trial::from_environment(options));
  const auto parameters = TRY(trial.next_parameters());
  if (!parameters) return attune::fail("there are no parameters");
  const cart_pole::Settings settings = TRY(cart_pole::parse_settings(*parameters));
  attune::Result<void> told;
  double sum = 0;
  int reports = 0;
  const auto last = cart_pole::train_alone(settings, [&](const cart_pole::Progress& progress) {
    sum += progress.reward;
    ++reports;
    told = trial.report({{"default", progress.reward},
                         {"loss", progress.loss},
                         {"train_steps", progress.train_steps},
                         {"env_steps", progress.env_steps}});
    return told.has_value();
  });
  if (!told) return told;
  // Early success counts: the mean over the reports is the area below the curve.
  return trial.final(
      {{"default", sum / reports}, {"reward_mean", last.reward}, {"env_steps", last.env_steps}});
}

}  // namespace

int main(int argc, char** argv) try {
  attune::TrialOptions options{.defaults = cart_pole::to_json({})};
  if (argc == 3 && std::string_view(argv[1]) == "--parameters") {
    options.parameters_file = argv[2];
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: cart_pole [--parameters FILE]\n");
    return 2;
  }
  const auto done = run(options);
  if (!done) std::fprintf(stderr, "cart_pole: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cart_pole: %s\n", error.what());
  return 1;
}
