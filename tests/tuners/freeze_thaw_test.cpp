#include <fmt/format.h>

#include <algorithm>

#include "tests/tuners/bracket_world.h"

namespace attune {
extern const TunerEntry freeze_thaw_entry;
}

namespace attune::freeze_thaw_test {

using Words = std::vector<std::string>;

std::string choice_of(int points) {
  json values = json::array();
  for (int i = 0; i < points; ++i) values.push_back(i);
  return dump_json({{"x", {{"_type", "choice"}, {"_value", values}}}});
}
const std::string kInterval = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

// Levels 1, 3 and 9; the initial design has 5 trials.
BracketWorld world(const std::string& space = kInterval, const json& more = {}) {
  json arguments = {{"resource_attr", "epoch"}, {"max_t", 9}};
  if (more.is_object()) arguments.update(more);
  return {freeze_thaw_entry, arguments, space};
}

double loss_of(const Point& point, double epoch) {
  return std::abs(point.values[0] - 0.3) + 1 / epoch;
}

// With a single trial: of two points one has a (bad) result.
BracketWorld lone(const json& more = {}) {
  BracketWorld w = world(choice_of(2), more);
  w.tuner->tell(std::vector{Outcome{kImportedTrial, {{1}}, 100, {}, End::imported, {}}});
  CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  return w;
}

// Asks until the answer is the one wanted; trials that begin meanwhile are paused at once.
void ask_until(BracketWorld& w, const std::string& wanted) {
  for (int i = 0; i < 60; ++i) {
    const std::string answer = w.asked();
    if (answer == wanted) return;
    if (answer.starts_with("new")) {
      w.report(w.next - 1, w.budgets[w.next - 1], 50 + i);
    }
  }
  FAIL("never " << wanted);
}

TEST_CASE("FreezeThaw: the initial design pauses at the first level and its best goes on") {
  BracketWorld w = world();
  for (TrialId id = 0; id < 5; ++id) CHECK(w.asked() == "new 1");
  for (TrialId id = 0; id < 5; ++id) {
    CHECK(w.reported(id, 1, id == 3 ? 0.5 : 10.0 + double(id)) ==
          Words{"pause " + std::to_string(id)});
  }
  ask_until(w, "resume 3 3");
  CHECK(w.reported(3, 2, 0.5).empty());
  CHECK(w.reported(3, 3, 0.4) == Words{"pause 3"});
  ask_until(w, "resume 3 9");
  CHECK(w.reported(3, 8, 0.4).empty());
  CHECK(w.reported(3, 9, 0.3) == Words{"complete 3"});
  CHECK(w.reported(3, 10, 0.3).empty());
  w.end(3, End::completed, 0.3);
  for (int i = 0; i < 30; ++i) CHECK_FALSE(w.asked().starts_with("resume 3"));
}

TEST_CASE("FreezeThaw: reasons say what was measured in the sign of the user") {
  BracketWorld w = world(kInterval, {{"optimize_mode", "maximize"}});
  for (TrialId id = 0; id < 3; ++id) w.asked();
  CHECK(w.report(0, 1, 0.8125)[0].reason ==
        "epoch 1 of 9: 0.8125 waits; its expected end, 0.8125, ranks 1 of 1 that wait");
  CHECK(w.report(1, 9, 0.75)[0].reason == "epoch 9 of 9: ends with 0.75");
  CHECK(w.report(2, 1, NAN)[0].reason == "epoch 1: \"default\" is not finite");
  w.asked();
  CHECK(w.report(3, 1, 0.5)[0].reason ==
        "epoch 1 of 9: 0.5 waits; its expected end, 0.5, ranks 2 of 2 that wait");
}

TEST_CASE("FreezeThaw: a trial that goes on says what it had, and how its end ranks") {
  BracketWorld w = world(kInterval, {{"optimize_mode", "maximize"}});
  for (TrialId id = 0; id < 5; ++id) w.asked();
  for (TrialId id = 0; id < 5; ++id) w.report(id, 1, id == 2 ? 90.25 : double(id));
  w.report(2, 2, 90.5);  // before it heard of the pause
  for (int i = 0; i < 60 && w.why.empty(); ++i) {
    if (w.asked().starts_with("new")) w.report(w.next - 1, w.budgets[w.next - 1], -50);
  }
  CAPTURE(w.why);
  CHECK(w.why.starts_with("epoch 2 of 9: 90.5; its expected end ranks 1 of "));
  CHECK(w.why.ends_with(": goes on to 3"));
}

TEST_CASE("FreezeThaw: what is maximised is maximised") {
  BracketWorld w = world(kInterval, {{"optimize_mode", "maximize"}});
  for (TrialId id = 0; id < 5; ++id) w.asked();
  for (TrialId id = 0; id < 5; ++id) w.report(id, 1, id == 2 ? 90 : double(id));
  for (int i = 0; i < 60; ++i) {
    const std::string answer = w.asked();
    if (answer.starts_with("resume")) {
      CHECK(answer == "resume 2 3");
      return;
    }
    w.report(w.next - 1, w.budgets[w.next - 1], -50);
  }
  FAIL("nothing goes on");
}

TEST_CASE("FreezeThaw: trials that report seldom pause at their next report") {
  BracketWorld w = world(kInterval, {{"max_t", 100}});
  for (TrialId id = 0; id < 8; ++id) w.asked();
  for (TrialId id = 0; id < 8; ++id) {
    CHECK(w.reported(id, 5, 5.0 + double(id)) == Words{"pause " + std::to_string(id)});
  }
  ask_until(w, "resume 0 9");
  CHECK(w.reported(0, 10, 4) == Words{"pause 0"});
  ask_until(w, "resume 0 27");
  CHECK(w.reported(0, 105, 4) == Words{"complete 0"});
}

TEST_CASE("FreezeThaw: reports without the metric or the resource change nothing") {
  BracketWorld w = world();
  w.asked();
  const json before = w.tuner->save();
  CHECK(w.tuner->on_report({0, 0, {{"epoch", 9}}}).empty());
  CHECK(w.tuner->on_report({0, 0, {{"default", 1}}}).empty());
  CHECK(w.tuner->on_report({0, 0, {{"default", 1}, {"epoch", NAN}}}).empty());
  CHECK(w.tuner->on_report({7, 0, {{"default", 1}, {"epoch", 9}}}).empty());
  CHECK(dump_json(w.tuner->save()) == dump_json(before));
}

TEST_CASE("FreezeThaw: a trial that diverges is stopped and does not go on") {
  BracketWorld w = world(choice_of(6));
  for (TrialId id = 0; id < 5; ++id) w.asked();
  CHECK(w.reported(0, 1, 0.1) == Words{"pause 0"});
  CHECK(w.reported(1, 0.5, HUGE_VAL) == Words{"stop 1", "drop 1"});
  CHECK(w.reported(1, 1, 0.2).empty());
  // Also one that was asked to pause.
  CHECK(w.reported(0, 2, NAN) == Words{"stop 0", "drop 0"});
  CHECK(w.reported(2, 9, NAN) == Words{"stop 2", "drop 2"});  // at the end it is not complete
  for (TrialId id = 0; id < 3; ++id) w.end(id, End::stopped);
  for (int i = 0; i < 4; ++i) {
    const std::string answer = w.asked();
    CHECK((answer == "not yet" || answer.starts_with("new")));
  }
}

TEST_CASE("FreezeThaw: a trial that ends at its budget goes on in another one") {
  BracketWorld w = world();
  for (TrialId id = 0; id < 5; ++id) w.asked();
  w.end(0, End::completed, 0.5);  // without a report
  CHECK(w.reported(1, 1, 0.4) == Words{"pause 1"});
  w.end(1, End::completed, 0.4);  // it could not be paused any more
  for (TrialId id = 2; id < 5; ++id) w.report(id, 1, 20);
  Words seen;
  for (int i = 0; i < 60 && seen.size() < 2; ++i) {
    const std::string answer = w.asked();
    if (answer.starts_with("from")) seen.push_back(answer);
    if (answer.starts_with("new")) w.report(w.next - 1, w.budgets[w.next - 1], 50 + i);
  }
  std::ranges::sort(seen);
  CHECK(seen == Words{"from 0 3", "from 1 3"});
}

TEST_CASE("FreezeThaw: the checkpoint is kept until the other trial has one") {
  BracketWorld w = lone();
  w.end(0, End::completed, 0.5);
  CHECK(w.asked() == "from 0 3");
  CHECK(w.reported(0, 3, 0.5).empty());  // the former trial is over
  CHECK(w.reported(2, 2, 0.5).empty());
  CHECK(w.reported(2, 3, 0.4) == Words{"pause 2", "drop 0"});
  CHECK(w.asked() == "resume 2 9");
  w.end(2, End::completed, 0.4, 3);  // it had ended at its former budget
  CHECK(w.asked() == "from 2 9");
  CHECK(w.reported(4, 9, 0.3) == Words{"complete 4", "drop 2"});
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("FreezeThaw: one that could not be paused is asked again at each level") {
  BracketWorld w = lone({{"max_t", 27}});
  CHECK(w.reported(0, 1, 5) == Words{"pause 0"});
  CHECK(w.reported(0, 2, 4).empty());
  CHECK(w.reported(0, 3, 3) == Words{"pause 0"});
  CHECK(w.asked() == "resume 0 9");  // the dispatcher knows that it runs
  CHECK(w.reported(0, 4, 3).empty());
  CHECK(w.reported(0, 9, 3) == Words{"pause 0"});
  CHECK(w.reported(0, 27, 3) == Words{"complete 0"});
}

TEST_CASE("FreezeThaw: reports after the pause was asked for count") {
  BracketWorld w = lone({{"max_t", 27}});
  CHECK(w.reported(0, 1, 5) == Words{"pause 0"});
  CHECK(w.reported(0, 3, 4) == Words{"pause 0"});
  CHECK(w.reported(0, 8, 4).empty());
  CHECK(w.asked() == "resume 0 9");
  // It begins again from an older checkpoint.
  for (const int epoch : {2, 3, 8}) CHECK(w.reported(0, epoch, 6).empty());
  CHECK(w.reported(0, 9, 3) == Words{"pause 0"});
}

TEST_CASE("FreezeThaw: a finite space is tried and trained to its end") {
  for (const int points : {1, 2, 7, 40}) {
    BracketWorld w = world(choice_of(points));
    std::map<TrialId, int> epochs;
    std::string answer;
    for (int i = 0; i < 400 && answer != "exhausted"; ++i) {
      answer = w.asked();
      REQUIRE(answer != "not yet");
      if (answer == "exhausted") break;
      const bool is_new = answer.starts_with("new");
      const TrialId id = is_new ? w.next - 1 : std::stoi(answer.substr(7));
      for (bool runs = true; runs;) {
        ++epochs[id];
        for (const auto& said : w.reported(id, epochs[id], loss_of(w.points[id], epochs[id]))) {
          runs = false;
          if (said.starts_with("complete")) w.end(id, End::completed, 1);
        }
      }
    }
    CHECK(answer == "exhausted");
    CHECK(std::ssize(epochs) == points);
    for (const auto& [id, count] : epochs) CHECK(count == 9);
    CHECK(w.asked() == "exhausted");
    // For ever, whoever adds a trial.
    w.tuner->adopt(5000, w.points[0]);
    CHECK(w.asked() == "exhausted");
  }
}

TEST_CASE("FreezeThaw: one level is random search and then a model") {
  BracketWorld w = world(kInterval, {{"max_t", 1}});
  for (int i = 0; i < 12; ++i) {
    CHECK(w.asked() == "new 1");
    CHECK(w.reported(i, 1, loss_of(w.points[i], 1)) == Words{fmt::format("complete {}", i)});
    w.end(i, End::completed, loss_of(w.points[i], 1));
  }
  double nearest = 1;
  for (const auto& [id, point] : w.points) {
    nearest = std::min(nearest, std::abs(point.values[0] - 0.3));
  }
  CHECK(nearest < 0.03);
}

TEST_CASE("FreezeThaw: levels that round to the same number are one") {
  BracketWorld w = lone({{"reduction_factor", 1.5}});
  std::vector<std::string> budgets;
  for (int epoch = 1; epoch < 9; ++epoch) {
    if (w.reported(0, epoch, 1).empty()) continue;
    budgets.push_back(w.asked());
  }
  CHECK(budgets == Words{"resume 0 2", "resume 0 3", "resume 0 5", "resume 0 8", "resume 0 9"});
}

TEST_CASE("FreezeThaw: a space with one point and no dimension is trained once") {
  BracketWorld w = world("{}");
  CHECK(w.asked() == "new 9");
  CHECK(w.asked() == "not yet");
  CHECK(w.reported(0, 3, 1).empty());
  CHECK(w.reported(0, 9, 1) == Words{"complete 0"});
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("FreezeThaw: the trials of a design whose points are withdrawn are replaced") {
  BracketWorld w = world();
  for (int i = 0; i < 20; ++i) {
    CHECK(w.asked() == "new 1");
    w.tuner->withdraw(w.next - 1);
  }
  for (TrialId id = 20; id < 25; ++id) {
    CHECK(w.asked() == "new 1");
    CHECK(w.shorten(w.ask_again(id)) == "new 1");  // it was not carried out
  }
  CHECK(w.tuner->save()["ledger"]["proposed"] == 5);
  for (TrialId id = 20; id < 25; ++id) w.report(id, 1, double(id));
  w.asked();
  CHECK(w.reported(0, 1, 1).empty());
}

TEST_CASE("FreezeThaw: results from elsewhere are learnt and not tried again") {
  BracketWorld w = world(choice_of(8));
  for (int i = 0; i < 7; ++i) {
    w.tuner->tell(
        std::vector{Outcome{kImportedTrial, {{double(i)}}, 10 - i, {}, End::imported, {}}});
  }
  w.tuner->tell(std::vector{Outcome{kImportedTrial, {{7}}, {}, {}, End::imported, {}}});
  CHECK(w.asked() == "new 1");
  CHECK(w.points[0] == Point{{7}});
  CHECK(w.asked() == "not yet");
  CHECK(w.reported(0, 1, 0.5) == Words{"pause 0"});
  CHECK(w.asked() == "resume 0 3");
}

TEST_CASE("FreezeThaw: adopted trials run to their end") {
  BracketWorld w = world(choice_of(3));
  w.tuner->adopt(100, {{1}});
  CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  CHECK(w.reported(100, 1, 1).empty());
  CHECK(w.reported(100, 3, 1).empty());
  CHECK(w.reported(100, 9, 1) == Words{"complete 100"});
  // Before the search space changed it had a budget, and its program reads that.
  w.tuner->adopt(101, {{1}});
  w.points[101] = {{1}};
  w.end(101, End::completed, 1, 3);
  CHECK(w.asked() == "from 101 9");
}

TEST_CASE("FreezeThaw: a result that comes after the end counts") {
  BracketWorld w = lone();
  w.end(0, End::completed);  // without a result
  w.tuner->adopt(0, w.points[0]);
  w.end(0, End::completed, 0.5);
  CHECK(w.asked() == "from 0 3");
  CHECK(w.asked() == "not yet");
  w.end(2, End::failed);
  w.restart();
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("FreezeThaw: once all trials have begun the best is trained in full and that is all") {
  json arguments = {{"resource_attr", "epoch"}, {"max_t", 9}};
  Context context;
  context.max_trials = 7;
  TunerRegistry registry;
  registry.add(freeze_thaw_entry);
  const auto make_one = [&] {
    auto tuner = std::move(make_tuner(registry, "FreezeThaw", arguments, context, 1).value().tuner);
    REQUIRE(tuner->set_space(parse_space(parse_json(kInterval).value()).value()));
    return tuner;
  };
  auto tuner = make_one();
  std::map<TrialId, Point> points;
  std::map<TrialId, int> epochs;
  bool ended = false, full = false;
  for (TrialId id = 0; id < 200 && !ended; ++id) {
    const Answer answer = tuner->ask(std::vector{id})[0];
    REQUIRE_FALSE(std::holds_alternative<NotYet>(answer));
    ended = std::holds_alternative<Exhausted>(answer);
    if (ended) break;
    const auto& proposal = std::get<Proposal>(answer);
    const TrialId trial = proposal.resume.value_or(id);
    points[trial] = proposal.point;
    for (bool runs = true; runs;) {
      const double epoch = ++epochs[trial];
      const double loss = loss_of(proposal.point, epoch);
      for (const Decision& decision :
           tuner->on_report({trial, 0, {{"default", loss}, {"epoch", epoch}}})) {
        runs = false;
        full |= decision.complete;
      }
    }
  }
  CHECK(ended);
  CHECK(full);
  CHECK(points.size() == 7);
  const auto best = std::ranges::min_element(
      points, {}, [](const auto& one) { return std::abs(one.second.values[0] - 0.3); });
  CHECK(epochs[best->first] == 9);
  CHECK(std::ranges::count(epochs, 9, &std::pair<const TrialId, int>::second) < 7);
  // With more trials allowed, it goes on from there.
  const json state = tuner->save();
  context.max_trials = 9;
  tuner = make_one();
  REQUIRE(tuner->load(state));
  CHECK(std::holds_alternative<Proposal>(tuner->ask(std::vector<TrialId>{1000})[0]));
}

TEST_CASE("FreezeThaw: of too many paused trials the worse half is given up") {
  BracketWorld w = world();
  for (TrialId id = 0; id < 130; ++id) CHECK(w.asked() == "new 1");  // nothing is known yet
  for (TrialId id = 0; id < 128; ++id) {
    CHECK(w.reported(id, 1, double(id)) == Words{"pause " + std::to_string(id)});
  }
  // The last is the worst: it is stopped, and not paused first.
  const auto decisions = w.report(128, 1, 1e6);
  std::map<Action, std::set<TrialId>> by;
  for (const Decision& decision : decisions) by[decision.action].insert(decision.trial);
  CHECK(by[Action::pause].empty());
  CHECK(by[Action::stop].size() == 65);
  CHECK(*by[Action::stop].begin() == 64);
  CHECK(by[Action::stop].contains(128));
  CHECK(by[Action::stop] == by[Action::drop_checkpoint]);
  CHECK(decisions[0].reason ==
        "epoch 1 of 9: its expected end, 64, ranks 65 of 129 that wait; the best 64 wait on, "
        "cutoff 63");
  CHECK(w.reported(129, 1, 0.5) == Words{"pause 129"});
}

}  // namespace attune::freeze_thaw_test
