#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "assessors/registry.h"

namespace attune::curvefitting_test {

// An assessor, and the histories of the trials that it is fed.
class Feed {
 public:
  explicit Feed(const json& arguments = {}) {
    auto made = make_assessor(builtin_assessors(), "Curvefitting", arguments, {}, 0);
    REQUIRE(made);
    assessor = *std::move(made);
  }

  Decision report(TrialId trial, double value) {
    auto& reports = histories_[trial];
    reports.push_back({trial, std::ssize(reports), {{"default", value}}});
    return assessor->assess(trial, reports);
  }

  // How many results it takes until the trial is stopped; 0: it is not.
  std::size_t run(TrialId trial, const std::vector<double>& values) {
    for (const double value : values) {
      if (report(trial, value).action == Action::stop) {
        assessor->trial_end(trial, End::stopped);
        return histories_[trial].size();
      }
    }
    assessor->trial_end(trial, End::completed);
    return 0;
  }

  std::unique_ptr<Assessor> assessor;

 private:
  std::map<TrialId, std::vector<Report>> histories_;
};

// end - gain * exp(-x / 4) for x = 1 ... n, with a little noise.
std::vector<double> saturating(double end, double gain, int n = 20, std::uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<double> values;
  for (int x = 1; x <= n; ++x) {
    values.push_back(end - gain * std::exp(-x / 4.0) + 0.002 * gain * rng.normal());
  }
  return values;
}

std::vector<double> shifted(std::vector<double> values, double by) {
  for (double& value : values) value += by;
  return values;
}

const json kMinimize = {{"optimize_mode", "minimize"}};

TEST_CASE("Curvefitting stops what ends lower, not what will be better") {
  Feed feed;
  CHECK(feed.run(0, saturating(0.8, 0.7)) == 0);  // nothing has completed before
  CHECK(feed.run(1, saturating(0.5, 0.4)) == 6);
  CHECK(feed.run(2, saturating(0.9, 0.8, 20, 2)) == 0);
  // Worse at every step for a long time, but it does not bend yet.
  std::vector<double> late;
  for (int x = 1; x <= 20; ++x) late.push_back(0.1 + 0.045 * x);
  CHECK(feed.run(3, late) == 0);
  CHECK(feed.run(4, saturating(0.8, 0.7, 20, 3)) > 0);  // the best is 0.9 now
}

TEST_CASE("Curvefitting: losses that fall, to zero and below") {
  // The same curves: what a unit or an offset is must not matter.
  const double offset = GENERATE(0.0, -5.0, 1.0);
  Feed feed(kMinimize);
  CHECK(feed.run(0, shifted(saturating(0, -2), offset)) == 0);
  CHECK(feed.run(1, shifted(saturating(0.9, -2, 20, 2), offset)) > 0);
  CHECK(feed.run(2, shifted(saturating(-0.5, -2, 20, 3), offset)) == 0);
}

TEST_CASE("Curvefitting: threshold is a share of the best, or of what it gained") {
  // Accuracies: 0.95 of 0.8 is 0.76.
  CHECK(Feed(json{{"threshold", 0.95}}).run(0, saturating(0.8, 0.7)) == 0);
  for (const double end : {0.78, 0.74}) {
    Feed feed;
    feed.run(0, saturating(0.8, 0.7));
    CHECK((feed.run(1, saturating(end, 0.7, 20, 5)) > 0) == (end < 0.76));
  }
  // A loss that fell by about 1.55 to 0: 0.95 allows 0.08.
  for (const double end : {0.04, 0.12}) {
    Feed feed(kMinimize);
    feed.run(0, saturating(0, -2));
    CHECK((feed.run(1, saturating(end, -2, 20, 5)) > 0) == (end > 0.08));
  }
  Feed generous(json{{"threshold", 0}});
  generous.run(0, saturating(0.8, 0.7));
  CHECK(generous.run(1, saturating(0.3, 0.2)) == 0);
}

TEST_CASE("Curvefitting: start_step, gap and epoch_num say when a trial is judged") {
  const std::vector<double> bad = saturating(0.4, 0.3);
  const auto stopped_at = [&](const json& arguments) {
    Feed feed(arguments);
    feed.run(0, saturating(0.8, 0.7));
    return feed.run(1, bad);
  };
  CHECK(stopped_at({{"start_step", 10}}) == 10);
  CHECK(stopped_at({{"start_step", 0}, {"gap", 9}}) == 9);
  CHECK(stopped_at({{"start_step", 19}}) == 19);
  CHECK(stopped_at({{"start_step", 20}}) == 0);  // the last epoch: there is nothing to predict
  CHECK(stopped_at({{"epoch_num", 6}}) == 0);
  CHECK(stopped_at({{"epoch_num", 7}}) == 6);

  // Not judged in the gap, however bad it becomes.
  Feed feed(json{{"gap", 5}});
  feed.run(0, saturating(0.8, 0.7));
  std::vector<double> good = saturating(0.8, 0.7, 6, 2);
  for (const double value : good) CHECK(feed.report(1, value).action == Action::keep_going);
  for (int k = 0; k < 4; ++k) CHECK(feed.report(1, 0.1).action == Action::keep_going);
}

TEST_CASE("Curvefitting: the best is the last result of a completed trial, of that trial") {
  Feed feed;
  for (const double value : saturating(0.9, 0.8)) feed.report(0, value);
  for (const double value : saturating(0.5, 0.4, 5)) feed.report(1, value);
  feed.assessor->trial_end(0, End::failed);     // does not count
  feed.assessor->trial_end(1, End::completed);  // 0.39, whatever others reported
  CHECK(feed.run(2, saturating(0.5, 0.4, 20, 4)) == 0);

  // The trial that reported last is not the one that completed.
  Feed mixed;
  for (const double value : saturating(0.9, 0.8)) mixed.report(0, value);
  for (const double value : saturating(0.3, 0.2, 5)) mixed.report(1, value);
  mixed.assessor->trial_end(0, End::completed);
  CHECK(mixed.run(2, saturating(0.5, 0.4, 20, 4)) == 6);
}

TEST_CASE("Curvefitting: results that are not finite are left out, the epochs go on") {
  Feed feed;
  auto values = saturating(0.8, 0.7);
  values.back() = NAN;  // the best is the one before
  feed.run(0, values);
  auto bad = saturating(0.5, 0.4);
  bad[0] = INFINITY;
  bad[3] = NAN;
  CHECK(feed.run(1, bad) > 0);
  CHECK(feed.run(2, std::vector<double>(20, NAN)) == 0);
  CHECK(feed.run(3, saturating(0.5, 0.4)) == 6);  // a completed trial without results is no best
}

TEST_CASE("Curvefitting: a step that is reported again is not a new one") {
  Feed feed;
  feed.run(0, saturating(0.8, 0.7));
  const std::vector<Report> reports = [] {
    std::vector<Report> all;
    for (const double value : saturating(0.8, 0.7, 6, 2)) {
      all.push_back({1, std::ssize(all), {{"default", value}}});
    }
    return all;
  }();
  CHECK(feed.assessor->assess(1, reports).action == Action::keep_going);
  auto rewritten = reports;
  for (Report& report : rewritten) report.metrics = {{"default", 0.1}};
  CHECK(feed.assessor->assess(1, rewritten).action == Action::keep_going);
  rewritten.push_back({1, 6, {{"default", 0.1}}});
  CHECK(feed.assessor->assess(1, rewritten).action == Action::stop);
}

TEST_CASE("Curvefitting: a long history is thinned out, its epochs stay") {
  Feed feed(json{{"epoch_num", 2000}});
  std::vector<double> good, bad;
  for (int x = 1; x <= 2000; ++x) {
    good.push_back(0.9 - 0.8 / std::sqrt(x));
    bad.push_back(0.6 - 0.5 / std::sqrt(x));
  }
  feed.run(0, good);
  std::vector<Report> reports;
  for (const double value : bad) {
    if (reports.size() == 1001) break;
    reports.push_back({1, std::ssize(reports), {{"default", value}}});
  }
  const Decision decision = feed.assessor->assess(1, reports);
  CHECK(decision.action == Action::stop);
  CAPTURE(decision.reason);
  CHECK(std::stod(decision.reason.substr(decision.reason.find(": ") + 2)) ==
        Approx(0.6 - 0.5 / std::sqrt(2000)).margin(0.002));
}

TEST_CASE("Curvefitting: the reason names the numbers") {
  Feed feed;
  feed.run(0, std::vector<double>{0.5, 0.5, 0.5});
  Decision decision;
  for (int x = 1; x <= 6; ++x) decision = feed.report(1, 0.25);
  CHECK(
      decision.reason ==
      "epoch 6: 0.25 is predicted for epoch 20, with a chance of 0.0 % to be above 0.475; the best "
      "trial has 0.5");
}

}  // namespace attune::curvefitting_test
