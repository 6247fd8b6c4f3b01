#include "backends/simulated/simulation_settings.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "backends/simulated/recorded_curves.h"

namespace attune {
namespace {

Argument seconds(const std::string& name, double fallback, const std::string& help) {
  return {.name = name, .fallback = fallback, .help = help, .low = 0, .high = 1e9};
}

std::vector<Argument> declared() {
  using Type = Argument::Type;
  return {{.name = "curves", .type = Type::text, .help = "file of recorded learning curves"},
          {.name = "metric", .type = Type::text, .fallback = "", .help = "its key in that file"},
          {.name = "epochs",
           .type = Type::integer,
           .fallback = 81,
           .help = "of a generated curve",
           .low = 1,
           .high = 1e6},
          {.name = "noise", .fallback = 0.01, .help = "of generated values", .low = 0, .high = 1e9},
          seconds("epochSeconds", 1, "geometric mean, generated"),
          {.name = "secondsRatio",
           .fallback = 4,
           .help = "of the slowest configuration to the fastest, generated",
           .low = 1,
           .high = 1e6},
          {.name = "seed", .type = Type::integer, .help = "of curves and failures", .low = 0},
          {.name = "delays",
           .type = Type::object,
           .fallback = json::object(),
           .help = "in virtual seconds",
           .members = {seconds("start", 0.05, "until the first epoch begins"),
                       seconds("report", 0.05, "from an epoch's end to its report"),
                       seconds("end", 0.05, "from the last report to the end"),
                       seconds("stop", 0.05, "from a stop or a pause to the end")}},
          {.name = "failRate", .fallback = 0, .help = "share of attempts", .low = 0, .high = 1},
          {.name = "lostRate", .fallback = 0, .help = "share of attempts", .low = 0, .high = 1},
          {.name = "failEpoch",
           .type = Type::integer,
           .help = "in which they fail; null: any",
           .low = 1,
           .high = 1e6},
          {.name = "checkpoints", .type = Type::boolean, .fallback = true, .help = "trials save"},
          {.name = "plainMetrics",
           .type = Type::boolean,
           .fallback = false,
           .help = "numbers instead of objects"},
          {.name = "final",
           .type = Type::choice,
           .fallback = "last",
           .help = "which result is the final one",
           .choices = {"last", "best"}}};
}

constexpr std::string_view kTooManyEnd = "failRate and lostRate are more than 1 together";

}  // namespace

std::vector<ArgumentFlaw> simulation_flaws(const json& section) {
  std::vector<ArgumentFlaw> flaws;
  const json given = resolve_arguments(declared(), section, flaws);
  if (flaws.empty() && given["failRate"].get<double>() + given["lostRate"].get<double>() > 1)
    flaws.push_back({{"failRate"}, std::string(kTooManyEnd)});
  return flaws;
}

Result<SimulationSettings> read_simulation(const json& section,
                                           const SimulatedExperiment& experiment) {
  const json given = TRY(resolve_arguments("simulation", declared(), section));
  SimulationSettings settings;
  if (!given["curves"].is_null())
    settings.curves = experiment.directory / given["curves"].get<std::string>();
  settings.metric = given["metric"].get<std::string>();
  const auto seed = given["seed"].is_null() ? experiment.seed : given["seed"].get<std::uint64_t>();
  settings.generated = {.search_space = experiment.search_space,
                        .seed = seed,
                        .maximize = experiment.maximize,
                        .epochs = given["epochs"].get<int>(),
                        .noise = given["noise"].get<double>(),
                        .epoch_seconds = given["epochSeconds"].get<double>(),
                        .seconds_ratio = given["secondsRatio"].get<double>()};

  SimulatedBackendOptions& backend = settings.backend;
  const json& delays = given["delays"];
  backend.delays = {delays["start"].get<double>(), delays["report"].get<double>(),
                    delays["end"].get<double>(), delays["stop"].get<double>()};
  backend.failures.fail_rate = given["failRate"].get<double>();
  backend.failures.lost_rate = given["lostRate"].get<double>();
  if (backend.failures.fail_rate + backend.failures.lost_rate > 1)
    return fail(fmt::format("simulation: {}", kTooManyEnd));
  if (!given["failEpoch"].is_null()) backend.failures.epoch = given["failEpoch"].get<int>();
  backend.seed = seed;
  backend.checkpoints = given["checkpoints"].get<bool>();
  backend.plain_metrics = given["plainMetrics"].get<bool>();
  if (given["final"] == "best") backend.final_metric = SimulatedBackendOptions::Final::best;
  backend.maximize = experiment.maximize;
  backend.metric = experiment.objective;
  return settings;
}

Result<std::unique_ptr<CurveSource>> make_curves(const SimulationSettings& settings) {
  if (settings.curves.empty()) return generated_curves(settings.generated);
  std::error_code error;
  std::ifstream file(settings.curves, std::ios::binary);
  // A directory can be opened like a file, but reading it throws.
  if (!file.is_open() || std::filesystem::is_directory(settings.curves, error))
    return fail(fmt::format("simulation: cannot read {}", settings.curves.string()));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return recorded_curves(text, settings.curves.filename().string(), settings.metric);
}

}  // namespace attune
