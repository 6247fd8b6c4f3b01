// The table of jobs across a save and load: what a manager sees of it is in exact_state_test.cpp.
#include <catch2/catch.hpp>

#include "base/saved_numbers.h"
#include "dispatcher/jobs.h"
#include "tests/support/through_text.h"

namespace attune::jobs_test {

using Event = Jobs::Event;

Jobs reload(const Jobs& jobs) {
  Jobs loaded;
  const json state = through_text(jobs.save());
  const auto result = loaded.load(state);
  if (!result) FAIL(result.error().message);
  CHECK(loaded.save() == state);
  return loaded;
}

// One job of every kind: A ended, B runs, C was killed, D is being paused, E is paused, F saves, G
// was ended by mistake, and H is the manager's own.
Jobs table() {
  Jobs jobs;
  jobs.take_ids(10);
  for (const char name : {'A', 'B', 'C', 'D', 'E', 'F'}) {
    jobs.bind_metric(std::string(1, name), ParameterId(name - 'A'));
  }
  jobs.end("A", ParameterId(0), Event::succeeded);
  jobs.pass_gate({2, Action::stop, ""});
  jobs.pass_gate({3, Action::pause, ""});
  jobs.paused("E", ParameterId(4));
  jobs.pass_gate({5, Action::checkpoint, ""});
  jobs.end("G", ParameterId(6), Event::failed);
  jobs.bind_metric("H", {});
  jobs.import("I");
  jobs.alias(9, 4);
  jobs.pass_gate({8, Action::pause, "early"});
  jobs.checkpoints().put(4, "c1");
  jobs.checkpoints().wait(5, Offer{7, 7, {{"x", 1.0}}, 5});
  return jobs;
}

TEST_CASE("jobs: the gate is where it was after a load") {
  Jobs jobs = reload(table());
  CHECK(jobs.has_ended("A"));
  CHECK(jobs.pass_gate({1, Action::checkpoint, ""}) == "B");
  CHECK_FALSE(jobs.pass_gate({2, Action::stop, ""}));
  CHECK_FALSE(jobs.pass_gate({3, Action::pause, ""}));
  CHECK(jobs.pause_failed("D") == std::vector<TrialId>{3});
  CHECK(jobs.trial_of(9) == 4);
  CHECK(jobs.resume(4).job == "E");
  CHECK(jobs.saving(5, true) == Jobs::Saving::under_way);
  CHECK(jobs.checkpoints().newest(4) == "c1");
  CHECK(jobs.checkpoints().released(5).size() == 1);
  CHECK(jobs.import("I").known);
  CHECK(jobs.bind_metric("H", {}).trial == -2);
  CHECK(jobs.bind_metric("K", {}).trial == -3);
  CHECK(jobs.bind_metric("L", ParameterId(8)).trial == 8);
  CHECK(jobs.released(8).size() == 1);
  CHECK(jobs.bind_metric("M", ParameterId(6)).revived);  // not G's
  const auto ended = jobs.end("M", ParameterId(7), Event::succeeded);
  REQUIRE(ended);
  CHECK(ended->misnamed == std::pair(TrialId{7}, Event::failed));
}

TEST_CASE("jobs: after a restart nothing is bound to what ran, and nothing asked is remembered") {
  Jobs jobs = table();
  jobs.restart();
  jobs = reload(jobs);
  CHECK(jobs.has_ended("A"));
  CHECK_FALSE(jobs.pass_gate({1, Action::stop, ""}));  // it waits until the trial is heard of
  jobs.bind_metric("new", ParameterId(1));
  CHECK(jobs.released(1).size() == 1);
  CHECK(jobs.pause_failed("D").empty());
  CHECK(jobs.saving(5, true) == Jobs::Saving::no);
  CHECK(jobs.checkpoints().newest(4) == "c1");
  CHECK(jobs.checkpoints().released(5).empty());
  CHECK(jobs.resume(4).possible);
  CHECK(jobs.resume(4).job.empty());
  jobs.bind_metric("L", ParameterId(8));
  CHECK(jobs.released(8).empty());
  CHECK_FALSE(jobs.bind_metric("M", ParameterId(6)).revived);
  CHECK(jobs.bind_metric("H", {}).trial == -2);
}

TEST_CASE("jobs: an adopted job has not ended on anyone's word") {
  Jobs jobs = table();
  CHECK(jobs.adopt("G", 6, false) == 6);
  jobs = reload(jobs);
  CHECK_FALSE(jobs.bind_metric("M", ParameterId(6)).revived);
}

TEST_CASE("jobs: the largest id can be saved, and was not given out before") {
  Jobs jobs;
  jobs.take_ids(3);
  CHECK_FALSE(jobs.reserve_through(2));
  CHECK(jobs.reserve_through(kLargestId));
  CHECK_FALSE(jobs.reserve_through(kLargestId));
  jobs.take_ids(100'000);
  CHECK(reload(jobs).take_ids(1) == kLargestId + 100'001);
}

TEST_CASE("jobs: damaged tables are errors and change nothing") {
  const json good = table().save();
  const auto packed = [](std::vector<double> numbers) { return save_numbers(numbers); };
  const auto replaced = [&](const char* key, std::size_t at, double value) {
    auto column = numbers_at(good, key).value();
    column.at(at) = value;
    return save_numbers(column);
  };
  std::vector<std::pair<std::string, json>> damages = {
      {"next", -1},
      {"next", INT64_MAX},
      {"next", 4},
      {"next_foreign", -1},
      {"next_foreign", INT64_MIN},
      {"names", {"A", "B", "C", "D", "E", "F", "G", "H", "H"}},
      {"flags", replaced("flags", 0, 0.5)},
      {"flags", replaced("flags", 0, 1 << 20)},
      {"flags", replaced("flags", 0, -1)},
      {"flags", replaced("flags", 6, 64)},  // a guess, but it has not ended
      {"counts", replaced("counts", 0, NAN)},
      {"counts", replaced("counts", 0, 9)},
      {"counts", replaced("counts", 0, 0)},
      {"trials", replaced("trials", 0, 1)},  // two jobs
      {"trials", replaced("trials", 0, -1)},
      {"trials", replaced("trials", 0, 1.5)},
      {"unbound", packed({99})},
      {"foreign", packed({0})},
      {"foreign", packed({99, -2})},
      {"foreign", packed({0, -1})},
      {"foreign", packed({0, -3})},
      {"aliases", packed({9})},
      {"aliases", packed({9, 10})},
      {"misnamed", packed({8})},
      {"waiting", {{{"trial", 1}, {"action", 9}, {"reason", ""}}}},
      {"checkpoints", json::array()}};
  for (const auto& [key, value] : good.items()) {
    damages.emplace_back(key, nullptr);
    damages.emplace_back(key, "x");
  }
  for (const auto& [key, damage] : damages) {
    CAPTURE(key, dump_json(damage));
    json damaged = good;
    damaged[key] = damage;
    Jobs jobs = table();
    CHECK_FALSE(jobs.load(damaged).has_value());
    CHECK(jobs.save() == good);
  }
}

}  // namespace attune::jobs_test
