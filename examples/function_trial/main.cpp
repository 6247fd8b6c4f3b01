// Simulated annealing of a round trip: how hot to begin, how fast to cool? One function, run in two
// ways: as the process of a trial, and step by step inside of this program.
//
//   function_trial            a trial: under `attune run experiment.yaml`, or alone
//   function_trial --steps N  N steps in this process, which prints what each step gave
#include <attune/trial/function_runner.h>
#include <attune/trial/trial_main.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using attune::json;

constexpr int kCities = 40;
constexpr int kRounds = 30;
constexpr int kMovesPerRound = 2000;

class Tour {
 public:
  Tour() : order_(kCities) {
    std::iota(order_.begin(), order_.end(), 0);
    std::mt19937 random(7);
    for (int i = 0; i < kCities; ++i) {
      cities_.emplace_back(static_cast<double>(random() % 1000),
                           static_cast<double>(random() % 1000));
    }
  }

  double length() const {
    double sum = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) sum += leg(i, (i + 1) % order_.size());
    return sum;
  }

  // Metropolis: a longer tour is accepted the more readily the hotter it is.
  void anneal(double temperature, std::mt19937& random) {
    for (int move = 0; move < kMovesPerRound; ++move) {
      std::size_t i = random() % order_.size(), j = random() % order_.size();
      if (i > j) std::swap(i, j);
      const double before = length();
      reverse(i, j);
      const double worse = length() - before;
      const double chance = static_cast<double>(random()) / 4294967296.0;
      if (worse > 0 && chance >= std::exp(-worse / temperature)) reverse(i, j);
    }
  }

  std::vector<int>& order() { return order_; }

 private:
  double leg(std::size_t a, std::size_t b) const {
    const auto& [ax, ay] = cities_[static_cast<std::size_t>(order_[a])];
    const auto& [bx, by] = cities_[static_cast<std::size_t>(order_[b])];
    return std::hypot(ax - bx, ay - by);
  }
  void reverse(std::size_t i, std::size_t j) {
    std::reverse(order_.begin() + static_cast<std::ptrdiff_t>(i),
                 order_.begin() + static_cast<std::ptrdiff_t>(j) + 1);
  }

  std::vector<std::pair<double, double>> cities_;
  std::vector<int> order_;
};

// What is tuned. It reports after each round, saves what it needs to go on, and returns the result.
double train(const json& config, attune::StatusReporter& reporter, attune::CheckpointDir from) {
  const double start = config.at("start_temperature"), cooling = config.at("cooling");
  Tour tour;
  int round = 0;
  if (from) {
    std::ifstream file(*from / "tour");
    file >> round;
    for (int& city : tour.order()) file >> city;
  }
  for (; round < kRounds; ++round) {
    std::mt19937 random(static_cast<unsigned>(round));  // nothing of it needs to be saved
    tour.anneal(start * std::pow(cooling, round), random);
    const auto folder = reporter.make_checkpoint_dir(round);
    std::ofstream file(folder / "tour");
    file << round + 1;
    for (const int city : tour.order()) file << ' ' << city;
    file.close();
    reporter.set_checkpoint(folder);
    reporter.report(tour.length());
  }
  return tour.length();
}

int run_steps(const json& config, int steps, const std::filesystem::path& folder) {
  attune::FunctionRunner runner(train, {.config = config, .log_directory = folder});
  for (int i = 0; i < steps; ++i) {
    const auto result = runner.train();
    if (!result) {
      std::fprintf(stderr, "function_trial: %s\n", result.error().message.c_str());
      return 1;
    }
    if (result->contains("__duplicate__")) break;  // the function has returned
    std::printf("step %d: %.1f\n", result->at("training_iteration").get<int>(),
                result->at("_metric").get<double>());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const json defaults = {{"start_temperature", 200}, {"cooling", 0.8}};
  if (argc == 3 && std::string_view(argv[1]) == "--steps") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("function_trial-" + std::to_string(::getpid()));
    const int code = run_steps(defaults, std::atoi(argv[2]), folder);
    std::filesystem::remove_all(folder);
    return code;
  }
  return attune::run_trial(train, {.defaults = defaults});
} catch (const std::exception& error) {
  std::fprintf(stderr, "function_trial: %s\n", error.what());
  return 1;
}
