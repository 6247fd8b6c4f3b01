#pragma once
// Shared by the tests of single tuners: a tuner on a space, and short words for what happens.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune {

struct TunerWorld {
  std::unique_ptr<Tuner> tuner;
  Space space;
  TrialId next = 0;

  TunerWorld(const std::string& name, const std::string& space_text, const json& arguments = {},
             std::uint64_t seed = 1, const std::vector<Objective>& objectives = {}) {
    Context context;
    context.objectives = objectives;
    auto made = make_tuner(builtin_tuners(), name, arguments, context, seed);
    if (!made) FAIL(made.error().message);
    tuner = std::move(made->tuner);
    space = parse_space(parse_json(space_text).value()).value();
    REQUIRE(tuner->set_space(space));
  }

  Answer ask() { return tuner->ask(std::vector<TrialId>{next++})[0]; }

  // Of an answer that must be a proposal; its id is next - 1.
  std::vector<double> values() {
    const Answer answer = ask();
    REQUIRE(std::holds_alternative<Proposal>(answer));
    return std::get<Proposal>(answer).point.values;
  }

  void completed(TrialId id, std::vector<double> values, double loss) {
    tuner->tell(std::vector{Outcome{id, {std::move(values)}, loss, {}, End::completed, {}}});
  }
  // Of several objectives, the first of which is minimised.
  void completed(TrialId id, std::vector<double> values, const Metrics& metrics) {
    tuner->tell(std::vector{
        Outcome{id, {std::move(values)}, metrics.front().second, metrics, End::completed, {}}});
  }
  void failed(TrialId id, std::vector<double> values) {
    tuner->tell(std::vector{Outcome{id, {std::move(values)}, {}, {}, End::failed, {}}});
  }
  void imported(std::vector<double> values, double loss) {
    tuner->tell(
        std::vector{Outcome{kImportedTrial, {std::move(values)}, loss, {}, End::imported, {}}});
  }
};

}  // namespace attune
