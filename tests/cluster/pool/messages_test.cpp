// Names and numbers of others: what is shown, stored or becomes a path follows one rule, and no
// number is infinite or none.
#include "cluster/pool/messages.h"

#include <catch2/catch.hpp>

#include "cluster/pool/backend/worker_words.h"
#include "cluster/pool/fields.h"
#include "cluster/pool/trial_event.h"
#include "tests/cluster/pool/test_trials.h"

namespace attune::messages_test {

using namespace attune::test;
using Catch::Contains;

const json kBadNames = {std::string("a\0b", 3), "\x1b[2J", "../x", "..", ".", "", "a/b", "a b"};
const json kBadNumbers = {std::nan(""), HUGE_VAL, -HUGE_VAL, json(), "1"};
constexpr char kRule[] = "letters, digits";

json report_event(double time) {
  return {{"event", "report"},
          {"text", R"({"parameter_id": 0, "trial_job_id": "t0", "type": "PERIODICAL",
                       "sequence": 0, "value": "1"})"},
          {"time", time},
          {"position", 7}};
}

json end_event() {
  return to_json(TrialEvent(TrialFinished{.job_id = "t0", .detail = "", .time = 5}));
}

TEST_CASE("messages: a worker with a name that is none is refused in words") {
  const json good = to_json(worker_hello("w", 1));
  REQUIRE(parse_worker_hello(good));
  for (const json& name : kBadNames) {
    CAPTURE(dump_json(name));
    for (const char* key : {"worker", "incarnation"}) {
      json hello = good;
      hello[key] = name;
      const auto parsed = parse_worker_hello(hello);
      REQUIRE_FALSE(parsed);
      CHECK_THAT(parsed.error().message, Contains(key) && Contains(kRule));
    }
    for (const char* key : {"labels", "kinds"}) {
      json hello = good;
      hello[key] = {"good", name};
      const auto parsed = parse_worker_hello(hello);
      REQUIRE_FALSE(parsed);
      CHECK_THAT(parsed.error().message, Contains(key) && Contains(kRule));
    }
    json hello = good;
    hello["capacity"]["custom"][name.get<std::string>()] = 1;
    const auto parsed = parse_worker_hello(hello);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message, Contains("custom") && Contains(kRule));
    hello = good;
    hello["running"] = {{{"task", name}, {"lease", 1}}};
    CHECK_FALSE(parse_worker_hello(hello));
  }
}

TEST_CASE("messages: a worker's host is any text without control characters") {
  json hello = to_json(worker_hello("w", 1));
  for (const char* host : {"node7 (job 12)", "\xc3\xa4rger.local"}) {
    hello["host"] = host;
    CHECK(parse_worker_hello(hello));
  }
  for (const json& host : {json(std::string("a\0b", 3)), json("\x1b[2J"), json("a\nb"), json("")}) {
    hello["host"] = host;
    const auto parsed = parse_worker_hello(hello);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message, Contains("host"));
  }
}

TEST_CASE("messages: a task with a name that is none is refused in words") {
  const TemporaryFolder folder;
  const json good = to_json(trial_spec(folder.path, 0));
  REQUIRE(parse_task_spec(good));
  for (const json& name : kBadNames) {
    CAPTURE(dump_json(name));
    for (const auto& [key, value] : std::vector<std::pair<const char*, json>>{
             {"id", name},
             {"kind", name},
             {"labels", json::array({name})},
             {"uses", json::array({name})},
             {"owns", {{{"id", name}, {"settings", "{}"}}}},
             {"needs", {{"custom", {{name.get<std::string>(), 1}}}}}}) {
      json spec = good;
      spec[key] = value;
      const auto parsed = parse_task_spec(spec);
      CAPTURE(key);
      REQUIRE_FALSE(parsed);
      CHECK_THAT(parsed.error().message, Contains(kRule));
    }
    if (name == "") continue;  // none is asked for
    for (const char* key : {"worker", "client"}) {
      json spec = good;
      spec[key] = name;
      const auto parsed = parse_task_spec(spec);
      REQUIRE_FALSE(parsed);
      CHECK_THAT(parsed.error().message, Contains(key) && Contains(kRule));
    }
    CHECK_FALSE(held_at({{"task", name}, {"lease", 1}}));
    json record = {{"edge", "leased"}, {"at", 1}, {"task", "t"}, {"worker", name}, {"number", 1}};
    CHECK_FALSE(record_from_json(record));
    record["worker"] = "w";
    record["task"] = name;
    CHECK_FALSE(record_from_json(record));
  }
}

TEST_CASE("messages: times and sizes that are no numbers are refused") {
  REQUIRE(parse_trial_event("t0", report_event(5)));
  REQUIRE(parse_trial_event("t0", end_event()));
  for (const json& number : kBadNumbers) {
    CAPTURE(number.dump());
    json event = report_event(5);
    event["time"] = number;
    const auto report = parse_trial_event("t0", event);
    REQUIRE_FALSE(report);
    CHECK_THAT(report.error().message, Contains("time"));
    for (const char* key : {"time", "cpu_seconds", "max_rss"}) {
      json end = end_event();
      end[key] = number;
      const auto parsed = parse_trial_event("t0", end);
      REQUIRE_FALSE(parsed);
      CHECK_THAT(parsed.error().message, Contains(key));
    }
    const json stored = {
        {"event", "checkpoint"}, {"checkpoint", "c"}, {"bytes", number}, {"error", ""}};
    CHECK_FALSE(parse_trial_event("t0", stored));
    CHECK_FALSE(parse_trial_event("t0", {{"event", "place"}, {"waits_for", ""}, {"ran", number}}));
  }
}

TEST_CASE("messages: where a coordinator says that an attempt runs is checked") {
  const json good = {{"state", "running"}, {"worker", "w"}, {"host", "node 1"}, {"seconds", 3}};
  const auto place = parse_place(good);
  REQUIRE(place);
  CHECK(*place ==
        TrialPlace{.job_id = {}, .waits_for = {}, .ran = 3, .worker = "w", .host = "node 1"});
  for (const json& number : kBadNumbers) {
    json message = good;
    message["seconds"] = number;
    const auto parsed = parse_place(message);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message, Contains("seconds"));
  }
  for (const json& name : kBadNames) {
    json message = good;
    message["worker"] = name;
    const auto parsed = parse_place(message);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message, Contains("worker") && Contains(kRule));
  }
  json message = good;
  message["host"] = "\x1b[2J";
  CHECK_FALSE(parse_place(message));
  message["host"] = "h";
  message["seconds"] = -1;
  CHECK_FALSE(parse_place(message));
}

}  // namespace attune::messages_test
