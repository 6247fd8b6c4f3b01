#include "bench/process/workload.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "protocol/frame.h"

namespace attune::bench {
namespace {

void append(const std::string& code, const std::string& payload, std::string& bytes) {
  if (auto encoded = encode_frame({code, payload}, {}, bytes); !encoded) {
    throw std::runtime_error(encoded.error().message);
  }
}

// As Python's json.dumps writes it, with blanks: what NNI's managers and trials send.
std::string metric(int trial, std::string_view type, int sequence, double value) {
  return fmt::format(R"({{"parameter_id": {}, "trial_job_id": "T{}", "type": "{}", )"
                     R"("sequence": {}, "value": "{}"}})",
                     trial, trial, type, sequence, value);
}

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  double sum = 0;
  if (value.is_string()) {
    for (const char c : value.get_ref<const std::string&>()) sum += c;
    return std::fmod(sum, 7);
  }
  for (const auto& [key, member] : value.items()) {
    sum += number(member) * (1 + static_cast<double>(key.size() % 5));
  }
  return sum;
}

}  // namespace

std::string mixed_space() {
  return R"({"lr": {"_type": "loguniform", "_value": [1e-5, 1e-1]},
    "momentum": {"_type": "uniform", "_value": [0.0, 1.0]},
    "batch": {"_type": "choice", "_value": [16, 32, 64, 128]},
    "opt": {"_type": "choice", "_value": ["sgd", "adam", "rmsprop"]},
    "layers": {"_type": "randint", "_value": [1, 8]},
    "hidden": {"_type": "quniform", "_value": [16, 512, 16]},
    "wd": {"_type": "qloguniform", "_value": [1, 1000, 1]},
    "init": {"_type": "normal", "_value": [0, 1]},
    "drop": {"_type": "qnormal", "_value": [5, 2, 0.5]},
    "scale": {"_type": "lognormal", "_value": [0, 1]}})";
}

std::string uniform_space() { return R"({"x": {"_type": "uniform", "_value": [0, 1]}})"; }

json experiment(const std::string& tuner) {
  return {{"tuner", {{"name", tuner}, {"classArgs", {{"seed", 42}}}}}};
}

double objective(const json& parameters) {
  const double x = number(parameters);
  return std::sin(0.37 * x) + 0.01 * std::cos(x);
}

void append_trial(int trial, int steps, std::string& bytes) {
  const double value = 1 + 1e-3 * trial;
  for (int step = 0; step < steps; ++step) {
    append("ME", metric(trial, "PERIODICAL", step, value), bytes);
  }
  append("EN",
         fmt::format(R"({{"trial_job_id": "T{}", "event": "SUCCEEDED", "hyper_params": )"
                     R"("{{\"parameter_id\": {}, \"parameter_source\": \"algorithm\", )"
                     R"(\"parameters\": {{\"x\": 0.5}}, \"parameter_index\": 0}}"}})",
                     trial, trial),
         bytes);
}

std::string bad_result(int trial) { return metric(trial, "PERIODICAL", 0, 0); }

std::string final_result(int trial, double value) { return metric(trial, "FINAL", 0, value); }

}  // namespace attune::bench
