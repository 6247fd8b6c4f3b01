// Fits the SIR model to an outbreak of influenza, with an embedded study: docs/study.md.
//
//   calibration [--trials N] [--threads N] [--seed N] [FILE]
//
// With a FILE every result is kept there at once, and a second run goes on where the first ended,
// whatever ended it.
#include <attune/study/space_builder.h>
#include <attune/study/study.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "examples/calibration/sir.h"

namespace {

using attune::json;
using calibration::Sir;

// "Influenza in a boarding school", British Medical Journal, 4 March 1978, p. 587: boys confined to
// bed from 22 January on, of 763.
const std::vector<double> kInBed = {3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4};
constexpr calibration::Population kSchool = {763, 3};

Sir model_of(const json& parameters) {
  return {parameters.at("beta").get<double>(), parameters.at("gamma").get<double>()};
}

// The root of the mean squared difference, in boys.
double misfit(const json& parameters) {
  const auto infected =
      infected_by_day(model_of(parameters), kSchool, static_cast<int>(kInBed.size()));
  double sum = 0;
  for (std::size_t day = 0; day < kInBed.size(); ++day) {
    sum += (infected[day] - kInBed[day]) * (infected[day] - kInBed[day]);
  }
  return std::sqrt(sum / static_cast<double>(kInBed.size()));
}

void show_fit(const attune::StudyTrial& best) {
  const Sir model = model_of(best.parameters);
  const auto infected = infected_by_day(model, kSchool, static_cast<int>(kInBed.size()));
  std::printf("\nday  in bed  model\n");
  for (std::size_t day = 0; day < kInBed.size(); ++day) {
    std::printf("%3zu  %6.0f  %5.0f\n", day, kInBed[day], infected[day]);
  }
  std::printf("\nbeta %.3f, gamma %.3f, R0 %.2f, misfit %.2f boys (trial %lld)\n", model.beta,
              model.gamma, model.beta / model.gamma, *best.value, static_cast<long long>(best.id));
}

int failed(const attune::Error& error) {
  std::fprintf(stderr, "calibration: %s\n", error.message.c_str());
  return 1;
}

int calibrate(attune::StudyOptions options, attune::OptimizeOptions how) {
  options.concurrency = how.threads;
  options.if_exists = attune::IfExists::continue_;
  auto study = attune::Study::create(
      attune::SpaceBuilder().uniform("beta", 0.5, 4).uniform("gamma", 0.1, 1).build(), options);
  if (!study) return failed(study.error());
  for (const std::string& warning : study->warnings()) {
    std::fprintf(stderr, "calibration: %s\n", warning.c_str());
  }
  if (study->trial_count() > 0) {
    std::printf("going on after %lld trials\n", static_cast<long long>(study->trial_count()));
  }
  how.on_end = [&](const attune::StudyTrial& trial) {
    const auto best = study->best();  // none before a trial has completed
    if (best && best->id == trial.id) {
      std::printf("trial %4lld: misfit %7.2f\n", static_cast<long long>(trial.id), *trial.value);
      std::fflush(stdout);
    }
    return true;
  };
  if (auto ended = study->optimize(misfit, how); !ended) return failed(ended.error());
  const auto best = study->best();
  if (!best) return failed({"no trial completed"});
  show_fit(*best);
  return 0;
}

int run(int argc, char** argv) {
  attune::StudyOptions options;
  options.tuner = {.name = "TPE"};  // 400 trials of microseconds: a cheap rule will do
  attune::OptimizeOptions how{.trials = 400, .threads = 2};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      options.file = name;
      continue;
    }
    const long number = i + 1 < argc ? std::strtol(argv[++i], nullptr, 10) : -1;
    if (name == "--trials" && number > 0) {
      how.trials = number;
    } else if (name == "--threads" && number > 0) {
      how.threads = static_cast<int>(number);
    } else if (name == "--seed" && number >= 0) {
      options.seed = static_cast<std::uint64_t>(number);
    } else {
      std::fprintf(stderr, "usage: calibration [--trials N] [--threads N] [--seed N] [FILE]\n");
      return 2;
    }
  }
  return calibrate(options, how);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return failed({error.what()});
  }
}
