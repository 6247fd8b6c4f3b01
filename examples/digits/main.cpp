// Trains a small network on handwritten digits: one trial of an experiment, or on its own.

#include <charconv>
#include <cstdio>
#include <exception>
#include <expected>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "examples/digits/config.h"
#include "examples/digits/dataset.h"
#include "examples/digits/nni_trial.h"
#include "examples/digits/text.h"
#include "examples/digits/training.h"

namespace digits {
namespace {

constexpr const char* kUsage =
    "usage: digits_trial [--data FILE] [--seed N] [CONFIG.json]\n"
    "\n"
    "Trains a network on handwritten digits and prints its accuracy after every epoch.\n"
    "With NNI_SYS_DIR in the environment the configuration comes from that folder's\n"
    "parameter.cfg, and the accuracies are reported to its .nni/metrics.\n"
    "\n"
    "  --data FILE   the images (default data/digits.csv)\n"
    "  --seed N      seed of the training, before the one of the configuration\n"
    "  CONFIG.json   an object of hyperparameters; what it lacks has its default\n";

struct Options {
  std::string data = "data/digits.csv";
  std::optional<std::uint64_t> seed;
  std::optional<std::string> config;
  bool help = false;
};

std::expected<Options, std::string> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--data" || argument == "--seed") {
      if (++i == argc) return std::unexpected(concat(argument, " needs a value"));
      const std::string_view value = argv[i];
      if (argument == "--data") {
        options.data = value;
        continue;
      }
      std::uint64_t seed = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seed);
      if (error != std::errc{} || end != value.data() + value.size()) {
        return std::unexpected(concat("--seed: '", value, "' is not a whole number"));
      }
      options.seed = seed;
    } else if (argument.starts_with('-') || options.config) {
      return std::unexpected(concat("unexpected argument '", argument, "'\n", kUsage));
    } else {
      options.config = argument;
    }
  }
  return options;
}

std::expected<nlohmann::json, std::string> read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::unexpected(concat("cannot read '", path, "'"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::unexpected(concat(path, ": not valid JSON"));
  return value;
}

std::expected<void, std::string> run(const Options& options) {
  auto trial = NniTrial::from_environment();
  if (!trial) return std::unexpected(trial.error());
  nlohmann::json parameters = nlohmann::json::object();
  if (*trial) {
    // Silently preferring one of two configurations would make a wrong experiment look right.
    if (options.config) return std::unexpected("NNI_SYS_DIR is set: CONFIG.json has no meaning");
    parameters = (*trial)->parameters();
  } else if (options.config) {
    auto json = read_json(*options.config);
    if (!json) return std::unexpected(json.error());
    parameters = std::move(*json);
  }
  auto config = parse_config(parameters);
  if (!config) return std::unexpected(config.error());
  if (options.seed) config->seed = *options.seed;
  const auto data = load_split(options.data);
  if (!data) return std::unexpected(data.error());

  std::expected<void, std::string> reported;
  const std::string saved = *trial ? (*trial)->saved_state() : "";
  const auto accuracy = train(*config, *data, saved, [&](const Progress& progress) {
    std::printf("epoch %2d  validation %.4f\n", progress.epoch, progress.validation);
    std::fflush(stdout);
    if (!*trial || !reported) return;
    // Saved first: a manager that pauses trials may do so while it is told the result.
    reported = (*trial)->save_state(progress.state);
    if (!reported) return;
    reported = (*trial)->report_intermediate(
        {{"default", progress.validation}, {"training_iteration", progress.epoch + 1}});
  });
  if (!accuracy) return std::unexpected(accuracy.error());
  std::printf("validation %.4f  test %.4f\n", accuracy->validation, accuracy->test);
  if (*trial && reported) {
    reported =
        (*trial)->report_final({{"default", accuracy->validation}, {"test", accuracy->test}});
  }
  return reported;
}

}  // namespace
}  // namespace digits

int main(int argc, char** argv) {
  try {
    const auto options = digits::parse_options(argc, argv);
    if (options && options->help) {
      std::fputs(digits::kUsage, stdout);
      return 0;
    }
    const auto done = options ? digits::run(*options) : std::unexpected(options.error());
    if (done) return 0;
    std::fprintf(stderr, "digits_trial: %s\n", done.error().c_str());
    return 1;
  } catch (const std::exception& error) {  // out of memory and the like
    std::fprintf(stderr, "digits_trial: %s\n", error.what());
    return 1;
  }
}
