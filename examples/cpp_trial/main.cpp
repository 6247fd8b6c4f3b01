// Logistic regression by gradient descent with momentum: which learning rate, which momentum, which
// weight decay? A program that is tuned by `attune run experiment.yaml`, goes on where it stopped
// when it was paused, and runs alone with its defaults.
//
//   cpp_trial                 with the defaults below
//   cpp_trial FILE            with the parameters of a JSON file
#include <attune/trial/trial.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <expected>
#include <random>
#include <vector>

namespace {

using attune::json;
using attune::Result;

constexpr int kEpochs = 60;
constexpr std::size_t kWeights = 6;  // 1, x, y, x^2, x*y, y^2

using Weights = std::array<double, kWeights>;

struct Example {
  Weights features;
  double label;  // 0 or 1
};

// Points inside and outside of an ellipse, one in ten with the wrong label.
std::vector<Example> make_examples(int count, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Example> examples;
  for (int i = 0; i < count; ++i) {
    const double x = 4 * uniform() - 2, y = 4 * uniform() - 2;
    const bool inside = x * x + x * y + 2 * y * y < 2;
    const bool wrong = uniform() < 0.1;
    examples.push_back({{1, x, y, x * x, x * y, y * y}, inside != wrong ? 1.0 : 0.0});
  }
  return examples;
}

double probability(const Weights& weights, const Weights& features) {
  double sum = 0;
  for (std::size_t i = 0; i < kWeights; ++i) sum += weights[i] * features[i];
  return 1 / (1 + std::exp(-sum));
}

// Mean cross entropy.
double loss(const Weights& weights, const std::vector<Example>& examples) {
  double sum = 0;
  for (const Example& example : examples) {
    const double p = probability(weights, example.features);
    sum -= std::log(example.label == 1 ? p : 1 - p);
  }
  return sum / static_cast<double>(examples.size());
}

struct Model {
  int epoch = 0;
  Weights weights{}, velocity{};

  void train_one_epoch(const json& parameters, const std::vector<Example>& examples) {
    const double rate = parameters.at("lr"), momentum = parameters.at("momentum");
    const double decay = parameters.at("decay");
    Weights gradient{};
    for (const Example& example : examples) {
      const double error = probability(weights, example.features) - example.label;
      for (std::size_t i = 0; i < kWeights; ++i) gradient[i] += error * example.features[i];
    }
    for (std::size_t i = 0; i < kWeights; ++i) {
      gradient[i] = gradient[i] / static_cast<double>(examples.size()) + decay * weights[i];
      velocity[i] = momentum * velocity[i] - rate * gradient[i];
      weights[i] += velocity[i];
    }
    ++epoch;
  }

  std::string saved() const {
    return attune::dump_json({{"epoch", epoch}, {"weights", weights}, {"velocity", velocity}});
  }
  static Model restored(const std::string& text) {
    const json state = json::parse(text);
    return {state.at("epoch"), state.at("weights"), state.at("velocity")};
  }
};

Result<void> run(const attune::TrialOptions& options) {
  auto opened = attune::Trial::from_environment(options);
  if (!opened) return std::unexpected(opened.error());
  attune::Trial& trial = *opened;
  const auto parameters = trial.next_parameters();
  if (!parameters) return std::unexpected(parameters.error());
  const std::vector<Example> training = make_examples(400, 1), validation = make_examples(400, 2);

  Model model;
  const auto state = trial.restore("model.json");
  if (!state) return std::unexpected(state.error());
  if (*state) model = Model::restored(**state);
  while (model.epoch < kEpochs) {
    model.train_one_epoch(**parameters, training);
    if (model.epoch % 5 == 0) {
      auto told = trial.save("model.json", model.saved());
      if (told) told = trial.report(loss(model.weights, validation));
      if (!told) return told;
    }
  }
  return trial.final(
      {{"default", loss(model.weights, validation)}, {"training", loss(model.weights, training)}});
}

}  // namespace

int main(int argc, char** argv) try {
  attune::TrialOptions options{.defaults = {{"lr", 0.1}, {"momentum", 0.5}, {"decay", 0.001}}};
  if (argc > 1) options.parameters_file = argv[1];
  const auto ran = run(options);
  if (ran) return 0;
  std::fprintf(stderr, "cpp_trial: %s\n", ran.error().message.c_str());
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cpp_trial: %s\n", error.what());
  return 1;
}
