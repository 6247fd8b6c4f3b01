#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>

#include "assessors/registry.h"
#include "tests/tuners/recording.h"

namespace attune::medianstop_test {

std::unique_ptr<Assessor> make(const json& arguments) {
  auto made = make_assessor(builtin_assessors(), "Medianstop", arguments, {}, 0);
  REQUIRE(made);
  return *std::move(made);
}

// Feeds an assessor one result at a time and remembers the histories.
class Feed {
 public:
  explicit Feed(const json& arguments) : assessor(make(arguments)) {}

  bool stops(TrialId trial, double value) {
    auto& reports = histories_[trial];
    reports.push_back({trial, std::ssize(reports), {{"default", value}}});
    return ask(trial).action == Action::stop;
  }
  Decision rewrite(TrialId trial, std::size_t step, double value) {
    histories_[trial][step].metrics = {{"default", value}};
    return ask(trial);
  }
  Decision ask(TrialId trial) { return assessor->assess(trial, histories_[trial]); }
  void completed(TrialId trial, const std::vector<double>& values) {
    for (const double value : values) stops(trial, value);
    assessor->trial_end(trial, End::completed);
  }

  std::unique_ptr<Assessor> assessor;

 private:
  std::map<TrialId, std::vector<Report>> histories_;
};

TEST_CASE("Medianstop stops what NNI stopped in its recordings") {
  const std::string name =
      GENERATE("medianstop_max", "medianstop_include_intermediate", "v3.0/medianstop_max");
  CAPTURE(name);
  std::optional<Feed> feed;
  std::vector<std::string> stopped, expected;
  for (const json& line : read_recording(name)) {
    if (text_at(line, "event") == "spawn") {
      feed.emplace(line["exp_params"]["assessor"]["classArgs"]);
    }
    const std::string code = text_at(line, "code");
    if (code == "KI") {
      expected.push_back(line["data"]);
      CHECK(stopped == expected);  // at once, not later
    }
    if (code != "ME" && code != "EN") continue;
    const json& data = line["data"];
    const std::string job = data["trial_job_id"];
    const TrialId trial = std::stoi(job.substr(1));
    if (code == "EN") {
      feed->assessor->trial_end(trial,
                                data["event"] == "SUCCEEDED" ? End::completed : End::stopped);
    } else if (data["type"] == "PERIODICAL") {
      const auto value = parse_json(data["value"].get<std::string>());
      REQUIRE(value);
      if (feed->stops(trial, *value)) stopped.push_back(job);
    }
  }
  CHECK(expected.size() >= 2);
  CHECK(stopped == expected);
}

TEST_CASE("Medianstop stops nothing before start_trials have completed that many steps") {
  Feed feed(json{{"optimize_mode", "maximize"}, {"start_trials", 2}});
  feed.completed(0, {0.9, 0.9});
  CHECK_FALSE(feed.stops(1, 0.1));
  feed.completed(2, {0.8});  // the second trial at step 0, not at step 1
  CHECK(feed.stops(3, 0.1));
  CHECK_FALSE(feed.stops(1, 0.1));
  feed.completed(4, {0.8, 0.8});
  CHECK(feed.stops(5, 0.7));
  CHECK(feed.ask(1).action == Action::stop);
}

TEST_CASE("Medianstop is the rule computed from scratch") {
  const bool maximize = GENERATE(true, false);
  Feed feed(json{{"optimize_mode", maximize ? "maximize" : "minimize"}, {"start_step", 2}});
  Rng rng(7);
  std::vector<std::vector<double>> completed;
  int stops = 0;
  for (TrialId trial = 0; trial < 120; ++trial) {
    std::vector<double> history;
    const std::size_t length = 1 + rng.index(8);
    bool stopped = false;
    while (history.size() < length && !stopped) {
      history.push_back(std::round(10 * rng.normal()) / 10);  // ties
      const std::size_t n = history.size();
      std::vector<double> averages;
      for (const auto& other : completed) {
        if (other.size() < n) continue;
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += other[i];
        averages.push_back(sum / double(n));
      }
      std::ranges::sort(averages);
      bool expected = false;
      if (n >= 2 && !averages.empty()) {
        const std::size_t count = averages.size();
        expected = maximize ? std::ranges::max(history) < averages[(count - 1) / 2]
                            : std::ranges::min(history) > averages[count / 2];
      }
      stopped = feed.stops(trial, history.back());
      REQUIRE(stopped == expected);
    }
    stops += stopped;
    const bool failed = !stopped && trial % 10 == 3;
    feed.assessor->trial_end(trial, stopped ? End::stopped : failed ? End::failed : End::completed);
    if (!stopped && !failed) completed.push_back(history);
  }
  CHECK(stops > 10);
  CHECK(stops < 110);
}

TEST_CASE("Medianstop: the reason names the numbers") {
  Feed feed(json{{"optimize_mode", "maximize"}});
  for (TrialId trial = 0; trial < 3; ++trial) feed.completed(trial, {0.8, 0.8, 0.9});
  feed.stops(9, 0.81);
  feed.rewrite(9, 0, 0.4);
  feed.stops(9, 0.41);
  CHECK(feed.ask(9).reason == "best 0.41 by step 1 is below the median 0.8 of 3 completed trials");
}

TEST_CASE("Medianstop: a step that is reported again counts with its new value") {
  Feed feed(json{{"optimize_mode", "minimize"}});
  feed.completed(0, {1, 1, 1});
  CHECK(feed.stops(1, 2));
  CHECK(feed.rewrite(1, 0, 0.5).action == Action::keep_going);
  CHECK_FALSE(feed.stops(1, 3));                        // best 0.5
  CHECK(feed.rewrite(1, 0, 4).action == Action::stop);  // best 3

  // And in the averages of a completed trial: 10, 1 became 1, 1.
  Feed other(json{{"optimize_mode", "minimize"}});
  other.stops(0, 10);
  other.stops(0, 1);
  other.rewrite(0, 0, 1);
  other.assessor->trial_end(0, End::completed);
  CHECK(other.stops(1, 2));
}

TEST_CASE("Medianstop: only completed trials count") {
  const End end = GENERATE(End::failed, End::stopped, End::diverged);
  Feed feed(json{{"optimize_mode", "minimize"}});
  feed.stops(0, 1);
  feed.assessor->trial_end(0, end);
  CHECK_FALSE(feed.stops(1, 100));
}

TEST_CASE("Medianstop: results that are not finite are left out") {
  Feed feed(json{{"optimize_mode", "minimize"}});
  feed.completed(0, {NAN, 1, INFINITY, 2});
  CHECK_FALSE(feed.stops(1, 100));  // nobody has a finite average at step 0
  CHECK(feed.stops(1, 100));        // average 1 at step 1
  CHECK_FALSE(feed.stops(2, NAN));
  CHECK_FALSE(feed.stops(2, NAN));  // no result so far: not for this rule to judge
  CHECK_FALSE(feed.stops(2, 1));
  CHECK_FALSE(feed.stops(2, NAN));  // best 1, average 1.5
}

TEST_CASE("Medianstop judges the metric of the objective") {
  Context context;
  context.objectives = {{"accuracy", false}};  // its direction is the assessor's optimize_mode
  auto made = make_assessor(builtin_assessors(), "medianstop", {}, context, 0);
  REQUIRE(made);
  const auto report = [](TrialId trial, double accuracy) {
    return Report{trial, 0, {{"default", 5}, {"accuracy", accuracy}}};
  };
  (*made)->assess(0, std::vector{report(0, 0.9)});
  (*made)->trial_end(0, End::completed);
  CHECK((*made)->assess(1, std::vector{report(1, 0.5)}).action == Action::stop);
  CHECK((*made)->assess(2, std::vector{report(2, 0.95)}).action == Action::keep_going);
  CHECK((*made)->assess(3, std::vector{Report{3, 0, {}}}).action == Action::keep_going);
}

}  // namespace attune::medianstop_test
