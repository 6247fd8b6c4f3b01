// Learning to balance a pole, in one process: a trial of `attune run experiment.yaml`, or alone.
//
//   cart_pole [--parameters FILE] [--runs N]
//
// FILE: a JSON object of examples/cart_pole/settings.h. With N runs, which differ by their seeds,
// it reports their means: what is good by luck in one of them is not in all.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "examples/cart_pole/alone.h"
#include "trial/trial.h"

namespace {

using cart_pole::Alone;
using cart_pole::Progress;

// All runs up to their next report: its means.
Progress advance(std::vector<Alone>& runs) {
  Progress mean;
  for (Alone& run : runs) {
    const Progress one = run.advance();
    mean.train_steps = one.train_steps;
    mean.env_steps += one.env_steps;
    mean.loss += one.loss / static_cast<double>(runs.size());
    mean.reward += one.reward / static_cast<double>(runs.size());
  }
  return mean;
}

attune::Result<void> run(const attune::TrialOptions& options, int count) {
  attune::Trial trial = TRY(attune::Trial::from_environment(options));
  const auto parameters = TRY(trial.next_parameters());
  if (!parameters) return attune::fail("there are no parameters");
  cart_pole::Settings settings = TRY(cart_pole::parse_settings(*parameters));
  std::vector<Alone> runs;
  for (int i = 0; i < count; ++i, ++settings.seed) runs.emplace_back(settings);
  Progress progress;
  double sum = 0;
  int reports = 0;
  while (!runs.front().done()) {
    progress = advance(runs);
    sum += progress.reward;
    ++reports;
    TRY(trial.report({{"default", progress.reward},
                      {"loss", progress.loss},
                      {"train_steps", progress.train_steps},
                      {"env_steps", progress.env_steps}}));
  }
  // Early success counts: the mean over the reports is the area below the curve.
  return trial.final({{"default", sum / reports},
                      {"reward_mean", progress.reward},
                      {"env_steps", progress.env_steps}});
}

}  // namespace

int main(int argc, char** argv) try {
  attune::TrialOptions options{.defaults = cart_pole::to_json({})};
  int runs = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--parameters" && i + 1 < argc) {
      options.parameters_file = argv[i + 1];
    } else if (name == "--runs" && i + 1 < argc) {
      runs = std::atoi(argv[i + 1]);
    } else {
      runs = 0;
    }
    if (runs < 1 || runs > 1000) {
      std::fprintf(stderr, "usage: cart_pole [--parameters FILE] [--runs 1 to 1000]\n");
      return 2;
    }
  }
  const auto done = run(options, runs);
  if (!done) std::fprintf(stderr, "cart_pole: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cart_pole: %s\n", error.what());
  return 1;
}
