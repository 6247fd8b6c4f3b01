// A daemon that is saved and loaded anywhere gives byte for byte the answers that it would have
// given without. Every registered tuner and assessor gets this for its word in the registry.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/halving_tuner.h"
#include "tests/support/moody_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune {
namespace {

using Script = std::vector<Frame>;
using Start = std::function<std::unique_ptr<Stepped>()>;

json through_text(const json& state) { return parse_json(dump_json(state)).value(); }

Frame metric(const std::string& type, const json& id, const std::string& job,
             const std::string& value, std::int64_t sequence = 0) {
  return {"ME", dump_json({{"parameter_id", id},
                           {"trial_job_id", job},
                           {"type", type},
                           {"sequence", sequence},
                           {"parameter_index", 1},
                           {"value", value}})};
}
Frame end(const std::string& job, const json& id, const std::string& event = "SUCCEEDED",
          const std::string& checkpoint = "") {
  json payload = {
      {"trial_job_id", job}, {"event", event}, {"hyper_params", dump_json({{"parameter_id", id}})}};
  if (!checkpoint.empty()) payload["checkpoint"] = checkpoint;
  return {"EN", dump_json(payload)};
}
Frame checkpoint(const std::string& job, const std::string& id) {
  return {"CK", dump_json({{"trial_job_id", job}, {"checkpoint", id}})};
}

std::string text_of(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) text += frame.code + frame.payload + "\n";
  return text;
}

std::string answer(Stepped& daemon, const Frame& command) {
  daemon.send(command.code, command.payload);
  return text_of(daemon.take());
}

// At every position of the script: saved, loaded into a fresh daemon, and gone on with the rest.
// Returns the answers.
std::string check_everywhere(const Start& start, const Script& script) {
  std::vector<std::string> answers, states;
  const auto undisturbed = start();
  const auto saving = start();
  for (const Frame& command : script) {
    const json state = saving->save();
    states.push_back(dump_json(state));
    REQUIRE(dump_json(saving->save()) == states.back());  // saving changes nothing
    answers.push_back(answer(*undisturbed, command));
    REQUIRE(answer(*saving, command) == answers.back());
  }
  const std::string last = dump_json(saving->save());
  for (std::size_t from = 0; from < script.size(); ++from) {
    CAPTURE(from, script[from].code, script[from].payload);
    const auto loaded = start();
    REQUIRE(loaded->load(parse_json(states[from]).value()).has_value());
    REQUIRE(dump_json(loaded->save()) == states[from]);
    for (std::size_t i = from; i < script.size(); ++i) {
      INFO("command " << i << ": " << script[i].code << script[i].payload);
      REQUIRE(answer(*loaded, script[i]) == answers[i]);
    }
    REQUIRE(dump_json(loaded->save()) == last);
  }
  std::string all;
  for (const std::string& one : answers) all += one;
  return all;
}

struct Family {  // of spaces, for tuners that do not take every one
  std::string space, other;
  std::string inside;   // a configuration of both
  std::string outside;  // one of the first only
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {R"({"x":{"_type":"uniform","_value":[0,1]},"n":{"_type":"choice","_value":[1,2,NaN,"a"]}})",
       R"({"x":{"_type":"uniform","_value":[0,0.7]},"n":{"_type":"choice","_value":["a",2,1]}})",
       R"({"x":0.5,"n":2})", R"({"x":0.9,"n":2})"},
      {R"({"k":{"_type":"randint","_value":[0,4]},"c":{"_type":"choice","_value":["a","b",
           {"_name":"d","deep":{"_type":"randint","_value":[0,3]}}]}})",
       R"({"k":{"_type":"randint","_value":[1,9]},"c":{"_type":"choice","_value":["b","a","e"]}})",
       R"({"k":2,"c":"b"})", R"({"k":0,"c":"b"})"},
      {R"({"all":{"_type":"choice","_value":[{"a":1},{"a":2},{"a":3},{"a":4},{"a":5},{"a":6},
           {"a":7},{"a":8},{"a":9},{"a":1},{"a":11},{"a":12},{"a":13},{"a":14},{"a":15}]}})",
       R"({"all":{"_type":"choice","_value":[{"a":1},{"a":2},{"a":20},{"a":21}]}})", R"({"a":2})",
       R"({"a":4})"}};
  return all;
}

// Commands of every kind, as a manager under plain NNI sends them, and as it should not.
Script every_kind(const Family& family) {
  const auto record = [&](const std::string& parameter, const std::string& more) {
    return R"({"parameter":)" + parameter + "," + more + "}";
  };
  Script script = {{"GE", "1"},  // before there is a space
                   metric("REQUEST_PARAMETER", nullptr, "early", ""),
                   {"IN", family.space},
                   {"GE", "4"},
                   {"PI", "token"}};
  for (int step = 0; step < 3; ++step) {
    for (int id : {0, 2, 3, 4}) {
      script.push_back(metric("PERIODICAL", id, "J" + std::to_string(id),
                              std::to_string(1.0 / (step + id + 1)), step));
    }
  }
  const Script more = {
      metric("PERIODICAL", 2, "J2", R"({"default": 0.3, "loss": NaN})", 5),  // beyond a gap
      metric("FINAL", 0, "J0", R"({"default": 0.4, "time": 7})"),
      end("J0", 0),
      metric("FINAL", 2, "J2", "Infinity"),
      end("J2", 2, "FAILED"),
      {"GE", "2"},
      metric("PERIODICAL", nullptr, "own", "0.1"),
      metric("PERIODICAL", nullptr, "own", "0.2", 2),
      metric("PERIODICAL", "text", "other", "0.2"),
      metric("REQUEST_PARAMETER", 3, "J3", ""),
      metric("FINAL", 3, "J3", "0.25"),
      metric("FINAL", 7, "J3", "0.125"),
      end("J3", 3, "SYS_CANCELED"),
      {"FD", "[" + record(family.inside, R"("value":"0.75")") + "," +
                 record(family.inside, R"("value":"0.5","trialJobId":"J4")") + "," +
                 record(family.outside, R"("value":"nonsense")") + "]"},
      {"AD", R"({"parameter_id":null,"parameter_source":"customized","parameters":)" +
                 family.inside + "}"},
      {"AD",
       R"([{"parameter_id":30,"parameter_source":"resumed","parameters":)" + family.outside + "}]"},
      metric("PERIODICAL", 4, "J4", "0.9", 3),
      {"GE", "3"},
      end("J4", 4, "EARLY_STOPPED"),
      {"SS", family.other},
      {"GE", "2"},
      metric("FINAL", 31, "J31", "0.6"),
      end("J31", 31),
      end("J32", 33, "USER_CANCELED"),           // names another trial
      metric("PERIODICAL", 33, "J33", "0.125"),  // which this one is
      metric("PERIODICAL", 33, "J33", "0.25", 2),
      metric("FINAL", 33, "J33", "0.25"),
      end("J33", 32, "NO SUCH EVENT"),
      {"SS", R"({"x":{"_type":"nonsense","_value":[]}})"},
      metric("FINAL", 34, "", "0.3"),
      end("J34", 34),
      {"FD", "[" + record(family.inside, R"("value":"0.75")") + "," +
                 record(family.inside, R"("value":"0.1","trialJobId":"new")") + "]"},
      metric("PERIODICAL", 35, "J35", "0.5", 0),
      metric("PERIODICAL", 35, "J35", "0.4", 1),
      metric("PERIODICAL", 35, "J35", "0.4", 1),
      metric("PERIODICAL", 35, "J35", "0.6", 2),
      metric("FINAL", 35, "J35", "0.6"),
      {"GE", "3"},
      {"SS", family.space},
      {"GE", "5"},
      end("own", nullptr),
      {"nonsense", ""},
      {"GE", "20"},
      end("J35", 35),
      {"GE", "2"}};
  script.insert(script.end(), more.begin(), more.end());
  return script;
}

// What makes an algorithm do what it is for within so few trials, and so little time.
json settings(const std::string& name) {
  if (name == "TPE") return {{"tpe_args", {{"n_startup_jobs", 2}}}};
  if (name == "Evolution") return {{"population_size", 3}};
  if (name == "Anneal") return {{"parallel_optimize", true}, {"constant_liar_type", "mean"}};
  if (name == "Curvefitting") return {{"epoch_num", 4}, {"start_step", 1}};
  if (name == "DNGO") return {{"num_epochs_per_training", 10}, {"sample_size", 50}};
  return json::object();
}

bool accepts(const TunerEntry& entry, const std::string& space) {
  const auto daemon = Stepped::make(entry.name, settings(entry.name));
  daemon->send("IN", space);
  return daemon->exit_code == kExitOk;
}

// Of every third tuner from number `first` on: all of them in one test are minutes under a
// sanitizer.
void check_every_third(std::size_t first) {
  const TunerRegistry tuners = builtin_tuners();
  const AssessorRegistry assessors = builtin_assessors();
  std::vector<std::string> judges = {""};
  for (const AssessorEntry& entry : assessors.entries()) judges.push_back(entry.name);
  for (std::size_t k = first; k < tuners.entries().size(); k += 3) {
    const TunerEntry& entry = tuners.entries()[k];
    std::vector<Family> accepted;
    for (const Family& family : families()) {
      if (accepts(entry, family.space)) accepted.push_back(family);
    }
    CAPTURE(entry.name);
    REQUIRE_FALSE(accepted.empty());
    // Each assessor and each family once: a script is replayed from every one of its commands.
    for (std::size_t i = 0; i < std::max(judges.size(), accepted.size()); ++i) {
      const std::string& judge = judges[i % judges.size()];
      const Family& family = accepted[i % accepted.size()];
      CAPTURE(judge, family.space);
      DispatcherOptions options;
      options.capabilities.sync = true;
      options.include_intermediate = true;
      const std::string answers = check_everywhere(
          [&] {
            return Stepped::make(entry.name, settings(entry.name), judge, settings(judge), options);
          },
          every_kind(family));
      for (const char* code : {"ID", "TR", "SP", "PO"}) CHECK(answers.find(code) != answers.npos);
    }
  }
}

TEST_CASE("exact state: a third of the tuners beside every assessor") { check_every_third(0); }

TEST_CASE("exact state: a second third of the tuners beside every assessor") {
  check_every_third(1);
}

TEST_CASE("exact state: the last third of the tuners beside every assessor") {
  check_every_third(2);
}

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

TEST_CASE("exact state: any commands, saved and loaded after each, are answered the same") {
  const std::string kind = GENERATE("plain", "capable", "assessed");
  DispatcherOptions options;
  options.include_intermediate = true;
  options.capabilities.sync = true;
  options.wants_reports = kind != "assessed";
  if (kind == "capable") {
    options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  }
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(kind, seed);
    const auto start = [&] {
      std::unique_ptr<Assessor> assessor;
      if (kind == "assessed") {
        assessor = make_assessor(builtin_assessors(), "Medianstop", {}, {}, 1).value();
      }
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
        const auto id = static_cast<TrialId>(rng.index(20));
        const std::vector<Offer> kept = {{id, id, {{"x", 0.5}}, {}}};
        const json former = original->save();
        original = start();
        REQUIRE(original->restart(through_text(former), kept).has_value());
        REQUIRE(copy->restart(state, kept).has_value());
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

}  // namespace
}  // namespace attune
