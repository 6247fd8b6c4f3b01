// Searches that pause, and any commands: a daemon that is saved and loaded anywhere gives byte for
// byte the answers that it would have given without.
#include <catch2/catch.hpp>

#include "tests/support/exact_state.h"
#include "tests/support/halving_tuner.h"
#include "tests/support/moody_tuner.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::exact_state_test {

using namespace exact_state;

TEST_CASE("exact state: a search that pauses and copies, saved anywhere, answers the same") {
  const bool capable = GENERATE(false, true);
  CAPTURE(capable);
  DispatcherOptions options;
  options.wants_reports = true;
  if (capable) {
    options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  }
  const Start start = [&] {
    return std::make_unique<Stepped>(std::make_unique<HalvingTuner>(4), false, nullptr, options);
  };
  Script script = {{"IN", R"({"x":{"_type":"uniform","_value":[0,1]}})"}, {"GE", "4"}};
  const auto reports = [&](int from, int to) {
    for (int step = from; step < to; ++step) {
      for (const char* job : {"A", "B", "C", "D"}) {
        script.push_back(metric("PERIODICAL", *job - 'A', job,
                                std::to_string(0.1 * (*job - 'A' + 1) / (step + 1)), step));
        if (step == 0) script.push_back(checkpoint(job, std::string("half") + job));
      }
    }
  };
  reports(0, 1);
  script.push_back({"GE", "1"});
  reports(1, 2);
  script.push_back({"GE", "3"});  // for copies and for trials whose pause is not answered yet
  script.push_back(end("A", 0, capable ? "PAUSED" : "EARLY_STOPPED", "c1"));
  script.push_back(end("B", 1, "PAUSE_FAILED"));
  script.push_back(end("C", 2, capable ? "PAUSED" : "EARLY_STOPPED"));
  script.push_back(end("D", 3, "EARLY_STOPPED"));
  script.push_back({"GE", "3"});
  for (int id = 4; id < 8; ++id) {
    const std::string job = std::string("N") + char('0' + id);
    for (int step = 0; step < 4; ++step) {
      script.push_back(metric("PERIODICAL", id, job, std::to_string(0.05 * id), step));
    }
    script.push_back(checkpoint(job, "d" + job));
    script.push_back(end(job, id, id % 2 == 0 && capable ? "PAUSED" : "EARLY_STOPPED", "e" + job));
    script.push_back({"GE", "1"});
  }
  script.push_back({"SS", R"({"x":{"_type":"uniform","_value":[0,1.5]}})"});
  script.push_back({"GE", "4"});
  const std::string answers = check_everywhere(start, script);
  if (capable) {
    for (const char* code : {"PA", "CP", "resume_trial_job_id", "checkpoint_from"}) {
      CHECK(answers.find(code) != answers.npos);
    }
  }
}

// ---- commands at random

class RandomManager {
 public:
  explicit RandomManager(std::uint64_t seed) : rng_(seed) {}

  Frame command() {
    switch (rng_.index(16)) {
      case 0:
      case 1:
      case 2:
        return {"GE", std::to_string(rng_.index(4))};
      case 3:
      case 4:
      case 5:
      case 6:
        return metric("PERIODICAL", id(), job(), value(), static_cast<std::int64_t>(rng_.index(4)));
      case 7:
        return metric("FINAL", id(), job(), value());
      case 8:
        return metric("REQUEST_PARAMETER", id(), job(), "");
      case 9:
      case 10:
      case 11:
        return random_end();
      case 12:
        return checkpoint(job(), rng_.index(4) == 0 ? "" : fresh());
      case 13:
        return {"AD",
                rng_.index(2) == 0 ? R"({"parameter_id":null,"parameters":{"x":0.9}})" : resumed()};
      case 14:
        return {"FD", R"([{"parameter":{"x":0.25},"value":")" + value() + R"(","trialJobId":")" +
                          job() + R"("},{"parameter":{"x":0.125},"value":"0.5"}])"};
      default:
        if (rng_.index(3) > 0) return {"PI", "t"};
        return {rng_.index(2) == 0 ? "IN" : "SS",
                rng_.index(2) == 0 ? R"({"x":{"_type":"uniform","_value":[0,1]}})"
                                   : R"({"x":{"_type":"uniform","_value":[0,0.6]}})"};
    }
  }

 private:
  json id() {
    const std::size_t kind = rng_.index(20);
    if (kind == 0) return nullptr;
    if (kind == 1) return "text";
    return rng_.index(12);
  }
  std::string job() {
    return rng_.index(30) == 0 ? "" : std::string(1, static_cast<char>('A' + rng_.index(8)));
  }
  std::string fresh() { return "c" + std::to_string(next_++); }
  std::string value() {
    constexpr const char* kValues[] = {"0.5", "0.25", "NaN", "-Infinity", "1e400", "7"};
    return kValues[rng_.index(6)];
  }
  Frame random_end() {
    constexpr const char* kEvents[] = {
        "SUCCEEDED",     "FAILED", "USER_CANCELED", "SYS_CANCELED", "EARLY_STOPPED",
        "EARLY_STOPPED", "PAUSED", "PAUSED",        "PAUSE_FAILED", "odd"};
    const std::string event = kEvents[rng_.index(10)];
    return end(job(), id(), event, event == "PAUSED" && rng_.index(2) == 0 ? fresh() : "");
  }
  std::string resumed() {
    json list = json::array();
    for (std::size_t left = rng_.index(3); left > 0; --left) {
      json one = {{"parameter_id", rng_.index(16)}, {"parameters", {{"x", 0.125}}}};
      if (rng_.index(2) == 0) {
        one["trial_job_id"] = job();
        one["paused"] = rng_.index(2) == 0;
        if (rng_.index(2) == 0) one["checkpoint"] = fresh();
      }
      list.push_back(std::move(one));
    }
    return dump_json(list);
  }

  Rng rng_;
  int next_ = 0;
};

// Makes every decision of an assessor, at random.
class MoodyAssessor final : public Assessor {
 public:
  explicit MoodyAssessor(std::uint64_t seed) : rng_(seed) {}
  Decision assess(TrialId trial, std::span<const Report>) override {
    const std::size_t mood = rng_.index(6);
    if (mood < 2) return {trial, Action::pause, "mood"};
    if (mood == 2) return {trial, Action::stop, "mood", rng_.index(2) == 0};
    return {trial, Action::keep_going, ""};
  }
  void trial_end(TrialId, End) override { rng_.uniform(); }  // so that every call counts
  json save() const override { return {{"rng", to_json(rng_)}}; }
  Result<void> load(const json& state) override {
    rng_ = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    return {};
  }

 private:
  Rng rng_;
};

TEST_CASE("exact state: any commands, saved and loaded after each, are answered the same") {
  const std::string kind = GENERATE("plain", "capable", "assessed", "plain, both", "capable, both");
  const bool both = kind.ends_with("both");
  DispatcherOptions options;
  options.include_intermediate = true;
  options.capabilities.sync = true;
  options.wants_reports = kind != "assessed";
  if (kind.starts_with("capable")) {
    options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(kind, seed);
    const auto start = [&] {
      std::unique_ptr<Assessor> assessor;
      if (kind == "assessed") {
        assessor = make_assessor(builtin_assessors(), "Medianstop", {}, {}, 1).value();
      }
      if (both) assessor = std::make_unique<MoodyAssessor>(seed);
      return std::make_unique<Stepped>(std::make_unique<MoodyTuner>(seed), false,
                                       std::move(assessor), options);
    };
    RandomManager manager(seed);
    Rng rng = Rng(seed).fork("restarts");
    auto original = start();
    auto copy = start();
    const std::size_t initialized = rng.index(4) == 0 ? rng.index(8) : 0;
    for (std::size_t i = 0; i < 150; ++i) {
      const Frame command = i == initialized
                                ? Frame{"IN", R"({"x":{"_type":"uniform","_value":[0,1]}})"}
                                : manager.command();
      CAPTURE(i, command.code, command.payload);
      const std::string expected = answer(*original, command);
      REQUIRE(answer(*copy, command) == expected);
      json state = through_text(copy->save());
      copy = start();
      if (rng.index(40) == 0) {  // the managers of both start anew
        const json former = original->save();
        original = start();
        REQUIRE(original->restart(through_text(former)).has_value());
        REQUIRE(copy->restart(state).has_value());
        state = through_text(copy->save());
        copy = start();
      }
      const auto loaded = copy->load(state);
      if (!loaded) FAIL(loaded.error().message);
      REQUIRE(dump_json(copy->save()) == dump_json(state));
      // Not everything that is remembered shows in the answers that follow.
      if (i % 10 == 0) REQUIRE(dump_json(original->save()) == dump_json(state));
    }
  }
}

}  // namespace attune::exact_state_test
