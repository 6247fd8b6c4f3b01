// Every limit of what is remembered: at it, one above, far above; and the daemon goes on.
#include <catch2/catch.hpp>
#include <set>

#include "base/saved_numbers.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune::limits_test {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

std::unique_ptr<Stepped> start(const Limits& limits, const std::string& assessor = "") {
  DispatcherOptions options;
  options.capabilities.sync = options.capabilities.reason = true;
  options.limits = limits;
  auto daemon = Stepped::make("Random", {{"seed", 1}}, assessor, json::object(), options);
  daemon->send("IN", kSpace);
  daemon->take();
  return daemon;
}

std::string metric(const json& id, const std::string& job, const std::string& type, int sequence,
                   double value = 0.5) {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", job},
                    {"type", type},
                    {"sequence", sequence},
                    {"value", dump_json(value)}});
}

std::string trial_end(const std::string& job, const json& id) {
  return dump_json({{"trial_job_id", job},
                    {"event", "SUCCEEDED"},
                    {"hyper_params", dump_json({{"parameter_id", id}})}});
}

// What a request is answered with: trials, and the reason of a refusal.
struct Answered {
  std::vector<std::int64_t> trials;
  std::vector<std::string> refusals;
};
Answered ask(Stepped& daemon, const std::string& count) {
  daemon.take();
  daemon.send("GE", count);
  Answered answered;
  for (const Frame& frame : daemon.take()) {
    const Command command = decode(frame).value();
    if (const auto* trial = std::get_if<NewTrialJob>(&command)) {
      answered.trials.push_back(std::get<std::int64_t>(trial->parameter_id));
    } else {
      answered.refusals.push_back(std::get<NoMoreTrialJobs>(command).reason);
    }
  }
  return answered;
}

TEST_CASE("a request beyond the limit gets what there is room for, then one NO with the reason") {
  const auto daemon = start({.request = 3, .outstanding = 5});
  CHECK(ask(*daemon, "3").trials.size() == 3);

  const auto beyond = ask(*daemon, "4");
  CHECK(beyond.trials == std::vector<std::int64_t>{3, 4});
  REQUIRE(beyond.refusals.size() == 1);
  CHECK(beyond.refusals[0] ==
        "2 of 4 trials are refused: at most 3 of one request (--max-request) and 5 that have not "
        "ended (--max-outstanding)");

  const auto full = ask(*daemon, "9223372036854775807");
  CHECK(full.trials.empty());
  CHECK(full.refusals.size() == 1);

  // A trial that ends makes room for one.
  daemon->send("EN", trial_end("A", 1));
  const auto again = ask(*daemon, "1");
  CHECK(again.trials.size() == 1);
  CHECK(again.refusals.empty());
  CHECK(ask(*daemon, "1").refusals.size() == 1);
  // Its result alone does not: it has not ended.
  daemon->send("ME", metric(0, "B", "FINAL", 0));
  CHECK(ask(*daemon, "1").refusals.size() == 1);
}

TEST_CASE("the NO of a refused part has an id of its own, and follows the trials") {
  const auto daemon = start({.request = 2, .outstanding = 10});
  daemon->send("GE", "3");
  CHECK(outlines(daemon->take()) == "TR 0, TR 1, NO 2");
  daemon->send("GE", "1");
  CHECK(outlines(daemon->take()) == "TR 3");
}

TEST_CASE("what an exhausted tuner will not give is not outstanding") {
  DispatcherOptions options;
  options.limits.outstanding = 4;
  auto daemon = Stepped::make("GridSearch", json::object(), "", json::object(), options);
  daemon->send("IN", R"({"x":{"_type":"choice","_value":[1,2,3]}})");
  daemon->take();
  CHECK(ask(*daemon, "4").trials.size() == 3);
  for (int i = 0; i < 10; ++i) {
    const auto answered = ask(*daemon, "1");
    CHECK(answered.trials.empty());
    CHECK(answered.refusals == std::vector<std::string>{""});  // by the tuner
  }
}

TEST_CASE("a job that wants parameters without end gets none beyond the limit") {
  const auto daemon = start({.outstanding = 3});
  ask(*daemon, "1");
  const std::string wanted =
      R"({"parameter_id":0,"trial_job_id":"A","type":"REQUEST_PARAMETER","parameter_index":1})";
  for (int i = 0; i < 4; ++i) daemon->send("ME", wanted);
  std::vector<bool> given;
  for (const Frame& frame : daemon->take()) {
    const Command command = decode(frame).value();
    given.push_back(!std::get<SendTrialJobParameter>(command).parameters.is_null());
  }
  CHECK(given == std::vector<bool>{true, true, false, false});
  daemon->send("EN", trial_end("A", 0));
  // What the job ran has ended with it; of trial 0 nothing was heard yet.
  CHECK(ask(*daemon, "3").trials.size() == 2);
}

TEST_CASE("added trials count as outstanding") {
  const auto daemon = start({.outstanding = 2});
  const std::string added = R"({"parameter_id":null,"parameters":{"x":0.5}})";
  for (int i = 0; i < 3; ++i) daemon->send("AD", added);
  CHECK(ask(*daemon, "1").trials.empty());
  daemon->send("EN", trial_end("A", 0));
  CHECK(ask(*daemon, "1").trials.size() == 1);
  daemon->send("AD", R"([{"parameter_id":7,"parameters":{"x":0.25}}])");
  daemon->send("EN", trial_end("B", 1));
  daemon->send("AD", R"([{"parameter_id":7,"parameters":{"x":0.25}}])");
  CHECK(ask(*daemon, "1").trials.empty());
}

// ---- intermediate results

std::size_t running_reports(Stepped& daemon) {
  std::size_t count = 0;
  const json state = daemon.save();
  for (const json& trial : state["assessor"]["running"]) {
    count += numbers_at(trial["reports"], "steps").value().size();
  }
  return count;
}

TEST_CASE("intermediate results beyond the limit of a trial are ignored, with one warning") {
  const auto daemon = start({.history = 10}, "Medianstop");
  ask(*daemon, "2");
  for (int step = 0; step < 10; ++step) {
    daemon->send("ME", metric(0, "A", "PERIODICAL", step));
    CHECK(running_reports(*daemon) == static_cast<std::size_t>(step) + 1);
  }
  for (int step = 10; step < 1000; ++step) daemon->send("ME", metric(0, "A", "PERIODICAL", step));
  CHECK(running_reports(*daemon) == 10);
  // Another trial has its own.
  daemon->send("ME", metric(1, "B", "PERIODICAL", 0));
  CHECK(running_reports(*daemon) == 11);
  // The final result counts, and what ends gives its room back.
  daemon->send("ME", metric(0, "A", "FINAL", 0));
  daemon->send("EN", trial_end("A", 0));
  CHECK(running_reports(*daemon) == 1);
}

TEST_CASE("the intermediate results of all trials are bounded in bytes") {
  const std::string one = metric(0, "A", "PERIODICAL", 0);
  const auto daemon = start({.histories = 3 * one.size()}, "Medianstop");
  ask(*daemon, "4");
  for (int trial = 0; trial < 4; ++trial) {
    daemon->send("ME",
                 metric(trial, std::string(1, static_cast<char>('A' + trial)), "PERIODICAL", 0));
  }
  CHECK(running_reports(*daemon) == 3);
  daemon->send("EN", trial_end("A", 0));
  daemon->send("ME", metric(3, "D", "PERIODICAL", 0));
  CHECK(running_reports(*daemon) == 3);
}

// ---- jobs

TEST_CASE("jobs that are none of our trials are known up to the limit") {
  const auto daemon = start({.jobs = 5}, "Medianstop");
  for (int i = 0; i < 1000; ++i) {
    daemon->send("ME", metric(nullptr, "foreign-" + std::to_string(i), "PERIODICAL", 0));
  }
  CHECK(daemon->save()["jobs"]["names"].size() == 5);
  // Ever new jobs for one trial of ours do not help: the first is the trial's, the others are not.
  ask(*daemon, "2");
  for (int i = 0; i < 1000; ++i) {
    daemon->send("ME", metric(0, "more-" + std::to_string(i), "PERIODICAL", 0));
    daemon->send("EN", trial_end("ended-" + std::to_string(i), "none"));
  }
  CHECK(daemon->save()["jobs"]["names"].size() == 6);
  // A trial that was given out has its job, however many others there are.
  daemon->send("ME", metric(1, "ours", "FINAL", 0));
  daemon->send("EN", trial_end("ours", 1));
  CHECK(daemon->save()["jobs"]["names"].size() == 7);
  CHECK(ask(*daemon, "1").trials.size() == 1);
}

TEST_CASE("metrics without a job and without a trial of ours leave nothing behind") {
  const auto daemon = start({}, "Medianstop");
  for (int i = 0; i < 100; ++i) {
    daemon->send("ME", metric(nullptr, "", "PERIODICAL", 0));
    daemon->send("ME", metric("text", "", "PERIODICAL", 0));
  }
  const json state = daemon->save();
  CHECK(state["assessor"]["running"].empty());
  CHECK(state["jobs"]["names"].empty());
}

TEST_CASE("imported results are counted, and those of too many jobs come without them") {
  const auto daemon = start({.jobs = 2, .imports = 4});
  json list = json::array();
  for (int i = 0; i < 10; ++i) {
    list.push_back({{"parameter", {{"x", i / 16.0}}},
                    {"value", "1"},
                    {"trialJobId", "job-" + std::to_string(i)}});
  }
  daemon->send("FD", dump_json(list));
  const json state = daemon->save();
  CHECK(state["jobs"]["names"].size() == 2);
  CHECK(ask(*daemon, "1").trials.size() == 1);
  // What is imported again under a job that is known costs nothing.
  daemon->send("FD", dump_json(list));
  CHECK(daemon->save()["jobs"]["names"].size() == 2);
}

// ---- numbers and ids

TEST_CASE("the largest id and the largest step are of no harm to a state that is saved") {
  const auto daemon = start({}, "Medianstop");
  daemon->send("AD", R"([{"parameter_id":4503599627370496,"parameters":{"x":0.5}}])");
  ask(*daemon, "3");
  daemon->send("ME", metric(0, "A", "PERIODICAL", 0));
  daemon->send("ME", R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL",)"
                     R"("sequence":4503599627370496,"value":"1"})");
  const json state = daemon->save();
  CHECK(running_reports(*daemon) == 2);
  const auto again = Stepped::make("Random", {{"seed", 1}}, "Medianstop");
  CHECK(again->load(parse_json(dump_json(state)).value()));

  daemon->send("ME", R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL",)"
                     R"("sequence":4503599627370497,"value":"1"})");
  CHECK(running_reports(*daemon) == 2);
}

TEST_CASE("ids are data, whatever they look like") {
  const auto daemon = start({.id = 64}, "Medianstop");
  ask(*daemon, "6");
  const std::vector<std::string> names = {
      "../../x",           "a/b", std::string("\0nul\0", 5), "__nni_type__", "\xf0\x9f\x90\x99",
      std::string(64, 'i')};
  int trial = 0;
  for (const std::string& name : names) {
    daemon->send("ME", metric(trial, name, "FINAL", 0));
    daemon->send("EN", trial_end(name, trial++));
  }
  const auto known = daemon->save()["jobs"]["names"].get<std::set<std::string>>();
  CHECK(known == std::set<std::string>(names.begin(), names.end()));
  daemon->send("ME", metric(5, std::string(65, 'i'), "FINAL", 0));
  daemon->send("ME", metric(5, std::string(1 << 20, 'i'), "FINAL", 0));
  daemon->send("EN", trial_end(std::string(1 << 20, 'i'), 5));
  CHECK(daemon->save()["jobs"]["names"].size() == 6);
}

// ---- the state of the quotas

TEST_CASE("quotas survive being saved and loaded") {
  Limits limits{.outstanding = 6, .history = 2, .histories = 100, .jobs = 2, .imports = 2};
  Quotas quotas(limits);
  quotas.asked(0, 4);
  quotas.offered(0, 0);
  quotas.offered(1, 1);
  CHECK(quotas.take_job(0));
  CHECK(quotas.take_job(std::nullopt));
  CHECK(quotas.take_report(0, 60) == Quotas::Verdict::take);
  CHECK(quotas.take_report(1, 60) == Quotas::Verdict::refuse_first);
  CHECK(quotas.take_import());

  Quotas again(limits);
  REQUIRE(again.load(parse_json(dump_json(quotas.save())).value()));
  CHECK(again.save() == quotas.save());
  for (Quotas* one : {&quotas, &again}) {
    CHECK(one->take_report(1, 60) == Quotas::Verdict::refuse);
    CHECK(one->take_report(0, 40) == Quotas::Verdict::take);
    CHECK(one->take_report(0, 0) == Quotas::Verdict::refuse_first);
    CHECK(one->take_job(0));  // the second one of the trial
    CHECK_FALSE(one->take_job(std::nullopt));
    CHECK(one->take_job(1));
    CHECK(one->take_import());
    CHECK_FALSE(one->take_import());
    CHECK(one->room_for_trials(10) == 2);
    one->no_more(0);  // 2 and 3 will not come
    CHECK(one->room_for_trials(10) == 4);
    one->ended(0);
    CHECK(one->room_for_trials(10) == 5);
    CHECK(one->take_report(1, 100) == Quotas::Verdict::take);
  }
}

TEST_CASE("of requests that were asked for together each has its own end") {
  Quotas quotas(Limits{.outstanding = 10});
  quotas.asked(0, 2);
  quotas.asked(2, 1);
  quotas.asked(3, 3);
  quotas.offered(0, 0);
  quotas.ended(0);
  quotas.revived(0);  // nobody asks for it
  quotas.no_more(0);  // 1
  CHECK(quotas.room_for_trials(10) == 5);
  quotas.no_more(3);
  CHECK(quotas.room_for_trials(10) == 8);
  quotas.no_more(2);
  CHECK(quotas.room_for_trials(10) == 9);
  quotas.ended(0);
  CHECK(quotas.room_for_trials(10) == 10);
}

TEST_CASE("a trial that goes on as another job has that one for nothing") {
  Quotas quotas(Limits{.jobs = 1});
  quotas.asked(0, 1);
  quotas.offered(0, 0);
  for (TrialId again = 1; again < 10; ++again) {
    CHECK(quotas.take_job(0));
    quotas.ended(0);
    quotas.asked(again, 1);
    quotas.offered(again, 0);
  }
  CHECK(quotas.take_job(0));
  CHECK(quotas.take_job(0));
  CHECK_FALSE(quotas.take_job(0));
}

TEST_CASE("an answer to a job that has ended is not outstanding") {
  Quotas quotas(Limits{.outstanding = 2});
  quotas.asked(0, 1);
  quotas.ended(0);
  quotas.answered_job(0);
  CHECK(quotas.room_for_trials(10) == 2);
}

TEST_CASE("what was proposed before a restart takes the place of what is asked for") {
  const auto before = start({});
  ask(*before, "3");
  const json state = before->save();
  DispatcherOptions options;
  options.limits.outstanding = 4;
  auto after = Stepped::make("Random", {{"seed", 1}}, "", json::object(), options);
  REQUIRE(after->restart(state));
  after->send("IN", kSpace);
  after->take();
  CHECK(ask(*after, "4").trials == std::vector<std::int64_t>{3, 4, 5, 6});
  for (int trial : {3, 4, 5, 6}) after->send("EN", trial_end("J" + std::to_string(trial), trial));
  CHECK(ask(*after, "4").trials.size() == 4);
}

TEST_CASE("a damaged state of the quotas is an error") {
  const json good = Quotas(Limits{}).save();
  for (const auto& [key, value] : good.items()) {
    for (const json& bad : {json(), json(-1), json("no base64"), json("AAAA")}) {
      json state = good;
      state[key] = bad;
      CAPTURE(key, dump_json(bad));
      CHECK_FALSE(Quotas(Limits{}).load(state));
    }
  }
  CHECK_FALSE(Quotas(Limits{}).load(json::array()));
}

}  // namespace attune::limits_test
