// Where the rule of Hyperband differs from Ray's: no trial waits for ever.
#include "rungs/band.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "base/saved_numbers.h"

namespace attune::band_test {

using Call = Bands::Call;
using State = Bands::State;
using Ids = std::vector<TrialId>;

Ids with(const std::vector<Bands::Ruling>& rulings, Call call) {
  Ids ids;
  for (const auto& ruling : rulings) {
    if (ruling.call == call) ids.push_back(ruling.trial);
  }
  return ids;
}

// Three kinds of brackets: 3 trials to 9; 5 to 3 and 9; 9 to 1, 3 and 9.
constexpr BandRule kSmall{.max_t = 9};

// Adds trials 0, 1, ... and returns where they run to at first.
std::vector<double> first_milestones(Bands& bands, TrialId count) {
  std::vector<double> milestones;
  for (TrialId id = 0; id < count; ++id) {
    bands.add(id);
    milestones.push_back(bands.milestone(id));
  }
  return milestones;
}

// A bracket of 9 trials with the losses 0, 1, ..., of which all but the last are at 1.
Bands nearly_judged() {
  Bands bands({.max_t = 9, .for_bohb = true});
  first_milestones(bands, 9);
  for (TrialId id = 0; id < 8; ++id) bands.result(id, 1, static_cast<double>(id));
  return bands;
}

TEST_CASE("bands: sizes and first milestones of the brackets are those of the paper") {
  const Bands bands({});
  REQUIRE(bands.kinds() == 5);
  std::vector<std::pair<double, double>> found;
  for (int s = 0; s < 5; ++s) found.emplace_back(bands.size(s), bands.first_milestone(s));
  CHECK(found ==
        std::vector<std::pair<double, double>>{{5, 81}, {8, 27}, {15, 9}, {34, 3}, {81, 1}});
}

TEST_CASE("bands: trials fill one bracket after the other, and band after band") {
  using Milestones = std::vector<double>;
  const Milestones expected = {9, 9, 9, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9};
  Bands bands(kSmall);
  CHECK(first_milestones(bands, 18) == expected);
  Bands largest_first({.max_t = 9, .for_bohb = true});
  CHECK(first_milestones(largest_first, 10) == Milestones{1, 1, 1, 1, 1, 1, 1, 1, 1, 3});
  // With max_t 20 the last kind would begin at 20 / 27, so there is none.
  Bands three({.max_t = 20});
  CHECK(three.kinds() == 4);
  CHECK(first_milestones(three, 4 + 6 + 12 + 1).back() == 20);
}

TEST_CASE("bands: a bracket is judged when it is full and all its trials are there") {
  Bands bands = nearly_judged();
  CHECK(bands.find(7)->state == State::waiting);
  CHECK_FALSE(bands.choose());
  const auto verdict = bands.result(8, 1, 0.5);  // the second best of 9: 3 go on
  CHECK(verdict.reporter.call == Call::go_on);
  CHECK(verdict.reporter.rank == 2);
  CHECK(verdict.reporter.of == 9);
  CHECK(verdict.reporter.kept == 3);
  CHECK(verdict.reporter.milestone == 1);
  CHECK(with(verdict.others, Call::stop) == Ids{7, 6, 5, 4, 3, 2});
  CHECK(with(verdict.others, Call::go_on) == Ids{1, 0});
  CHECK(bands.choose() == TrialId{0});  // in the order in which they came
  CHECK(bands.milestone(8) == 3);
  CHECK(bands.live() == 3);
}

TEST_CASE("bands: trials that come one by one do not judge a bracket early") {
  Bands bands({.max_t = 9, .for_bohb = true});
  for (TrialId id = 0; id < 8; ++id) {
    bands.add(id);
    const auto verdict = bands.result(id, 1, 0);
    CHECK(verdict.reporter.call == Call::pause);  // Ray would let the first go on to 9
    CHECK(verdict.reporter.missing == static_cast<std::size_t>(8 - id));
  }
  bands.add(8);
  CHECK(bands.result(8, 1, 0).reporter.call == Call::go_on);
}

TEST_CASE("bands: of equal losses the later ones go on, and what is not a number is the worst") {
  Bands bands({.max_t = 9, .for_bohb = true});
  first_milestones(bands, 9);
  const double losses[] = {NAN, 2, 2, INFINITY, 2, 2, 2, NAN, 2};
  Ids stopped;
  for (TrialId id = 0; id < 9; ++id) {
    const auto verdict = bands.result(id, 1, losses[id]);
    if (id == 8) stopped = with(verdict.others, Call::stop);
  }
  CHECK(stopped == Ids{0, 3, 7, 1, 2, 4});
}

TEST_CASE("bands: a trial at the last milestone is stopped at once") {
  Bands bands(kSmall);
  first_milestones(bands, 3);
  CHECK(bands.result(0, 8, 1).reporter.call == Call::go_on);
  const auto verdict = bands.result(0, 9.5, 1);
  CHECK(verdict.reporter.call == Call::stop);
  CHECK(verdict.reporter.complete);
  CHECK(verdict.others.empty());
  CHECK(bands.live() == 2);
}

TEST_CASE("bands: without stop_last the trials of the last milestone run on") {
  Bands bands({.max_t = 9, .stop_last = false});
  first_milestones(bands, 3);
  CHECK(bands.at_last_milestone(0));
  CHECK(bands.result(0, 9, 1).reporter.call == Call::go_on);
  CHECK(bands.result(0, 90, 1).reporter.call == Call::go_on);
  CHECK(bands.remove(0).empty());
}

TEST_CASE("bands: the end of the last trial that is missing judges the bracket") {
  Bands bands = nearly_judged();
  const auto rulings = bands.remove(8);
  CHECK(with(rulings, Call::stop) == Ids{7, 6, 5, 4, 3});
  CHECK(with(rulings, Call::go_on) == Ids{2, 1, 0});
  // Also after the first judgement, where Ray would never judge again.
  for (const TrialId id : {0, 1, 2}) bands.set_state(id, State::running);
  bands.result(1, 3, 5);
  bands.result(0, 3, 4);
  const auto again = bands.remove(2);
  CHECK(with(again, Call::stop) == Ids{1});
  CHECK(with(again, Call::go_on) == Ids{0});
}

TEST_CASE("bands: trials that are past the next milestones are judged again at once") {
  const bool of_2018 = GENERATE(false, true);
  Bands bands({.max_t = 9, .of_2018 = of_2018, .for_bohb = true});
  first_milestones(bands, 9);
  for (TrialId id = 0; id < 8; ++id) bands.result(id, 5, static_cast<double>(id));
  const auto verdict = bands.result(8, 5, 8);  // milestones 1 and 3, or 1 and 4
  CHECK(verdict.reporter.call == Call::stop);
  CHECK(with(verdict.others, Call::go_on) == Ids{0});
  CHECK(bands.milestone(0) == 9);

  // All are past the last one, too: where Ray of 2018 leaves one paused for ever.
  Bands done({.max_t = 9, .of_2018 = of_2018, .for_bohb = true});
  first_milestones(done, 9);
  for (TrialId id = 0; id < 8; ++id) done.result(id, 9, static_cast<double>(id));
  const auto last = done.result(8, 9, 8);
  CHECK(with(last.others, Call::stop) == Ids{7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(last.others.back().complete);
  CHECK_FALSE(last.others.front().complete);
  CHECK(done.live() == 0);
}

TEST_CASE("bands: a trial that is ready and reports stays ready until it is chosen") {
  Bands bands = nearly_judged();
  bands.result(8, 1, 9);
  REQUIRE(bands.find(1)->state == State::ready);
  CHECK(bands.result(1, 2, 0).reporter.call == Call::go_on);
  CHECK(bands.find(1)->state == State::ready);
  CHECK(bands.result(1, 3, 0).reporter.call == Call::pause);  // it was not paused, and is there
  CHECK(bands.find(1)->state == State::waiting);
  CHECK(bands.choose() == TrialId{0});
}

TEST_CASE("bands: a trial that is ready goes on from later reports, and stays ready") {
  Bands bands = nearly_judged();
  bands.result(8, 1, 9);
  for (const TrialId id : {0, 1}) {
    bands.set_state(id, State::running);
    bands.result(id, 3, 5);
  }
  // Trial 2 is still on its way to a pause, and the best at the next milestone.
  CHECK(bands.result(2, 3, 0).reporter.call == Call::go_on);
  CHECK(bands.find(2)->state == State::ready);
  CHECK(bands.choose() == TrialId{2});
}

TEST_CASE("bands: as in Ray of 2018, a trial past the last milestone stays paused") {
  const bool of_2018 = GENERATE(false, true);
  Bands bands({.max_t = 3, .of_2018 = of_2018, .for_bohb = true, .as_ray = true});
  first_milestones(bands, 3);
  for (const TrialId id : {0, 1}) bands.result(id, 3, static_cast<double>(id));
  const auto verdict = bands.result(2, 3, 2);
  CHECK(verdict.reporter.call == Call::stop);
  CHECK(with(verdict.others, Call::stop) == (of_2018 ? Ids{1} : Ids{1, 0}));
  CHECK_FALSE(bands.choose());
}

TEST_CASE("bands: as in Ray, BOHB's bracket waits for trials that are not paused yet") {
  Bands bands({.max_t = 3, .for_bohb = true, .as_ray = true});
  first_milestones(bands, 3);
  for (const TrialId id : {0, 1}) bands.result(id, 1, static_cast<double>(id));
  bands.set_state(0, State::running);
  CHECK(bands.result(2, 1, 2).reporter.call == Call::pause);
  bands.set_state(0, State::waiting);
  CHECK(bands.result(2, 1, 2).reporter.call == Call::stop);
}

TEST_CASE("bands: without more trials brackets are judged as they are, until one goes on") {
  Bands bands({.max_t = 9, .for_bohb = true});
  first_milestones(bands, 4);
  for (TrialId id = 0; id < 4; ++id) bands.result(id, 1, static_cast<double>(id));
  CHECK(bands.running() == 0);
  const auto rulings = bands.proceed();
  CHECK(with(rulings, Call::stop) == Ids{3});
  CHECK(with(rulings, Call::go_on) == Ids{2, 1, 0});
  bands.add(4);  // for the next bracket
  CHECK(bands.milestone(4) == 3);
  CHECK(bands.proceed().empty());  // one is ready
}

TEST_CASE("bands: the trial goes on whose bracket has done the smallest part of its work") {
  Bands bands(kSmall);
  first_milestones(bands, 17);
  for (TrialId id = 3; id < 8; ++id) bands.result(id, 3, static_cast<double>(id));
  for (TrialId id = 8; id < 17; ++id) bands.result(id, 1, static_cast<double>(id));
  // 15 of 5 * 3 + 2 * 6 are done, and 9 of 9 * 1 + 3 * 3 + 1 * 8.
  CHECK(bands.choose() == TrialId{8});
  for (const TrialId id : {8, 9, 10}) bands.set_state(id, State::running);
  CHECK(bands.choose() == TrialId{3});
}

TEST_CASE("bands: trials of an earlier band go on first") {
  Bands bands({.max_t = 3});  // 2 trials to 3, and 3 to 1
  first_milestones(bands, 10);
  for (const TrialId id : {2, 3, 4}) bands.result(id, 1, 0);
  for (const TrialId id : {7, 8, 9}) bands.result(id, 0.5, 0);
  bands.set_state(4, State::ready);  // of the first band: it has done more
  bands.set_state(7, State::ready);
  CHECK(bands.choose() == TrialId{4});
}

TEST_CASE("bands: a trial that never ran gives its place back") {
  Bands bands(kSmall);
  first_milestones(bands, 4);
  bands.withdraw(1);
  bands.withdraw(3);
  bands.add(10);
  bands.add(11);
  bands.add(12);
  CHECK(bands.milestone(10) == 9);
  CHECK(bands.milestone(11) == 3);
  CHECK(bands.live() == 5);
}

TEST_CASE("bands: whatever happens, a trial runs or is ready until all have ended") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const BandRule rule{.max_t = static_cast<double>(1 + rng.index(30)),
                        .factor = std::vector{2.0, 3.0, 2.5}[rng.index(3)],
                        .stop_last = rng.index(4) > 0,
                        .of_2018 = rng.index(2) == 0,
                        .for_bohb = rng.index(2) == 0};
    Bands bands(rule);
    const auto trials = static_cast<TrialId>(1 + rng.index(60));
    const std::size_t slots = 1 + rng.index(5);
    TrialId next = 0;
    std::map<TrialId, double> times;  // of those that run
    CAPTURE(seed, trials, slots, rule.max_t, rule.factor);
    for (int turn = 0; next < trials || bands.live() > 0; ++turn) {
      REQUIRE(turn < 10000);
      while (times.size() < slots) {
        if (const auto chosen = bands.choose()) {
          bands.set_state(*chosen, State::running);
          times[*chosen] = bands.find(*chosen)->time;
        } else if (next < trials) {
          bands.add(next);
          times[next++] = 0;
        } else if (bands.proceed().empty() && !bands.choose()) {
          break;
        }
      }
      if (bands.live() == 0) continue;  // all were past the last milestone
      REQUIRE_FALSE(times.empty());
      auto at = times.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(rng.index(times.size())));
      const bool ends = rng.index(20) == 0;
      at->second += 1 + static_cast<double>(rng.index(rng.index(10) == 0 ? 20 : 1));
      const TrialId id = at->first;
      if (ends) {
        bands.remove(id);
      } else {
        bands.result(id, at->second, rng.index(9) == 0 ? NAN : rng.normal());
      }
      if (!bands.find(id) || bands.find(id)->state != State::running) times.erase(id);
      Bands loaded(rule);
      REQUIRE(loaded.load(parse_json(dump_json(bands.save())).value()));
      REQUIRE(dump_json(loaded.save()) == dump_json(bands.save()));
      REQUIRE(loaded.choose() == bands.choose());
      bands = std::move(loaded);
    }
  }
}

TEST_CASE("bands: states that cannot be are errors and change nothing") {
  Bands bands = nearly_judged();
  const json good = bands.save();
  const auto refused = [&](const json& state) {
    CAPTURE(dump_json(state));
    CHECK_FALSE(bands.load(state));
    CHECK(dump_json(bands.save()) == dump_json(good));
  };
  for (const char* const key : {"next", "brackets"}) {
    json damaged = good;
    damaged.erase(key);
    refused(damaged);
  }
  const auto with_values = [&](std::size_t i, double value) {
    json damaged = good;
    auto values = numbers(damaged["brackets"][0]["values"]).value();
    values[i] = value;
    damaged["brackets"][0]["values"] = save_numbers(values);
    return damaged;
  };
  for (std::size_t i = 0; i < 6; ++i) refused(with_values(i, NAN));
  for (std::size_t i = 0; i < 5; ++i) {
    refused(with_values(i, -1));
    refused(with_values(i, 100));
    refused(with_values(i, 0.5));
  }
  const auto with_results = [&](std::size_t i, double value) {
    json damaged = good;
    auto results = numbers(damaged["brackets"][0]["results"]).value();
    results[i] = value;
    damaged["brackets"][0]["results"] = save_numbers(results);
    return damaged;
  };
  refused(with_results(0, 0));    // pending
  refused(with_results(0, 1));    // it runs, and is past its milestone
  refused(with_results(0, 4));    // no such state
  refused(with_results(1, 0.5));  // it waits, and has not reached its milestone
  refused(with_results(1, INFINITY));
  refused(with_results(24, 2));  // nobody runs
  for (const json& trials : {json::array({0}), json::array({0, 1, 2, 3, 4, 5, 6, 7, 7}),
                             json::array({0, 1, 2, 3, 4, 5, 6, 7, "8"}), json(3)}) {
    json damaged = good;
    damaged["brackets"][0]["trials"] = trials;
    refused(damaged);
  }
  json twice = good;
  twice["brackets"].push_back(good["brackets"][0]);
  refused(twice);
  json later = good;
  later["brackets"][0]["number"] = 1;
  refused(later);
}

}  // namespace attune::band_test
