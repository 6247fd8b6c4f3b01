// Measures what a tuner finds, without a daemon and in virtual time: one JSON line for each run, on
// stdout. bench/quality/compare.py makes tables of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "bench/quality/run.h"

namespace attune::bench {
namespace {

struct Options {
  std::string set = "choice", groups, names, arguments = "{}", label;
  RunSettings run;
  int seeds = 5, first_seed = 0, jobs = 2;
  bool list = false;
};

bool is_in(const std::string& word, const std::string& list) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

json line(const Options& options, const Problem& problem, std::uint64_t seed, const Run& run) {
  json found = json::array();
  for (const double each : run.found) found.push_back(std::isfinite(each) ? json(each) : json());
  json all = {{"label", options.label},
              {"set", options.set},
              {"problem", problem.name},
              {"group", problem.group},
              {"best", problem.best},
              {"decades", problem.decades},
              {"seed", seed},
              {"trials", options.run.trials},
              {"parallel", options.run.parallel},
              {"found", found},
              {"ask_ms", run.ask_ms},
              {"slowest_ask_ms", run.slowest_ask_ms}};
  for (const double each : run.curve) {
    all["curve"].push_back(std::isfinite(each) ? json(each) : json());
  }
  return all;
}

int measure(const Options& options) {
  std::vector<Problem> chosen;
  for (Problem& problem : problems(options.set)) {
    if ((options.groups.empty() || is_in(problem.group, options.groups)) &&
        (options.names.empty() || is_in(problem.name, options.names))) {
      chosen.push_back(std::move(problem));
    }
  }
  if (chosen.empty())
    throw std::invalid_argument("no problem has these names and groups: see --list");
  if (options.list) {
    for (const Problem& problem : chosen) fmt::print("{}: {}\n", problem.group, problem.name);
    return 0;
  }
  const auto seeds = static_cast<std::size_t>(options.seeds);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex output;
  const auto work = [&] {
    for (std::size_t job = next++; job < chosen.size() * seeds && !failed; job = next++) {
      const Problem& problem = chosen[job / seeds];
      RunSettings settings = options.run;
      settings.seed = static_cast<std::uint64_t>(options.first_seed) + job % seeds;
      const Result<Run> done = run(problem, settings);
      const std::lock_guard lock(output);
      if (!done) {
        fmt::print(stderr, "error: {}: {}\n", problem.name, done.error().message);
        failed = true;
        return;
      }
      fmt::print("{}\n", line(options, problem, settings.seed, *done).dump());
      std::fflush(stdout);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < options.jobs; ++i) threads.emplace_back(work);
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  using namespace attune::bench;
  Options options;
  const CLI::Range count(1, 1000000);
  CLI::App app("Measures what a tuner finds on problems with a known best result.");
  app.add_option("--tuner", options.run.tuner, "its name")->capture_default_str();
  app.add_option("--arguments", options.arguments, "of the tuner: a JSON object");
  app.add_option("--label", options.label, "names the runs in the output; default: the tuner");
  app.add_option("--set", options.set, "choice: rules may be chosen on these problems; fresh: not")
      ->capture_default_str();
  app.add_option("--groups", options.groups, "only these groups of problems, with commas");
  app.add_option("--problems", options.names, "only these problems, with commas");
  app.add_option("--prior", options.run.prior,
                 "what the user believes: good (near the best point), random (anywhere), or bad "
                 "(the worst of 1000 points)")
      ->check(CLI::IsMember({"good", "random", "bad"}));
  app.add_option("--trials", options.run.trials, "of each run")
      ->check(count)
      ->capture_default_str();
  app.add_option("--parallel", options.run.parallel, "trials that run at once")
      ->check(count)
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "runs of each problem")
      ->check(count)
      ->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "the next ones follow")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "runs at the same time")
      ->check(count)
      ->capture_default_str();
  app.add_option("--related", options.run.related,
                 "the tuner learns from so many runs of Random on nearly the same problem")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--foreign", options.run.foreign, "the same, on quite another problem")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--earlier-trials", options.run.earlier_trials, "of each of these runs")
      ->check(count)
      ->capture_default_str();
  app.add_flag("--curve", options.run.curve, "also prints what was found after each trial");
  app.add_flag("--list", options.list, "lists the problems");
  CLI11_PARSE(app, argc, argv);
  if (options.label.empty()) options.label = options.run.tuner;
  try {
    options.run.arguments = attune::json::parse(options.arguments);
    if (!options.run.arguments.is_object()) {
      throw std::invalid_argument("--arguments: not a JSON object");
    }
    return measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
