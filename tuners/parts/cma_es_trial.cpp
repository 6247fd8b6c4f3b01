#include "tuners/parts/cma_es_trial.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "space/saved_point.h"

namespace attune {
namespace {

json save_trial(const CmaTrial& one) {
  return {{"x", save_numbers(one.x)}, {"point", save_point(one.point)}, {"injected", one.injected}};
}

Result<CmaTrial> load_trial(const json& saved, const Space& space, std::size_t coordinates) {
  CmaTrial one;
  one.x = TRY(numbers_at(saved, "x"));
  one.point = TRY(load_point(space, TRY(value_at(saved, "point"))));
  const json injected = TRY(value_at(saved, "injected"));
  const auto finite = [](double x) { return std::isfinite(x); };
  if (one.x.size() != coordinates || !std::ranges::all_of(one.x, finite) ||
      !injected.is_boolean()) {
    return fail("saved state: impossible coordinates of a trial");
  }
  one.injected = injected.get<bool>();
  return one;
}

}  // namespace

json save_running(const std::map<TrialId, CmaRunning>& running) {
  json all = json::array();
  for (const auto& [id, one] : running) {
    json saved = save_trial(one);
    saved["trial"] = id;
    saved["generation"] = one.generation;
    all.push_back(std::move(saved));
  }
  return all;
}

json save_known(std::span<const CmaKnown> results) {
  json all = json::array();
  for (const CmaKnown& one : results) {
    json saved = save_trial(one);
    if (one.loss < CmaKnown::kWorst) saved["loss"] = one.loss;
    all.push_back(std::move(saved));
  }
  return all;
}

Result<std::map<TrialId, CmaRunning>> load_running(const json& state, const Space& space,
                                                   std::size_t coordinates) {
  std::map<TrialId, CmaRunning> running;
  for (const json& saved : state) {
    CmaRunning one;
    static_cast<CmaTrial&>(one) = TRY(load_trial(saved, space, coordinates));
    one.generation = TRY(integer_at(saved, "generation"));
    running[TRY(integer_at(saved, "trial"))] = std::move(one);
  }
  return running;
}

Result<std::vector<CmaKnown>> load_known(const json& state, const Space& space,
                                         std::size_t coordinates) {
  std::vector<CmaKnown> results;
  for (const json& saved : state) {
    CmaKnown one;
    static_cast<CmaTrial&>(one) = TRY(load_trial(saved, space, coordinates));
    if (saved.contains("loss")) one.loss = TRY(number_at(saved, "loss"));
    if (std::isnan(one.loss)) return fail("saved state: impossible loss");
    results.push_back(std::move(one));
  }
  return results;
}

}  // namespace attune
