// Reports that no rule expects, for every assessor: whatever came, the rule goes on judging, its
// state can be loaded, and its reasons can be read.
#include <cmath>
#include <limits>
#include <map>

#include "tests/assessors/every_assessor.h"

namespace attune::hostile_reports_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Values {
  double largest;  // of the finite ones
  bool both_infinities;
};

// Thousands of short trials, eight at a time. They report nothing, NaN, no metric, a resource that
// goes back, stands still or is none; steps again; several steps at once; their ids come again.
class Stream {
 public:
  Stream(Assessor& assessor, const Values& values, std::uint64_t seed)
      : assessor_(assessor), values_(values), rng_(seed) {}

  // The words of one more decision; "" for an end.
  std::string next() {
    const auto trial = static_cast<TrialId>(count_++ / 40 * 8 + rng_.index(8));
    std::vector<Report>& reports = live_[trial];
    if (rng_.index(8) == 0) {
      const End ends[] = {End::completed, End::failed, End::stopped, End::diverged};
      assessor_.trial_end(trial, ends[rng_.index(4)]);
      live_.erase(trial);
      return "";
    }
    if (!reports.empty() && rng_.index(6) == 0) {
      Report& again = reports[rng_.index(reports.size())];
      again.metrics = metrics();
    } else {
      for (std::size_t n = 1 + rng_.index(3); n > 0; --n) {
        reports.push_back({trial, std::ssize(reports), metrics()});
      }
    }
    return every_assessor::in_words(assessor_, trial, reports);
  }

 private:
  double odd_number() {
    const double odd[] = {NAN, kInfinity, values_.both_infinities ? -kInfinity : NAN, 0.0, -0.0};
    return odd[rng_.index(5)];
  }

  Metrics metrics() {
    Metrics all;
    if (rng_.index(10) != 0) {
      const double usual = values_.largest * (2 * rng_.uniform() - 1);
      all.emplace_back("default", rng_.index(5) == 0 ? odd_number() : usual);
    }
    if (rng_.index(3) == 0) {
      const double odd[] = {NAN, kInfinity, -1, 0, 2.5, 1e300};
      const double usual = static_cast<double>(rng_.index(12));
      all.emplace_back("training_iteration", rng_.index(3) == 0 ? odd[rng_.index(6)] : usual);
    }
    return all;
  }

  Assessor& assessor_;
  Values values_;
  Rng rng_;
  std::map<TrialId, std::vector<Report>> live_;
  std::uint64_t count_ = 0;
};

TEST_CASE("hostile reports: every state can be loaded and saved again") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    for (const double largest : {1.0, 1.7e308}) {
      CAPTURE(entry.name, largest);
      auto assessor = every_assessor::make(entry);
      Stream stream(*assessor, {.largest = largest, .both_infinities = true}, 11);
      for (int call = 1; call <= 4000; ++call) {
        stream.next();
        if (call % 400 != 0) continue;
        const std::string saved = dump_json(assessor->save());
        const auto state = parse_json(saved);
        REQUIRE(state);
        auto loaded = every_assessor::make(entry);
        const auto result = loaded->load(*state);
        if (!result) FAIL(result.error().message);
        REQUIRE(dump_json(loaded->save()) == saved);
      }
    }
  }
}

TEST_CASE("hostile reports: after them a trial that is better than all goes on") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    auto assessor = every_assessor::make(entry, {{"optimize_mode", "minimize"}});
    Stream stream(*assessor, {.largest = 1, .both_infinities = false}, 12);
    for (int call = 0; call < 4000; ++call) stream.next();
    const TrialId best = 1'000'000;
    std::vector<Report> reports;
    for (int step = 0; step < 100; ++step) {
      reports.push_back({best, step, {{"default", -2.0 - step}}});
      const std::string decision = every_assessor::in_words(*assessor, best, reports);
      if (decision.starts_with("complete: ")) break;
      CAPTURE(step);
      REQUIRE(decision == "go");
    }
  }
}

TEST_CASE("hostile reports: a reason shows no number that stands for a result that is none") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    for (const char* mode : {"minimize", "maximize"}) {
      CAPTURE(entry.name, mode);
      auto assessor = every_assessor::make(entry, {{"optimize_mode", mode}});
      Stream stream(*assessor, {.largest = 1, .both_infinities = true}, 13);
      for (int call = 0; call < 4000; ++call) {
        const std::string decision = stream.next();
        CAPTURE(decision);
        REQUIRE(decision.find("e+308") == std::string::npos);
      }
    }
  }
}

}  // namespace attune::hostile_reports_test
