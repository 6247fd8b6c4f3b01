#include "tests/tuners/bracket_world.h"

namespace attune {
extern const TunerEntry one_epoch_entry;
}

namespace attune::one_epoch_test {

using Words = std::vector<std::string>;

// Two trainings of four epochs: four trials of one epoch, then two with three more.
BracketWorld world(const json& more = {}, const std::string& space = {}) {
  json arguments = {{"resource_attr", "epoch"}, {"max_t", 4}, {"trials", 2}};
  if (more.is_object()) arguments.update(more);
  if (space.empty()) return {one_epoch_entry, arguments};
  return {one_epoch_entry, arguments, space};
}

TEST_CASE("OneEpoch: half of the epochs one by one, then the best in full, the best first") {
  BracketWorld w = world();
  for (int i = 0; i < 4; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  CHECK(w.reported(0, 1, 3) == Words{"pause 0"});
  CHECK(w.reported(1, 1, 1) == Words{"pause 1"});
  CHECK(w.report(2, 1, 2)[0].reason == "2 after one epoch ranks 2 of 3 that wait");
  CHECK(w.asked() == "resume 1 4");  // nobody waits for trial 3
  CHECK(w.why == "1 after one epoch is the best of 3 that wait: it is trained in full");
  CHECK(w.reported(3, 1, 0.5) == Words{"pause 3"});
  CHECK(w.asked() == "resume 3 4");
  CHECK(w.asked() == "not yet");
  const auto decisions = w.report(1, 2, 1);
  REQUIRE(decisions.size() == 4);
  CHECK(BracketWorld::shorten(decisions[0]) == "stop 2");
  CHECK(decisions[0].reason == "2 after one epoch; the best 2 are trained in full");
  CHECK(BracketWorld::shorten(decisions[3]) == "drop 0");
  CHECK(w.reported(1, 4, 1) == Words{"complete 1"});
  w.end(3, End::completed, 0.25);
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("OneEpoch: one that reports when the others are trained already is left behind") {
  BracketWorld w = world({{"optimize_mode", "maximize"}});
  for (int i = 0; i < 4; ++i) w.asked();
  for (TrialId i = 0; i < 3; ++i) w.report(i, 1, double(i));
  CHECK(w.asked() == "resume 2 4");
  CHECK(w.asked() == "resume 1 4");
  CHECK(w.reported(3, 1, 9) == Words{"stop 0", "drop 0", "stop 3", "drop 3"});
}

TEST_CASE("OneEpoch: trials that end by themselves or fail") {
  BracketWorld w = world();
  for (int i = 0; i < 4; ++i) w.asked();
  w.end(0, End::completed, 3.0);
  w.end(1, End::failed);
  w.report(2, 1, NAN);
  w.report(3, 1, 4);
  CHECK(w.asked() == "from 0 4");
  w.end(3, End::stopped);  // while it waits
  CHECK(w.asked() == "not yet");
  w.end(w.next - 2, End::failed);
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("OneEpoch: a trial that ends before its training is replaced") {
  BracketWorld w = world();
  for (int i = 0; i < 4; ++i) w.asked();
  for (TrialId i = 0; i < 4; ++i) w.report(i, 1, double(i));
  const TrialId id = w.next;
  CHECK(w.asked() == "resume 0 4");
  w.end(0, End::completed, 0.0, 1.0);
  CHECK(w.shorten(w.ask_again(id)) == "from 0 4");
  CHECK(w.asked() == "resume 1 4");
}

TEST_CASE("OneEpoch: a finite space leaves more epochs for whole trainings") {
  BracketWorld w = world({}, R"({"x": {"_type": "choice", "_value": [1, 2]}})");
  for (int i = 0; i < 2; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 0; i < 2; ++i) w.report(i, 1, double(i));
  for (int i = 0; i < 2; ++i) CHECK(w.asked() == "resume " + std::to_string(i) + " 4");
  for (TrialId i = 0; i < 2; ++i) w.report(i, 4, double(i));
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("OneEpoch: a withdrawn configuration is replaced") {
  BracketWorld w = world();
  for (int i = 0; i < 4; ++i) w.asked();
  w.tuner->withdraw(2);
  CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
}

TEST_CASE("OneEpoch: saved and loaded at any moment, the rest is the same") {
  const bool restarts = GENERATE(false, true);
  static Words expected;
  BracketWorld w = world({{"trials", 12}});
  Words words;
  std::vector<TrialId> running;
  for (int turn = 0; turn < 60; ++turn) {
    const Answer answer = w.ask();
    words.push_back(w.shorten(answer));
    if (const auto* proposal = std::get_if<Proposal>(&answer)) {
      words.push_back(dump_json(json(proposal->point.values)));
      running.push_back(proposal->resume.value_or(w.next - 1));
    }
    if (running.size() >= 3 || (!running.empty() && turn > 30)) {
      const TrialId trial = running.front();
      running.erase(running.begin());
      for (const auto& word :
           w.reported(trial, w.budgets[trial], std::fmod(double(trial) * 7, 11))) {
        words.push_back(word);
      }
    }
    if (restarts && turn % 4 == 0) w.restart();
  }
  CHECK(words.back() == "exhausted");
  if (!restarts) expected = words;
  CHECK(words == expected);
}

TEST_CASE("OneEpoch: damaged states are errors and change nothing") {
  BracketWorld w = world();
  for (int i = 0; i < 4; ++i) w.asked();
  for (TrialId i = 0; i < 3; ++i) w.report(i, 1, double(i));
  w.end(1, End::completed, 1.0);
  w.asked();
  check_damaged_states(w);
}

}  // namespace attune::one_epoch_test
