#include "rungs/pasha.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <ranges>

#include "base/rng.h"
#include "rungs/levels.h"
#include "tests/support/scheduler_traces.h"
#include "tests/support/through_text.h"

namespace attune::pasha_test {

double percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = static_cast<double>(values.size() - 1) * share;
  const auto i = static_cast<std::size_t>(place);
  if (i + 1 == values.size()) return values[i];
  return values[i] + (place - std::floor(place)) * (values[i + 1] - values[i]);
}

// The noise computed anew from all curves each time.
struct Curves {
  std::map<TrialId, std::map<double, double>> losses;

  // The differences of pairs that changed their order and changed it back: of each pair the one at
  // the highest resource in (low, high], and those at lower ones.
  struct Differences {
    std::vector<double> highest, lower;
  };
  Differences differences(double low, double high) const {
    Differences found;
    for (auto a = losses.begin(); a != losses.end(); ++a) {
      for (auto b = std::next(a); b != losses.end(); ++b) {
        std::vector<double> common;
        for (const auto& [resource, loss] : a->second) {
          if (resource <= high && b->second.contains(resource)) common.push_back(resource);
        }
        bool is_highest = true;
        for (std::size_t left = common.size(); left > 0; --left, is_highest = false) {
          const std::size_t k = left - 1;
          if (common[k] <= low) break;
          if (!flipped_back(a->second, b->second, std::span(common).first(k + 1))) continue;
          const double difference = std::abs(a->second.at(common[k]) - b->second.at(common[k]));
          (is_highest ? found.highest : found.lower).push_back(difference);
        }
      }
    }
    return found;
  }

  static bool flipped_back(const std::map<double, double>& a, const std::map<double, double>& b,
                           std::span<const double> resources) {
    const auto order = [&](double r) { return a.at(r) < b.at(r); };
    const bool now = order(resources.back());
    bool other = false;
    for (const double r : std::views::reverse(resources)) {
      if (order(r) != now) other = true;
      if (other && order(r) == now) return true;
    }
    return false;
  }
};

// In Syne Tune a pair counts again at a lower resource if Python iterates over two sets of names in
// different orders, which it draws at its start. So the recorded percentile is that of the highest
// differences and of some of the others.
bool may_be(double recorded, const Curves::Differences& differences) {
  std::vector<double> lower = differences.lower;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const bool descending : {false, true}) {
    std::ranges::sort(lower);
    if (descending) std::ranges::reverse(lower);
    std::vector<double> all = differences.highest;
    for (std::size_t i = 0; i <= lower.size(); ++i) {
      if (!all.empty()) {
        least = std::min(least, percentile(all, 0.9));
        most = std::max(most, percentile(all, 0.9));
      }
      if (i < lower.size()) all.push_back(lower[i]);
    }
  }
  return recorded >= least - 1e-12 && recorded <= most + 1e-12;
}

TEST_CASE("PASHA: limit, epsilon and promotions are those of Syne Tune") {
  for (const auto& path : traces("syne_pasha_")) {
    const json trace = read_trace(path);
    const json& args = trace["args"];
    const std::int64_t max_t = trace["T"];
    const double sign = trace["mode"] == "max" ? -1 : 1;
    PromotionRungs rungs(
        {.levels = syne_levels(args["grace_period"], args["reduction_factor"], max_t),
         .max_t = max_t,
         .maximise = sign < 0});
    Pasha pasha(rungs);
    Curves curves;
    std::map<TrialId, std::size_t> milestone;
    int results = 0, exact = 0;
    for (const json& event : trace["events"]) {
      CAPTURE(path, event.dump(), results);
      const TrialId trial = event[1];
      if (event[0] != "result") {
        const auto promotion = rungs.promote(pasha.limit());
        REQUIRE(promotion.has_value() == (event[0] == "resume"));
        if (promotion) {
          REQUIRE(promotion->trial == trial);
          milestone[trial] = promotion->rung + 1;
        }
        const json& until = promotion ? event[2] : event[2]["epochs"];
        REQUIRE(rungs.level(milestone[trial]) == until);
        continue;
      }
      ++results;
      const std::int64_t epoch = event[2];
      const double loss = sign * double(event[3]);
      const json& after = event[5];
      if (epoch < max_t) {
        const std::size_t rung = milestone.at(trial);
        const std::size_t top = pasha.top();
        if (epoch == rungs.level(rung)) {
          rungs.enter(rung, trial, {.value = {0, loss}});
          pasha.enter(rungs, rung, trial);
        }
        pasha.report(trial, static_cast<double>(epoch), std::array{loss});
        curves.losses[trial][static_cast<double>(epoch)] = loss;
        if (std::abs(pasha.epsilon() - double(after["epsilon"])) < 1e-15) {
          ++exact;
        } else {
          CHECK(may_be(after["epsilon"],
                       curves.differences(double(rungs.level(top - 1)), double(rungs.level(top)))));
        }
        pasha.grow(rungs);
      } else {
        ++exact;
      }
      REQUIRE(pasha.limit() == after["current_max_t"]);
      REQUIRE(static_cast<std::int64_t>(pasha.top() + 1) == after["rung_idx"]);
      if (results % 89 == 0) {
        const json state = through_text(pasha.save());
        pasha = Pasha(rungs);
        REQUIRE(pasha.load(state, rungs));
        REQUIRE(pasha.save().dump() == state.dump());
      }
    }
    CHECK(results >= 900);
    CHECK(exact > results / 2);
  }
}

TEST_CASE("PASHA: the limit rises when Syne Tune's does") {
  int rises = 0;
  const json cases = read_trace(traces_folder() / "syne_unit_cases.json");
  for (const json& one : cases["pasha_resource_increase"]) {
    CAPTURE(one.dump());
    const double sign = one["mode"] == "max" ? -1 : 1;
    const json& rankings = one["rankings_top_then_previous[trial,rank,value]"];
    PashaRanking ranking;
    // With one rung there is nothing to compare.
    for (std::size_t i = 0; rankings.size() == 2 && i < rankings[0].size(); ++i) {
      REQUIRE(rankings[0][i][0] == rankings[1][i][0]);
      ranking.insert(sign * double(rankings[0][i][2]), i, sign * double(rankings[1][i][2]));
    }
    const bool rise = !ranking.stable(one["epsilon"]);
    CHECK(rise == one["increase_resources"]);
    rises += rise;
  }
  CHECK(rises >= 4);
}

TEST_CASE("PASHA: the ranking that is checked in part is the one that is checked in whole") {
  int unstable = 0;
  for (int round = 0; round < 200; ++round) {
    Rng rng = Rng(8).fork(std::to_string(round));
    PashaRanking ranking;
    std::vector<std::pair<double, double>> upper;  // loss, and at the lower rung
    double epsilon = 0.3;
    for (int i = 0; i < 60; ++i) {
      const double lower = std::round(10 * rng.normal()) / 10;  // ties
      const double loss = lower + std::round(rng.normal()) / 10;
      upper.emplace_back(loss, lower);
      ranking.insert(loss, static_cast<std::uint64_t>(i), lower);
      epsilon *= rng.uniform(0.9, 1.15);
      auto by_upper = upper, by_lower = upper;
      std::ranges::stable_sort(by_upper, {}, &std::pair<double, double>::first);
      std::ranges::sort(by_lower, {}, &std::pair<double, double>::second);
      bool stable = true;
      for (std::size_t k = 0; k < upper.size(); ++k) {
        stable &= by_upper[k].second <= by_lower[k].second + epsilon &&
                  by_upper[k].second >= by_lower[k].second - epsilon;
      }
      CAPTURE(round, i, epsilon);
      REQUIRE(ranking.stable(epsilon) == stable);
      if (!stable) break;
      unstable += i == 59;
    }
  }
  CHECK(unstable > 10);   // so many stay stable to the end
  CHECK(unstable < 190);  // and so many do not
}

TEST_CASE("PASHA: the noise that is kept up to date is the noise computed anew") {
  Rng rng(9);
  PashaNoise noise;
  Curves curves;
  double low = 2, high = 6;
  noise.set_window(low, high);
  std::map<TrialId, double> at;
  int known = 0;
  for (int i = 0; i < 1500; ++i) {
    const auto trial = static_cast<TrialId>(rng.index(40));
    at[trial] += rng.index(4) == 3 ? 2 : 1;  // some skip a resource
    const double loss = rng.normal() + 1 / at[trial];
    noise.report(trial, at[trial], loss);
    curves.losses[trial][at[trial]] = loss;
    noise.report(trial, at[trial], loss + 5);  // again, and late: ignored
    noise.report(trial, at[trial] / 2, loss + 5);
    if (i == 700) {
      low = 6;
      high = 20;
      const double former = noise.epsilon();
      noise.set_window(low, high);
      CHECK(noise.epsilon() == former);
    }
    if (i == 1000) {
      const json state = through_text(noise.save());
      noise = PashaNoise();
      noise.set_window(low, high);
      REQUIRE(noise.load(state));
    }
    if (i % 17 != 0 || at[trial] <= low) continue;
    const auto differences = curves.differences(low, high).highest;
    if (differences.empty()) continue;  // the former value is kept
    ++known;
    CAPTURE(i, trial, at[trial]);
    REQUIRE(noise.epsilon() == Approx(percentile(differences, 0.9)).epsilon(1e-12));
  }
  CHECK(known > 40);
}

TEST_CASE("PASHA: only the first trials between the rungs are compared") {
  PashaNoise noise;
  noise.set_window(1, 4);
  Rng rng(10);
  const auto report = [&](TrialId trial, int last, double scale) {
    for (int r = 1; r <= last; ++r) noise.report(trial, r, scale * rng.normal());
  };
  for (TrialId trial = 0; trial < 100; ++trial) report(1000 + trial, 1, 1);  // not between them
  for (TrialId trial = 0; trial < 128; ++trial) report(trial, 4, 1);
  const double epsilon = noise.epsilon();
  CHECK(epsilon > 0);
  for (TrialId trial = 128; trial < 200; ++trial) {
    report(trial, 4, 100);
    noise.end(trial);
  }
  CHECK(noise.epsilon() == epsilon);
  noise.set_window(2, 5);  // the others are forgotten
  report(0, 5, 1);
  CHECK(noise.epsilon() < 10);
}

TEST_CASE("PASHA: failures and trials without a lower rung are not ranked") {
  PromotionRungs rungs({.levels = {1, 3, 9}, .max_t = 27});
  Pasha pasha(rungs);
  const auto enter = [&](std::size_t rung, TrialId trial, RungValue value) {
    rungs.enter(rung, trial, {.value = value});
    pasha.enter(rungs, rung, trial);
    return pasha.grow(rungs);
  };
  CHECK(pasha.limit() == 3);
  for (TrialId trial = 0; trial < 4; ++trial) enter(0, trial, {0, double(trial)});
  CHECK_FALSE(enter(1, 1, {0, 1}));
  CHECK_FALSE(enter(1, 0, RungValue::worst()));
  CHECK_FALSE(enter(1, 2, {0.5, -1}));
  CHECK_FALSE(enter(1, 9, {0, -7}));
  CHECK(enter(1, 3, {0, 0.5}));  // better than trial 1 now, and worse before
  CHECK(pasha.limit() == 9);
  CHECK_FALSE(pasha.grow(rungs));
  enter(2, 1, {0, 5});
  CHECK(enter(2, 3, {0, 6}));
  CHECK(pasha.limit() == 27);
  enter(2, 9, {0, -8});
  CHECK_FALSE(pasha.grow(rungs));
}

TEST_CASE("PASHA: the oldest trials of several objectives are ranked after a restart, too") {
  const PromotionRungs::Options options{.levels = {1, 3}, .max_t = 9, .objectives = 2};
  PromotionRungs rungs(options);
  Pasha pasha(rungs, 2);
  const auto enter = [&](std::size_t rung, TrialId trial, double loss) {
    rungs.enter(rung, trial, {.values = {loss, loss}});
    pasha.enter(rungs, rung, trial);
  };
  enter(0, 0, 1);
  enter(1, 0, 1);
  const auto many = static_cast<TrialId>(PromotionRungs::kCompared);
  for (TrialId trial = 1; trial <= many; ++trial) enter(0, trial, 5);
  // Better than the first one at the lower rung, and worse at the upper.
  enter(0, many + 1, 0);
  enter(1, many + 1, 2);
  PromotionRungs loaded_rungs(options);
  REQUIRE(loaded_rungs.load(through_text(rungs.save())));
  Pasha loaded(loaded_rungs, 2);
  REQUIRE(loaded.load(through_text(pasha.save()), loaded_rungs));
  CHECK(pasha.grow(rungs));
  CHECK(loaded.grow(loaded_rungs));
}

TEST_CASE("PASHA: with few rungs") {
  CHECK(Pasha(PromotionRungs({.levels = {}, .max_t = 5})).limit() == 5);
  CHECK(Pasha(PromotionRungs({.levels = {1}, .max_t = 5})).limit() == 5);
  PromotionRungs rungs({.levels = {1, 3}, .max_t = 5});
  Pasha pasha(rungs);
  CHECK(pasha.limit() == 3);
  for (const TrialId trial : {0, 1}) {
    for (const std::size_t rung : {0u, 1u}) {
      rungs.enter(rung, trial, {.value = {0, rung == 0 ? double(trial) : -double(trial)}});
      pasha.enter(rungs, rung, trial);
      pasha.grow(rungs);
    }
  }
  CHECK(pasha.limit() == 5);
}

TEST_CASE("PASHA: damaged states of the rule are errors and change nothing") {
  PromotionRungs rungs({.levels = {1, 3, 9}, .max_t = 27});
  Pasha pasha(rungs);
  Rng rng(12);
  for (TrialId trial = 0; trial < 20; ++trial) {
    for (int r = 1; r <= 3; ++r) pasha.report(trial, r, std::array{rng.normal()});
  }
  const json good = pasha.save();
  const auto refused = [&](const json& state) {
    CAPTURE(state.dump());
    CHECK_FALSE(pasha.load(state, rungs));
  };
  for (const json& wrong : {json(0), json(3), json(-1), json("x"), json()}) {
    json state = good;
    state["top"] = wrong;
    refused(state);
  }
  for (const char* key : {"top", "is_last", "noise"}) {
    json state = good;
    state.erase(key);
    refused(state);
  }
  json state = good;
  state["is_last"] = true;  // before the highest rung is reached
  refused(state);
  for (const char* key : {"reports", "compared", "epsilon"}) {
    for (const json& wrong : {json(), json("x"), json("AAAAAAAA+H8=")}) {
      state = good;
      state["noise"][0][key] = wrong;
      refused(state);
    }
  }
  for (const json& wrong : {json::array(), json::array({1}), json::object()}) {
    state = good;
    state["noise"] = wrong;
    refused(state);
  }
  CHECK(pasha.save() == good);
  CHECK(pasha.load(good, rungs));
}

}  // namespace attune::pasha_test
