// The dispatcher stepped by hand: ids, order, the gate, and what happens to bad or late commands.
#include <catch2/catch.hpp>

#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune::dispatcher_test {

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

std::string metric(const std::string& type, const json& parameter_id, const std::string& job,
                   const std::string& value, int sequence = 0) {
  return dump_json({{"parameter_id", parameter_id},
                    {"trial_job_id", job},
                    {"type", type},
                    {"sequence", sequence},
                    {"value", value}});
}
std::string end(const std::string& job, const json& parameter_id,
                const std::string& event = "SUCCEEDED") {
  return dump_json({{"trial_job_id", job},
                    {"event", event},
                    {"hyper_params", dump_json({{"parameter_id", parameter_id}})}});
}

struct Fixture {
  explicit Fixture(DispatcherOptions options = {}, bool maximize = false) {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    daemon = std::make_unique<Stepped>(std::move(owned), maximize, nullptr, options);
  }
  std::string said() { return outlines(daemon->take()); }

  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE("a trial from request to end") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", "2");
  CHECK(f.said() == "ID, TR 0, TR 1");
  f.daemon->send("ME", metric("FINAL", 1, "B", "0.5"));
  f.daemon->send("EN", end("B", 1));
  f.daemon->send("EN", end("A", 0, "FAILED"));
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 2");
  CHECK(f.tuner->told == std::vector<std::string>{"1 completed 0.5", "0 failed -"});
}

TEST_CASE("maximised objectives are negated once, metrics are not") {
  Fixture f({}, /*maximize=*/true);
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", "1");
  f.daemon->send("ME", metric("FINAL", 0, "A", R"({"default": 0.5, "time": 3, "note": "x"})"));
  CHECK(f.tuner->told == std::vector<std::string>{"0 completed -0.5 default=0.5 time=3"});
}

TEST_CASE("final results that cannot be used are told as diverged, and only once") {
  const auto value = GENERATE("NaN", "Infinity", "\\\"text\\\"", "null", "[1]", "{\\\"acc\\\": 1}");
  CAPTURE(value);
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", "1");
  const std::string payload = R"({"parameter_id":0,"trial_job_id":"A","type":"FINAL","value":")" +
                              std::string(value) + "\"}";
  f.daemon->send("ME", payload);
  f.daemon->send("ME", metric("FINAL", 0, "A", "0.25"));
  f.daemon->send("EN", end("A", 0));
  f.daemon->send("EN", end("A", 0));
  REQUIRE(f.tuner->told.size() == 1);
  CHECK(f.tuner->told[0].starts_with("0 diverged -"));
}

TEST_CASE("results nobody waits for are ignored") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", "1");
  f.daemon->send("ME", metric("FINAL", 99, "Z", "0.5"));       // never given out
  f.daemon->send("ME", metric("FINAL", nullptr, "C", "0.5"));  // the manager's own trial
  f.daemon->send("ME", metric("FINAL", "0-1_2", "D", "0.5"));  // an advisor's id
  f.daemon->send("EN", end("C", nullptr, "FAILED"));
  f.daemon->send("EN", end("A", 0, "EARLY_STOPPED"));
  f.daemon->send("ME", metric("FINAL", 0, "A", "0.5"));  // after its end
  CHECK(f.tuner->told == std::vector<std::string>{"0 stopped -"});
}

TEST_CASE("NotYet is answered later, Exhausted once a request") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.tuner->script = {"propose", "not yet", "not yet"};
  f.daemon->send("GE", "3");
  CHECK(f.said() == "ID, TR 0");
  SECTION("asked again after a result, in order") {
    f.tuner->script = {"propose", "not yet"};
    f.daemon->send("ME", metric("FINAL", 0, "A", "1"));
    CHECK(f.said() == "TR 1");
    f.tuner->script = {"propose"};
    f.daemon->send("EN", end("B", 1, "FAILED"));
    CHECK(f.said() == "TR 2");
  }
  SECTION("no more for the rest") {
    f.tuner->script = {"exhausted", "exhausted"};
    f.daemon->send("EN", end("A", 0, "FAILED"));
    CHECK(f.said() == "NO 0");
  }
  SECTION("a tuner that waits while nothing runs is taken as exhausted") {
    f.tuner->script = {"not yet", "not yet"};
    f.daemon->send("EN", end("A", 0, "FAILED"));
    CHECK(f.said() == "NO 0");
    f.daemon->send("GE", "1");
    CHECK(f.said() == "TR 3");
  }
}

TEST_CASE("a large request is answered in pieces, with one NoMoreTrialJobs") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.tuner->proposals = 1000;
  f.daemon->send("GE", "5000");
  const auto frames = f.daemon->take();
  CHECK(frames.size() == 1 + 1000 + 1);
  CHECK(frames.back().code == "NO");
  CHECK(f.tuner->largest_ask == 16);
}

TEST_CASE("requests before the first space wait for it") {
  Fixture f;
  f.daemon->send("GE", "2");
  CHECK(f.said().empty());
  f.daemon->send("IN", kSpace);
  CHECK(f.said() == "ID, TR 0, TR 1");
}

TEST_CASE("odd counts ask for nothing") {
  const auto count = GENERATE("0", "-1", "\"2\"", "", "1e3");
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", count);
  f.daemon->send("GE", "1");
  CHECK(f.said() == "ID, TR 0");
}

TEST_CASE("another search space: results and running trials that fit are carried over") {
  Fixture f;
  f.daemon->send("IN", R"({"x":{"_type":"uniform","_value":[0,1]}})");
  f.tuner->next = 0.25;
  f.daemon->send("GE", "1");
  f.tuner->next = 0.75;
  f.daemon->send("GE", "3");
  f.daemon->send("ME", metric("FINAL", 0, "A", "1"));
  f.daemon->send("ME", metric("FINAL", 1, "B", "2"));
  f.tuner->told.clear();
  SECTION("a narrower one") {
    f.daemon->send("SS", R"({"x":{"_type":"uniform","_value":[0.5,1]}})");
    CHECK(f.tuner->told == std::vector<std::string>{"1 completed 2"});
    CHECK(f.tuner->adopted == std::vector<TrialId>{2, 3});
    f.daemon->send("ME", metric("FINAL", 2, "C", "3"));
    CHECK(f.tuner->told.back() == "2 completed 3");
  }
  SECTION("other names: nothing fits, late results do no harm") {
    f.daemon->send("SS", R"({"y":{"_type":"uniform","_value":[0,1]}})");
    f.daemon->send("ME", metric("FINAL", 2, "C", "3"));
    f.daemon->send("EN", end("D", 3, "FAILED"));
    CHECK(f.tuner->told.empty());
    CHECK(f.tuner->adopted.empty());
  }
  SECTION("an invalid one changes nothing") {
    f.daemon->send("SS", R"({"x":{"_type":"uniform","_value":[1,0]}})");
    f.daemon->send("ME", metric("FINAL", 2, "C", "3"));
    CHECK(f.tuner->told == std::vector<std::string>{"2 completed 3"});
    CHECK(f.daemon->exit_code == kExitOk);
  }
}

TEST_CASE("an unusable first space is fatal, with its path") {
  Fixture f;
  f.daemon->send("IN", R"({"lr":{"_type":"loguniform","_value":[1,0.1]}})");
  CHECK(f.daemon->exit_code == kExitConfiguration);
  CHECK(f.daemon->failure == "search_space.lr._value: high must exceed low");
  CHECK(f.said().empty());
}

TEST_CASE("imports: good records count, the others are left out") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("FD", R"([{"parameter":{"x":0.5},"value":"0.25"}, {"parameter":{"zz":1},"value":1},
                           {"parameter":{"x":0.5},"value":"\"bad\""}, 7,
                           {"parameter":{"x":0},"value":{"default":0}}])");
  CHECK(f.tuner->told == std::vector<std::string>{"-1 imported 0.25", "-1 imported 0"});
}

TEST_CASE("customized trials take an id, recovered ones keep theirs") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  SECTION("one, as NNI up to 2.8") {
    f.daemon->send("AD", R"({"parameter_id":null,"parameters":{"x":0.25}})");
    f.daemon->send("GE", "1");
    CHECK(f.said() == "ID, TR 1");
    CHECK(f.tuner->adopted == std::vector<TrialId>{0});
    f.daemon->send("ME", metric("FINAL", 0, "A", "4"));
    CHECK(f.tuner->told == std::vector<std::string>{"0 completed 4"});
  }
  SECTION("a list, as NNI 2.10 and 3.0") {
    f.daemon->send("AD", R"([{"parameter_id":5,"parameters":{"x":0.25}},{"parameter_id":null},
                             {"parameter_id":"0-1"},{"parameter_id":3,"parameters":{"y":1}}])");
    f.daemon->send("GE", "1");
    CHECK(f.said() == "ID, TR 6");
    CHECK(f.tuner->adopted == std::vector<TrialId>{5});
  }
}

TEST_CASE("a running job may ask for more parameters") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", "1");
  const std::string request =
      R"({"trial_job_id":"A","type":"REQUEST_PARAMETER","sequence":0,"parameter_index":1})";
  f.daemon->send("ME", request);
  CHECK(f.said() == "ID, TR 0, SP 1");
  f.tuner->script = {"exhausted"};
  f.daemon->send("ME", request);
  const auto frames = f.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(parse_json(frames[0].payload)->at("parameters").is_null());
  SECTION("its end ends all of its trials") {
    f.daemon->send("ME", metric("PERIODICAL", 0, "A", "1"));
    f.daemon->send("EN", end("A", 0, "FAILED"));
    CHECK(f.tuner->told == std::vector<std::string>{"1 failed -", "0 failed -"});
  }
}

TEST_CASE("a job that has ended gets no more parameters") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("GE", "1");
  f.daemon->send("EN", end("A", 0));
  f.daemon->send("ME", R"({"trial_job_id":"A","type":"REQUEST_PARAMETER","parameter_index":1})");
  f.daemon->send("GE", "1");
  CHECK(f.said() == "ID, TR 0, TR 1");
}

TEST_CASE("resumed trials with ids that no number holds are left out") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("AD", R"([{"parameter_id":9007199254740991,"parameters":{"x":0.5}}])");
  f.daemon->send("GE", "1");
  CHECK(f.said() == "ID, TR 0");
}

TEST_CASE("commands that are not for the daemon, unknown or malformed change nothing") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->send("KI", "\"A\"");
  f.daemon->send("ZZ", "1");
  f.daemon->send("GE", "{nope");
  f.daemon->send("ME", "{}");
  f.daemon->send("PI", "");
  f.daemon->send("GE", "1");
  CHECK(f.said() == "ID, TR 0");
  f.daemon->send("TE");
  CHECK(f.daemon->terminated);
}

TEST_CASE("a ping with a token comes back after both workers, for managers that sync") {
  DispatcherOptions options;
  options.capabilities.sync = true;
  Fixture f(options);
  f.daemon->accept("IN", kSpace);
  f.daemon->accept("PI", "a");
  f.daemon->accept("PI", "a");
  while (f.daemon->step_tune()) {
  }
  CHECK(f.said() == "ID");
  f.daemon->settle();
  CHECK(f.said() == "PO, PO");
}

TEST_CASE("the journal has every command and answer in one order") {
  Fixture f;
  f.daemon->send("IN", kSpace);
  f.daemon->accept("GE", "1");
  f.daemon->accept("PI", "");
  f.daemon->settle();
  std::string order;
  for (const auto& record : f.daemon->journal.records) {
    if (record.kind == RecordKind::command) order += ">" + record.payload.substr(0, 2);
    if (record.kind == RecordKind::tune) order += "t";
    if (record.kind == RecordKind::answer) order += "<" + record.payload.substr(0, 2);
    order += ' ';
  }
  CHECK(order == ">IN t <ID >GE >PI t <TR ");
}

}  // namespace attune::dispatcher_test
