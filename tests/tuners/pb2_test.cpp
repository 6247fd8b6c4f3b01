#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "conformance/spaces.h"
#include "space/parse.h"
#include "tests/tuners/parsed_space.h"
#include "tuners/parts/explore_drift.h"
#include "tuners/registry.h"

namespace attune {
extern const TunerEntry pb2_entry, population_based_training_entry;
}

namespace attune::pb2_test {

std::unique_ptr<Tuner> make(const std::string& name, const json& arguments, const Space& space,
                            std::uint64_t seed) {
  TunerRegistry registry;
  registry.add(pb2_entry);
  registry.add(population_based_training_entry);
  auto made = make_tuner(registry, name, arguments, {}, seed);
  if (!made) FAIL(made.error().message);
  REQUIRE(made->tuner->set_space(space));
  return std::move(made->tuner);
}

// A population that trains on a problem whose best configuration drifts: in each step the loss
// falls the more, the nearer x is to a point that moves from 0.2 to 0.8. y does not matter.
class Training {
 public:
  Training(const std::string& name, const json& arguments, std::uint64_t seed)
      : name_(name),
        arguments_(arguments),
        space_(parse(R"({"x": {"_type": "uniform", "_value": [0, 1]},
                         "y": {"_type": "uniform", "_value": [0, 1]}})")),
        tuner_(make(name, arguments, space_, seed)) {}

  // The lowest loss of the population after 200 steps of each trial.
  double run(bool restores = false) {
    for (int i = 0; i < 8; ++i) ask();
    for (int step = 1; step <= 200; ++step) {
      const double optimum = 0.2 + 0.6 * step / 200;
      for (TrialId trial = 0; trial < 8; ++trial) {
        State& state = states_[trial];
        const double distance = (state.point.values[0] - optimum) / 0.1;
        state.loss -= std::exp(-distance * distance);
        const auto decisions = tuner_->on_report(
            {trial, step - 1, {{"default", state.loss}, {"training_iteration", double(step)}}});
        for (const Decision& decision : decisions) {
          if (decision.action == Action::checkpoint) saved_[trial] = state.loss;
          if (decision.action == Action::pause) ask();
        }
        if (restores && step % 10 == 0) restore();
      }
    }
    double lowest = 0;
    for (const auto& [trial, state] : states_) lowest = std::min(lowest, state.loss);
    return lowest;
  }

 private:
  struct State {
    Point point;
    double loss = 0;
  };

  void ask() {
    const TrialId id = next_id_++;
    const Answer answer = tuner_->ask(std::vector{id})[0];
    const auto& proposal = std::get<Proposal>(answer);
    State& state = states_[proposal.resume.value_or(id)];
    state.point = proposal.point;
    if (proposal.checkpoint_from) state.loss = saved_.at(*proposal.checkpoint_from);
  }

  void restore() {
    auto next = make(name_, arguments_, space_, 99);
    REQUIRE(next->load(parse_json(dump_json(tuner_->save())).value()));
    tuner_ = std::move(next);
  }

  std::string name_;
  json arguments_;
  Space space_;
  std::unique_ptr<Tuner> tuner_;
  std::map<TrialId, State> states_;
  std::map<TrialId, double> saved_;
  TrialId next_id_ = 0;
};

TEST_CASE("PB2 follows a drifting optimum better than random changes") {
  const json arguments = {{"perturbation_interval", 10}};
  int better = 0;
  double sum = 0, sum_of_random = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const double ours = Training("PB2", arguments, seed).run();
    const double random = Training("PopulationBasedTraining", arguments, seed).run();
    better += ours < random ? 1 : 0;
    sum += ours;
    sum_of_random += random;
  }
  CAPTURE(better, sum, sum_of_random);
  CHECK(better >= 6);
  CHECK(sum < sum_of_random);
}

TEST_CASE("PB2: saved and loaded at any moment, the rest is the same") {
  const json arguments = {{"perturbation_interval", 20}};
  CHECK(Training("PB2", arguments, 3).run(true) == Training("PB2", arguments, 3).run(false));
}

TEST_CASE("PB2: a loser gets a configuration of the space, with what may not change") {
  for (const auto& [name, space] : conformance::test_spaces()) {
    if (space.params.empty()) continue;
    CAPTURE(name);
    json arguments = {{"population_size", 4}, {"perturbation_interval", 1}, {"synch", true}};
    if (space.params.size() > 1) arguments["mutations"] = space.params.back().name;
    auto tuner = make("PB2", arguments, space, 1);
    std::map<TrialId, Point> points;
    TrialId next = 0;
    int copies = 0;
    Rng rng(1);
    for (int round = 1; round < 12; ++round) {
      for (int i = 0; i < 4; ++i) {
        const TrialId id = next++;
        const Answer answer = tuner->ask(std::vector{id})[0];
        const auto& proposal = std::get<Proposal>(answer);
        const auto back = point_from_json(space, to_json(space, proposal.point));
        if (!back) FAIL(back.error().message);
        if (proposal.checkpoint_from) {
          ++copies;
          const Point& donor = points.at(*proposal.checkpoint_from);
          if (space.params.size() > 1) CHECK(proposal.point.values[0] == donor.values[0]);
        }
        points[proposal.resume.value_or(id)] = proposal.point;
      }
      for (TrialId trial = 0; trial < 4; ++trial) {
        const double loss = rng.index(10) == 0 ? NAN : rng.normal();
        tuner->on_report({trial, round - 1, {{"default", loss}}});
      }
    }
    CHECK(copies > 5);
  }
}

TEST_CASE("PB2: impossible states are refused") {
  const Space space = parse(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  auto tuner = make("PB2", {{"population_size", 2}, {"perturbation_interval", 1}}, space, 1);
  tuner->ask(std::vector<TrialId>{0, 1});
  for (int step = 0; step < 3; ++step) {
    for (const TrialId trial : {0, 1}) {
      tuner->on_report({trial, step, {{"default", double(step - 2 * trial * step)}}});
    }
  }
  const json good = tuner->save();
  REQUIRE_FALSE(good["explorer"]["intervals"]["numbers"].get<std::string>().empty());
  for (const char* key : {"intervals", "chosen", "begins", "times"}) {
    json state = good;
    state["explorer"].erase(key);
    CHECK_FALSE(tuner->load(state));
    state["explorer"][key] = key[0] == 'b' ? json(good["rng"]) : json("");
    CHECK_FALSE(tuner->load(state));
  }
  json state = good;
  state["explorer"]["intervals"]["points"] = "";
  CHECK_FALSE(tuner->load(state));
  CHECK(dump_json(tuner->save()) == dump_json(good));
}

TEST_CASE("drift: a process forgets, and knows what it has seen") {
  const std::vector<DriftProcess::Row> rows = {{0, {0.2}}, {10, {0.2}}, {10, {0.8}}};
  const DriftProcess process(rows, std::vector{1.0, -1.0}, {0.1, 0.5, 0.01});
  CHECK(process.predict({10, {0.2}}).mean == Approx(-1).margin(0.05));
  CHECK(process.predict({0, {0.2}}).mean == Approx(1).margin(0.05));
  CHECK(process.predict({30, {0.2}}).mean == Approx(0).margin(0.01));
  CHECK(process.predict({30, {0.2}}).deviation == Approx(1).margin(0.01));
  // The third row has no target: it only tells that something will be known there.
  CHECK(process.predict({10, {0.8}}).mean == Approx(0).margin(0.05));
  CHECK(process.predict({10, {0.8}}).deviation < 0.2);
}

TEST_CASE("drift: the mean is that of the textbook") {
  // Two rows at one time: K = [[1, k], [k, 1]] + noise, mean = k*' K^-1 y.
  const double k = std::exp(-0.25), noise = 0.1, a = 1 + noise;
  const DriftProcess process({{0, {0.0}}, {0, {0.5}}}, std::vector{1.0, 2.0}, {1, 0.3, noise});
  const double determinant = a * a - k * k;
  const double w0 = (a * 1 - k * 2) / determinant, w1 = (a * 2 - k * 1) / determinant;
  const double k0 = std::exp(-1.0), k1 = std::exp(-0.25);
  const auto predicted = process.predict({0, {1.0}});
  CHECK(predicted.mean == Approx(k0 * w0 + k1 * w1));
  const double explained = (a * k0 * k0 - 2 * k * k0 * k1 + a * k1 * k1) / determinant;
  CHECK(predicted.deviation == Approx(std::sqrt(1 - explained)));
  CHECK(process.log_likelihood() == Approx(-(w0 * 1 + w1 * 2) / 2 - std::log(determinant) / 2));
}

TEST_CASE("drift: the likely kernel forgets when the function drifts") {
  std::vector<DriftProcess::Row> rows;
  std::vector<double> still, drifting;
  for (int i = 0; i < 40; ++i) {
    const double x = (i * 7 % 40) / 40.0;
    rows.push_back({double(i), {x}});
    still.push_back(1.4 * std::sin(6 * x));
    drifting.push_back(1.4 * std::sin(6 * x + i * 0.5));
  }
  CHECK(likely_kernel(rows, still).forgetting == 0);
  CHECK(likely_kernel(rows, drifting).forgetting > 0);
}

}  // namespace attune::pb2_test
