#include "tests/tuners/bracket_world.h"

namespace attune {
extern const TunerEntry sync_hyperband_entry;
}

namespace attune::sync_hyperband_test {

// Rungs of 9, 3, 1 at 1, 3, 9; then of 5, 2 at 3, 9; then 3 at 9.
BracketWorld world(const json& more = {}, const std::string& space = {}) {
  json arguments = {{"resource_attr", "epoch"}, {"max_t", 9}};
  if (more.is_object()) arguments.update(more);
  if (space.empty()) return {sync_hyperband_entry, arguments};
  return {sync_hyperband_entry, arguments, space};
}

using Words = std::vector<std::string>;

TEST_CASE("SyncHyperband starts, resumes and pauses what Syne Tune did in its traces") {
  int compared = 0;
  for (const auto& path : traces("syne_synchb_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    compared += replay_brackets(sync_hyperband_entry, trace, 1'000'000);
  }
  CHECK(compared >= 1000);
}

TEST_CASE("SyncHyperband: saved and loaded within a trace, the rest is the same") {
  for (const auto& path : traces("syne_synchb_")) {
    CAPTURE(path);
    replay_brackets(sync_hyperband_entry, read_trace(path), 61);
  }
}

TEST_CASE("SyncHyperband: a full rung lets the best go on and stops the others") {
  BracketWorld w = world({{"brackets", 1}});
  for (int i = 0; i < 9; ++i) CHECK(w.asked() == "new 1");
  for (TrialId i = 0; i < 8; ++i)
    CHECK(w.reported(i, 1, 10.0 - double(i)) == Words{"pause " + std::to_string(i)});
  CHECK(w.asked() == "new 1");  // the next bracket does not wait
  const auto decisions = w.report(8, 1, 3.5);
  // 2..9: 10 9 8 7 6 5 4 3 and 3.5: trials 7, 8, 6 go on.
  Words words;
  for (const Decision& one : decisions) words.push_back(BracketWorld::shorten(one));
  CHECK(words == Words{"stop 5", "drop 5", "stop 4", "drop 4", "stop 3", "drop 3", "stop 2",
                       "drop 2", "stop 1", "drop 1", "stop 0", "drop 0", "pause 8"});
  CHECK(decisions[0].reason == "rung 1: 5 ranks 4 of 9; the best 3 go on, cutoff 4");
  CHECK(decisions.back().reason ==
        "rung 1: 3.5 ranks 2 of 9; the best 3 go on, cutoff 4; this one does when its turn comes");
  w.restart();
  CHECK(w.asked() == "resume 7 3");
  CHECK(w.why == "rung 1: 3 ranks 1 of 9; the best 3 go on, cutoff 4: goes on to 3");
  CHECK(w.asked() == "resume 8 3");
  CHECK(w.asked() == "resume 6 3");
  CHECK(w.reported(7, 2, 1).empty());
  CHECK(w.reported(7, 3, 1) == Words{"pause 7"});
  CHECK(w.reported(8, 3, 2) == Words{"pause 8"});
  CHECK(w.reported(6, 3, 3) == Words{"stop 8", "drop 8", "stop 6", "drop 6"});
  CHECK(w.asked() == "resume 7 9");
  const auto last = w.report(7, 9, 1);
  REQUIRE(last.size() == 1);
  CHECK(BracketWorld::shorten(last[0]) == "complete 7");
  CHECK(last[0].reason == "epoch 9 of 9: ends with 1");
  CHECK(w.reported(7, 10, 1).empty());  // it is over
}

TEST_CASE("SyncHyperband maximises, and shows the values of the user") {
  BracketWorld w = world({{"brackets", 1}, {"optimize_mode", "maximize"}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.report(0, 1, 0.5)[0].reason == "rung 1: 0.5 ranks 1 of 1 so far and waits for 2 more");
  CHECK(w.report(1, 1, 0.75)[0].reason == "rung 1: 0.75 ranks 1 of 2 so far and waits for 1 more");
  const auto decisions = w.report(2, 1, 0.25);
  REQUIRE(decisions.size() == 4);
  CHECK(decisions[0].reason == "rung 1: 0.5 ranks 2 of 3; the best 1 go on, cutoff 0.75");
  CHECK(w.asked() == "resume 1 3");
  CHECK(w.why == "rung 1: 0.75 ranks 1 of 3; the best 1 go on, cutoff 0.75: goes on to 3");
}

TEST_CASE("SyncHyperband: reasons count a trial that has failed neither as rank nor as missing") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.report(0, 1, INFINITY)[0].reason == "epoch 1: \"default\" is not finite");
  CHECK(w.report(1, 1, 2)[0].reason == "rung 1: 2 ranks 1 of 1 so far and waits for 1 more");
  CHECK(w.report(2, 1, 1)[0].reason == "rung 1: 2 ranks 2 of 2; the best 1 go on, cutoff 1");
}

TEST_CASE("SyncHyperband: trials that end by themselves at their budget go on in new trials") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 1");
  const bool reports = GENERATE(true, false);
  CAPTURE(reports);
  Words words;
  for (TrialId i = 0; i < 3; ++i) {
    if (reports) words = w.reported(i, 1, double(i));
    w.end(i, End::completed, double(i));
  }
  CHECK(w.asked() == "from 0 3");
  if (!reports) words = w.reported(3, 1, 0);
  CHECK(words == (reports ? Words{"drop 1", "stop 2", "drop 2"} : Words{"drop 1", "drop 2"}));
  CHECK(w.reported(3, 3, 0) == Words{"drop 0", "complete 3"});
}

TEST_CASE("SyncHyperband: a trial that ends before it could go on is replaced") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) w.asked();
  for (TrialId i = 0; i < 3; ++i) w.reported(i, 1, double(i));
  w.budgets[0] = 1;
  const TrialId id = w.next;
  CHECK(w.asked() == "resume 0 3");
  // Its program has ended at the former budget: the dispatcher tells that, and asks again.
  w.end(0, End::completed, 0.0, 1.0);
  CHECK(w.shorten(w.ask_again(id)) == "from 0 3");
  CHECK(w.reported(id, 3, 0) == Words{"drop 0", "complete 3"});
}

TEST_CASE("SyncHyperband: a trial that could not be paused runs on to its next level") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) w.asked();
  for (TrialId i = 0; i < 3; ++i) w.reported(i, 1, double(i));
  const TrialId id = w.next;
  CHECK(w.asked() == "resume 0 3");
  CHECK(w.shorten(w.ask_again(id)) == "new 1");  // not carried out: the id is free
  CHECK(w.reported(0, 2, 0).empty());
  CHECK(w.reported(0, 3, 0) == Words{"complete 0"});
}

TEST_CASE("SyncHyperband: failed, stopped and diverged trials leave their slots empty") {
  const End end = GENERATE(End::failed, End::stopped, End::diverged);
  BracketWorld w = world({{"brackets", 1}});
  for (int i = 0; i < 9; ++i) CHECK(w.asked() == "new 1");
  for (TrialId i = 0; i < 7; ++i) w.end(i, end);
  CHECK(w.asked() == "new 1");
  CHECK(w.reported(7, 1, 5) == Words{"pause 7"});
  CHECK(w.reported(8, 1, NAN) == Words{"stop 8"});
  // One of nine is left: it fills a rung of one.
  CHECK(w.asked() == "resume 7 3");
  CHECK(w.reported(7, 3, 5) == Words{"pause 7"});
  CHECK(w.asked() == "resume 7 9");
  w.end(7, end);
  CHECK(w.asked() == "new 1");
}

TEST_CASE("SyncHyperband: a bracket in which all have failed is over") {
  BracketWorld w = world();
  for (int i = 0; i < 9; ++i) CHECK(w.asked() == "new 1");
  for (TrialId i = 0; i < 9; ++i) w.end(i, End::failed);
  CHECK(w.asked() == "new 3");
}

TEST_CASE("SyncHyperband: a trial that is lost while it waits does not go on") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) w.asked();
  w.reported(0, 1, 1);
  SECTION("before its rung is full") {
    w.end(0, End::stopped);
    w.reported(1, 1, 2);
    w.reported(2, 1, 3);
    CHECK(w.asked() == "resume 1 3");
  }
  SECTION("when it could go on") {
    w.reported(1, 1, 2);
    w.reported(2, 1, 3);
    w.end(0, End::failed);
    CHECK(w.asked() == "new 1");
  }
}

TEST_CASE("SyncHyperband ignores reports it cannot place, and late ones") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) w.asked();
  CHECK(w.tuner->on_report({0, 0, {{"default", 1}}}).empty());  // no resource
  CHECK(w.tuner->on_report({0, 0, {{"epoch", 1}}}).empty());    // no metric
  CHECK(w.reported(0, NAN, 1).empty());
  CHECK(w.reported(0, 0, 1).empty());
  CHECK(w.reported(77, 1, 1).empty());  // unknown
  CHECK(w.reported(0, 1, 1) == Words{"pause 0"});
  CHECK(w.reported(0, 1, 0).empty());
  CHECK(w.reported(0, 2, 0).empty());
  CHECK(w.reported(1, 2, 2) == Words{"pause 1"});  // it has passed the level without a report
}

TEST_CASE("SyncHyperband: with fewer configurations than slots the brackets shrink, then it ends") {
  BracketWorld w = world({{"max_t", 9}}, R"({"x": {"_type": "choice", "_value": [1, 2, 3, 4]}})");
  for (int i = 0; i < 4; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 0; i < 4; ++i) w.reported(i, 1, double(i));
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "resume " + std::to_string(i) + " 3");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 0; i < 3; ++i) w.reported(i, 3, double(i));
  CHECK(w.asked() == "resume 0 9");
  CHECK(w.asked() == "not yet");
  w.reported(0, 9, 0);
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("SyncHyperband: a proposal that is withdrawn leaves its slot free") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  for (int i = 0; i < 3; ++i) w.asked();
  w.tuner->withdraw(1);
  w.tuner->withdraw(1);  // does nothing
  w.reported(0, 1, 1);
  w.reported(2, 1, 2);
  CHECK(w.asked() == "new 1");
  w.reported(3, 1, 3);
  CHECK(w.asked() == "resume 0 3");
}

TEST_CASE(
    "SyncHyperband: a trial of the user runs beside the brackets, up to the largest resource") {
  BracketWorld w = world({{"brackets", 1}, {"max_t", 3}});
  w.points[50] = Point{{0.5}};
  w.tuner->adopt(50, w.points[50]);
  CHECK(w.reported(50, 2, 1).empty());
  CHECK(w.reported(50, 3, 1) == Words{"complete 50"});
  w.end(50, End::completed, 1.0);
  CHECK(w.asked() == "new 1");
  w.tuner->tell(std::vector{Outcome{kImportedTrial, Point{{0.2}}, 1, {}, End::imported, {}}});
  w.restart();
  CHECK(w.asked() == "new 1");
}

TEST_CASE("SyncHyperband: damaged states are errors and change nothing") {
  BracketWorld w = world();
  for (int i = 0; i < 12; ++i) w.asked();
  for (TrialId i = 0; i < 9; ++i) w.report(i, 1, double(i));
  w.end(1, End::completed, 1.0);
  w.tuner->adopt(500, Point{{0.5}});
  for (int i = 0; i < 2; ++i) w.asked();
  w.report(9, 3, 1);
  w.end(10, End::failed);
  check_damaged_states(w);
}

TEST_CASE("SyncHyperband: errors of arguments") {
  const TunerRegistry registry = builtin_tuners();
  const auto error = [&](const json& arguments) {
    return make_tuner(registry, "SyncHyperband", arguments, {}, 1).error().message;
  };
  CHECK(error({{"grace_period", 100}}) ==
        "SyncHyperband.grace_period must be at most max_t, which is 81");
  CHECK(error({{"searcher", "Batch"}}).starts_with("SyncHyperband.searcher: Batch"));
}

}  // namespace attune::sync_hyperband_test
