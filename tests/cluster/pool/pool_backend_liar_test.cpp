// What a worker says goes through the coordinator to the manager as it is. A worker that lies costs
// the manager a warning, and no report that is in the spool.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/pool_fixture.h"

namespace attune::pool_backend_liar_test {

using namespace attune::test;
using Texts = std::vector<std::string>;

json report_event(int value, std::uint64_t position) {
  const TrialReport report{.job_id = "t0",
                           .text = fmt::format(R"({{"parameter_id": 0, "trial_job_id": "t0", )"
                                               R"("type": "PERIODICAL", "sequence": {0}, )"
                                               R"("value": "{0}"}})",
                                               value),
                           .metric = {},
                           .time = 5,
                           .position = position};
  return to_json(TrialEvent(report));
}

// The liar is leased e-t0-0, whose spool has two reports.
struct PoolLiar : PoolFixture {
  PoolLiar() {
    start_server();
    start_backend();
    REQUIRE(backend->start(trial_start(0)));
    liar = &start_client({"worker", "liar"}, to_json(worker_hello("liar", 4)));
    REQUIRE(run_until([&] { return liar->has("lease"); }));
    lease = liar->heard.back()["lease"];
    const fs::path trial = folder.path / "experiment/trials/t0";
    fs::create_directories(trial);
    std::ofstream spool(trial / "spool.0");
    for (const int value : {1, 2}) {
      const std::string text = report_event(value, 0)["text"];
      const std::string body = fmt::format("ME{:06}{}\n", text.size() + 1, text);
      spool << fmt::format("metric 5.000000 {}\n{}\n", body.size(), body);
      ends_at.push_back((ends_at.empty() ? 0 : ends_at.back()) + body.size());
    }
  }
  void info(std::uint64_t seq, const json& event) const {
    liar->say(
        {{"type", "info"}, {"task", "e-t0-0"}, {"lease", lease}, {"seq", seq}, {"event", event}});
  }
  void finish(const std::string& report, const std::string& state = "succeeded") const {
    liar->say({{"type", "finished"},
               {"task", "e-t0-0"},
               {"lease", lease},
               {"state", state},
               {"cause", ""},
               {"report", report}});
  }
  std::string end_with(const char* key, const json& value) const {
    json end = to_json(TrialEvent(TrialFinished{.job_id = "t0", .detail = ""}));
    end["position"] = ends_at.back();
    end[key] = value;
    return end.dump();  // as it is, NaN too
  }

  Client* liar = nullptr;
  LeaseId lease = 0;
  std::vector<std::uint64_t> ends_at;  // positions of the reports
};

TEST_CASE("pool backend: a word of a worker that cannot be understood is told and acknowledged") {
  const auto [event, word] = GENERATE(table<std::string, std::string>({
      {R"({"event": "problem", "text": "x", "after": "y"})", "after"},
      {R"({"event": "problem", "text": "x", "after": -1})", "after"},
      {R"({"event": "problem", "text": ["x"]})", "text"},
      {R"({"event": "report", "text": "{", "time": 5, "position": 7})", "worker"},
      {R"({"event": "won"})", "won"},
      {R"({"event": 5})", "event"},
      {R"({})", "event"},
      // No worker says these so: what it ends with is said once, by another message.
      {R"({"event": "finished", "how": "succeeded", "detail": "", "time": 1, "cpu_seconds": 0,
           "max_rss": 0})",
       "finished"},
      {R"({"event": "place", "waits_for": "", "ran": 1})", "place"},
      {R"({"event": "checkpoint", "checkpoint": "c", "bytes": 1, "error": ""})", "checkpoint"},
  }));
  PoolLiar f;
  f.info(1, *parse_json(event));
  REQUIRE(f.run_until([&] { return f.problems.size() == 1; }));
  CHECK_THAT(f.problems[0], Catch::Contains(word));
  CHECK(f.run_until([&] { return f.liar->has("info_ack"); }));
  f.finish(f.end_with("how", "succeeded"));
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == Ending::succeeded);
  CHECK(f.values() == Texts{"1", "2"});  // of the spool
  CHECK(f.forgotten());
  CHECK(f.ends.size() == 1);
}

TEST_CASE("pool backend: reports before one that cannot be understood count once") {
  PoolLiar f;
  f.info(1, report_event(1, f.ends_at[0]));
  json wrong = report_event(2, f.ends_at[1]);
  wrong["text"] = "no metric";
  f.info(2, wrong);
  f.info(3, report_event(2, f.ends_at[1]));
  f.finish(f.end_with("how", "succeeded"));
  REQUIRE(f.run_to_end());
  CHECK(f.values() == Texts{"1", "2"});
  CHECK(f.problems.size() == 1);
}

TEST_CASE("pool backend: of an end that cannot be understood the spool knows more") {
  PoolLiar f;
  const auto [report, word] = GENERATE_REF(table<std::string, std::string>({
      {f.end_with("position", "x"), "position"},
      {f.end_with("position", -1), "position"},
      {f.end_with("position", json::array()), "position"},
      {f.end_with("how", "won"), "won"},
      {f.end_with("cpu_seconds", "x"), "cpu_seconds"},
      {R"({"event": "finished", "how": "succeeded", "detail": "", "time": NaN, "cpu_seconds": 0,
           "max_rss": 0, "position": 0})",
       "time"},
      {R"({"event": "finished", "how": "succeeded", "detail": "", "time": 5, "cpu_seconds": 1e999,
           "max_rss": 0, "position": 0})",
       "cpu_seconds"},
      {R"({"event": "problem", "text": "x"})", "finished"},
      {"[]", "object"},
      {"garbage", "garbage"},
  }));
  const bool succeeded = GENERATE(false, true);
  if (succeeded) {
    const std::string body = "code=0 signal=0 oom=0 cpu=1 rss=1";
    std::ofstream(f.folder.path / "experiment/trials/t0/spool.0", std::ios::app)
        << fmt::format("exit 6.000000 {}\n{}\n", body.size(), body);
  }
  f.finish(report);
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == (succeeded ? Ending::succeeded : Ending::lost));
  if (!succeeded) CHECK_THAT(f.ends[0].detail, Catch::Contains(word));
  REQUIRE(f.problems.size() == 1);
  CHECK_THAT(f.problems[0], Catch::Contains(word));
  CHECK(f.values() == Texts{"1", "2"});
  CHECK(f.forgotten());
}

}  // namespace attune::pool_backend_liar_test
