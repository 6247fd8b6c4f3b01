// What waits in the queues survives a state that is written as strict JSON.
#include "dispatcher/queued_json.h"
#include "tests/support/through_text.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::queued_json_test {

template <class Queue, class Message>
Message reload(const Message& message) {
  const json state = through_text(save_queued(Queue(message)));
  const auto loaded = load_queued<Queue>(state, 100);
  if (!loaded) FAIL(loaded.error().message);
  CHECK(save_queued(*loaded) == state);
  return std::get<Message>(*loaded);
}

TEST_CASE("queued messages: every kind comes back as it was") {
  const json odd = parse_json(R"({"b": NaN, "a": [1, 1.0, -0.0]})").value();
  const auto space = reload<TuneMessage>(SetSpace{odd, true});
  CHECK(space.search_space.dump() == odd.dump());
  CHECK(std::isnan(space.search_space["b"].get<double>()));
  CHECK(space.initial);
  const auto ask = reload<TuneMessage>(AskTrials{3, 35, 100});
  CHECK(std::tuple(ask.request, ask.first, ask.count) == std::tuple(3, 35, 100));
  const auto for_job = reload<TuneMessage>(AskForJob{4, "job", 2});
  CHECK(std::tuple(for_job.id, for_job.trial_job_id, for_job.parameter_index) ==
        std::tuple(4, "job", 2));
  const auto final = reload<TuneMessage>(FinalResult{-7, odd});
  CHECK((final.trial == -7 && final.value.dump() == odd.dump()));
  const auto stopped = reload<TuneMessage>(StoppedEarly{7, odd, 0.5});
  CHECK((stopped.trial == 7 && stopped.last.dump() == odd.dump() && stopped.expected == 0.5));
  const auto ended = reload<TuneMessage>(TrialsEnded{{1, 2}, End::stopped});
  CHECK((ended.trials == std::vector<TrialId>{1, 2} && ended.end == End::stopped));
  CHECK_FALSE(ended.declined);
  CHECK(reload<TuneMessage>(TrialsEnded{{1}, End::stopped, true}).declined);
  const auto paused = reload<TuneMessage>(TrialsPaused{{5}, true});
  CHECK((paused.trials == std::vector<TrialId>{5} && paused.failed && !paused.decided));
  CHECK(reload<TuneMessage>(TrialsPaused{{5}, false, true}).decided);
  const auto answered = reload<TuneMessage>(CheckpointAnswered{6, true});
  CHECK((answered.trial == 6 && answered.saved));
  ImportResults import;
  import.records.push_back({.parameters = odd, .value = 0.5, .index = 3});
  import.records.push_back({.parameters = {}, .value = "x", .trial = 9, .has_job = true});
  const auto imported = reload<TuneMessage>(import);
  REQUIRE(imported.records.size() == 2);
  CHECK((imported.records[0].index == 3 && !imported.records[0].trial));
  CHECK((imported.records[1].trial == 9 && imported.records[1].has_job));
  const auto adopt = reload<TuneMessage>(AdoptTrial{6, odd, true, true});
  CHECK((adopt.trial == 6 && adopt.paused && adopt.unknown));
  CHECK(reload<TuneMessage>(ReviveTrial{8}).trial == 8);
  const auto no_more = reload<TuneMessage>(Refuse{NoMore{1, "too many"}});
  CHECK(std::get<NoMore>(no_more.answer).reason == "too many");
  const auto nothing = reload<TuneMessage>(Refuse{ParameterForJob{1, "job", 0, nullptr}});
  CHECK(std::get<ParameterForJob>(nothing.answer).parameters.is_null());
  CHECK(reload<TuneMessage>(Barrier{12}).number == 12);

  const auto report = reload<AssessMessage>(IntermediateResult{1, 2, odd});
  CHECK((report.trial == 1 && report.step == 2 && report.value.dump() == odd.dump()));
  CHECK(reload<TuneMessage>(IntermediateResult{1, 2, odd}).step == 2);
  CHECK(reload<AssessMessage>(TrialsEnded{{3}, End::failed}).end == End::failed);
  CHECK(reload<AssessMessage>(Barrier{1}).number == 1);
}

TEST_CASE("queued messages: damage is an error") {
  for (const char* text :
       {R"([])", R"({"kind": "thing"})", R"({"kind": "save"})",
        R"({"kind": "ask", "request": 0, "first": 0, "count": 101})",
        R"({"kind": "ask", "request": 0, "first": 0, "count": 0})",
        R"({"kind": "ask", "request": 5, "first": 4, "count": 1})",
        R"({"kind": "ended", "trials": [1], "end": 9})",
        R"({"kind": "ended", "trials": ["1"], "end": 0})",
        R"({"kind": "ended", "trials": [1], "end": 2, "declined": 1})",
        R"({"kind": "paused", "trials": [1], "failed": false, "decided": "yes"})",
        R"({"kind": "barrier", "number": -1})",
        R"({"kind": "space", "space": "{", "initial": true})",
        R"({"kind": "space", "space": "{}", "initial": 1})",
        R"({"kind": "refuse", "answer": {"kind": "space"}})"}) {
    CAPTURE(text);
    CHECK_FALSE(load_queued<TuneMessage>(parse_json(text).value(), 100));
  }
  CHECK_FALSE(load_queued<AssessMessage>(
      parse_json(R"({"kind": "ask", "request": 0, "first": 0, "count": 1})").value(), 100));
}

}  // namespace attune::queued_json_test
