// What every tuner must do on every kind of space, whatever its rule. A new one gets all of this
// for its word in the registry. A tuner may decline a space: then its error must name the cure.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "conformance/spaces.h"
#include "space/sample.h"
#include "tuners/registry.h"

namespace attune::conformance_test {

using conformance::test_spaces;
using conformance::TestSpace;

// An entry with the arguments that it is tested with.
struct Subject : TunerEntry {
  json arguments;
};

// All with their defaults; again where an argument chooses another rule.
std::vector<Subject> subjects() {
  const TunerRegistry registry = builtin_tuners();
  std::vector<Subject> all;
  for (const TunerEntry& entry : registry.entries()) all.push_back({entry, {}});
  all.push_back({**registry.find("TPE", "tuner"), {{"multivariate", false}}});
  all.push_back({**registry.find("Anneal", "tuner"), {{"parallel_optimize", true}}});
  all.push_back({**registry.find("auto", "tuner"), {{"max_t", 9}}});
  return all;
}

// Of those that fit models a turn costs milliseconds, with sanitizers tens of them, and the
// interesting things happen early: when random points end, and at the next fits.
int turns_of(const Subject& entry, int many, int few) {
  constexpr const char* kModels[] = {"auto", "ensemble", "GP",    "TuRBO",
                                     "SMAC", "DNGO",     "Metis", "FreezeThaw"};
  return std::ranges::find(kModels, entry.name) == std::end(kModels) ? many : few;
}

std::unique_ptr<Tuner> make(const Subject& entry, std::uint64_t seed = 1) {
  auto made = make_tuner(builtin_tuners(), entry.name, entry.arguments, {}, seed);
  if (!made) FAIL(entry.name << ": " << made.error().message);
  return std::move(made->tuner);
}

// One experiment: asks, and ends trials in all the ways there are. What happens in a turn is a
// function of the turn's number and of what is outstanding.
class Experiment {
 public:
  Experiment(const Subject& entry, const Space& space, std::uint64_t seed = 1)
      : entry_(&entry), space_(&space), tuner_(make(entry, seed)) {
    REQUIRE(tuner_->set_space(space));
  }

  // A new tuner with the saved state of this one, in the same situation.
  Experiment restored() const {
    Experiment copy(*entry_, *space_, 999);
    const auto state = parse_json(dump_json(tuner_->save()));  // as a snapshot goes
    REQUIRE(state);
    const auto loaded = copy.tuner_->load(*state);
    if (!loaded) FAIL(loaded.error().message);
    copy.running_ = running_;
    copy.next_id_ = next_id_;
    copy.turn_ = turn_;
    copy.exhausted_ = exhausted_;
    copy.steps_ = steps_;
    copy.paused_ = paused_;
    CHECK(dump_json(copy.tuner_->save()) == dump_json(tuner_->save()));
    return copy;
  }

  std::vector<std::string> ask(std::size_t n) {
    std::vector<TrialId> ids(n);
    for (TrialId& id : ids) id = next_id_++;
    const std::vector<Answer> answers = tuner_->ask(ids);
    REQUIRE(answers.size() == n);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < n; ++i) texts.push_back(check(ids[i], answers[i]));
    return texts;
  }

  std::vector<std::string> turn() {
    Rng rng = Rng(77).fork(std::to_string(turn_++));
    if (rng.index(10) == 0) tuner_->tell(std::vector{imported(rng)});
    if (rng.index(15) == 0) {
      const Point point = sample(*space_, rng);
      tuner_->adopt(next_id_, point);
      running_[next_id_++] = point;
    }
    const std::vector<std::string> texts = ask(1 + rng.index(3));
    if (wants_reports_) report(rng);
    std::vector<Outcome> outcomes;
    // One that waits for a batch to end would wait for ever.
    const bool waits = std::ranges::count(texts, "not yet") == std::ssize(texts);
    while (running_.size() > (waits ? 0 : 4)) {
      auto chosen = running_.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(running_.size())));
      outcomes.push_back(ended(chosen->first, chosen->second, rng));
      forget(chosen->first);
    }
    tuner_->tell(outcomes);
    return texts;
  }

  // Some of the running trials report; what the tuner decides about trials is done.
  void report(Rng& rng) {
    std::vector<TrialId> ids;
    for (const auto& [id, point] : running_) ids.push_back(id);
    for (const TrialId id : ids) {
      if (!running_.contains(id) || paused_.contains(id) || rng.index(3) == 0) continue;
      Report report{id, steps_[id]++, {{"default", rng.normal()}}};
      if (rng.index(12) == 0) report.metrics[0].second = rng.index(2) ? NAN : INFINITY;
      if (rng.index(20) == 0) report.metrics.clear();
      for (const Decision& decision : tuner_->on_report(report)) {
        decided_.push_back(std::to_string(decision.trial) + ": " + decision.reason);
        if (decision.action == Action::pause) paused_.insert(decision.trial);
        const auto stopped = running_.find(decision.trial);
        if (decision.action != Action::stop || stopped == running_.end()) continue;
        CHECK_FALSE(decision.reason.empty());
        Outcome outcome{.trial = decision.trial, .point = stopped->second, .end = End::stopped};
        if (decision.complete) {
          outcome.end = End::completed;
          outcome.loss = rng.normal();
        }
        forget(decision.trial);
        tuner_->tell(std::span(&outcome, 1));
      }
    }
  }

  std::vector<std::string> turns(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
      for (auto& text : turn()) all.push_back(std::move(text));
    }
    std::ranges::move(std::exchange(decided_, {}), std::back_inserter(all));
    return all;
  }

  // So many trials with random points run that were not proposed.
  void adopt(int count, int seed = 0) {
    Rng rng = Rng(78).fork(std::to_string(seed));
    for (int i = 0; i < count; ++i) {
      const Point point = sample(*space_, rng);
      tuner_->adopt(next_id_, point);
      running_[next_id_++] = point;
    }
  }

  // Now the oldest, now the newest one ends.
  void end_all_but(std::size_t count) {
    Rng rng(79);
    while (running_.size() > count) {
      const auto chosen = running_.size() % 2 == 0 ? running_.begin() : std::prev(running_.end());
      const Outcome outcome = ended(chosen->first, chosen->second, rng);
      tuner_->tell(std::span(&outcome, 1));
      forget(chosen->first);
    }
  }

  Tuner& tuner() { return *tuner_; }
  bool exhausted() const { return exhausted_; }

 private:
  std::string check(TrialId id, const Answer& answer) {
    if (std::holds_alternative<Exhausted>(answer)) {
      exhausted_ = true;
      return "exhausted";
    }
    REQUIRE_FALSE(exhausted_);  // "no more, ever"
    if (std::holds_alternative<NotYet>(answer)) return "not yet";
    const auto& proposal = std::get<Proposal>(answer);
    // In the space: its output can be read back, and is the same then.
    const json parameters = tuner_->parameters(*space_, proposal.point);
    const auto back = tuner_->point_from(*space_, parameters);
    if (!back) FAIL(dump_json(parameters) << ": " << back.error().message);
    CHECK(dump_json(tuner_->parameters(*space_, *back)) == dump_json(parameters));
    if (proposal.resume) {
      REQUIRE(paused_.erase(*proposal.resume) == 1);  // it has decided that pause, once
      REQUIRE(running_.contains(*proposal.resume));
      running_[*proposal.resume] = proposal.point;
    } else {
      running_[id] = proposal.point;
    }
    return dump_json(parameters) + (proposal.budget ? std::to_string(*proposal.budget) : "");
  }

  Outcome imported(Rng& rng) const {
    Outcome outcome = {kImportedTrial, sample(*space_, rng), rng.normal(), {}, End::imported, {}};
    if (rng.index(4) == 0) outcome.loss.reset();
    return outcome;
  }

  static Outcome ended(TrialId id, const Point& point, Rng& rng) {
    Outcome outcome = {id, point, rng.normal(), {{"default", 1}}, End::completed, {}};
    switch (rng.index(12)) {
      case 0:
        outcome.end = End::failed;
        break;
      case 1:
        outcome.end = End::diverged;
        break;
      case 2:
        outcome.end = End::stopped;
        break;
      case 3:
        outcome.loss = 1e308;
        return outcome;
      case 4:
        outcome.loss = -1e308;
        return outcome;
      case 5:
        outcome.loss = 0;
        return outcome;  // ties
      default:
        return outcome;
    }
    outcome.loss.reset();
    if (outcome.end == End::diverged) outcome.metrics = {{"default", NAN}};
    return outcome;
  }

  void forget(TrialId id) {
    running_.erase(id);
    paused_.erase(id);
    steps_.erase(id);
  }

  const Subject* entry_;
  const Space* space_;
  std::unique_ptr<Tuner> tuner_;
  bool wants_reports_ = entry_->wants_reports || tuner_->wants_reports();
  std::map<TrialId, Point> running_;  // paused ones included
  std::map<TrialId, std::int64_t> steps_;
  std::set<TrialId> paused_;
  std::vector<std::string> decided_;
  TrialId next_id_ = 0;
  int turn_ = 0;
  bool exhausted_ = false;
};

// Calls use(entry, space) for each pair that the tuner accepts.
template <class Use>
void for_each_accepted(Use&& use) {
  for (const Subject& entry : subjects()) {
    int accepted = 0, seen = 0;
    for (const TestSpace& named : test_spaces()) {
      // A rule with rungs leaves configurations to its searcher: a few spaces are enough.
      if (entry.wants_reports && seen++ % 5 != 0) continue;
      const Space& space = named.space;
      if (!make(entry)->set_space(space)) continue;
      ++accepted;
      INFO(entry.name << dump_json(entry.arguments) << " on " << named.name);
      use(entry, space);
    }
    INFO(entry.name);
    CHECK(accepted > 0);
  }
}

TEST_CASE("tuners: answers lie in the space, same seed and calls, same answers") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    const int turns = turns_of(entry, 40, 15);
    const auto answers = Experiment(entry, space).turns(turns);
    CHECK(answers.front() != "exhausted");
    CHECK(Experiment(entry, space).turns(turns) == answers);
  });
}

TEST_CASE("tuners: saved and loaded anywhere, the next answers are the same") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    Experiment original(entry, space);
    const int after = turns_of(entry, 6, 2);
    for (const int turns : {0, 1, 5, 8, 10, 12}) {
      original.turns(turns_of(entry, turns, turns / 3));
      Experiment copy = original.restored();
      const auto expected = original.turns(after);
      CHECK(copy.turns(after) == expected);
    }
  });
}

TEST_CASE("tuners: batches of every size") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    Experiment experiment(entry, space);
    for (const std::size_t n : {1u, 2u, 7u, 30u, 64u}) experiment.ask(n);
    CHECK(experiment.ask(0).empty());
  });
}

TEST_CASE("tuners: very many requests without a result") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    if (space.params.size() > 2) return;  // more of the same, and slow without optimisation
    Experiment experiment(entry, space);
    experiment.turns(10);
    for (int i = 0; i < turns_of(entry, 20, 2); ++i) experiment.ask(50);
  });
}

TEST_CASE("tuners: with more trials running than a model looks at") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    if (space.params.size() > 1) return;  // the number of trials matters here
    Experiment experiment(entry, space);
    experiment.turns(turns_of(entry, 10, 4));
    experiment.adopt(1500);
    experiment.ask(static_cast<std::size_t>(turns_of(entry, 200, 3)));
    Experiment copy = experiment.restored();
    experiment.end_all_but(5);
    copy.end_all_but(5);
    CHECK(experiment.ask(2) == copy.ask(2));
    CHECK(dump_json(experiment.tuner().save()) == dump_json(copy.tuner().save()));
  });
}

// What an answer costs must not grow with the trials that run: of very many the oldest and the
// newest may shape it.
TEST_CASE("tuners: of very many running trials most do not shape the answers") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    const auto is_real = [](const Param& param) {
      return !param.condition && is_continuous(param.domain);
    };
    // In a finite space none of them is proposed again.
    if (space.params.size() > 6 || std::ranges::none_of(space.params, is_real)) return;
    Experiment many(entry, space), more(entry, space);
    for (Experiment* one : {&many, &more}) one->turns(turns_of(entry, 40, 15));
    for (Experiment* one : {&many, &more}) one->end_all_but(0);
    for (Experiment* one : {&many, &more}) one->adopt(1000, 1);
    more.adopt(500, 2);
    for (Experiment* one : {&many, &more}) one->adopt(1000, 3);
    CHECK(many.ask(3) == more.ask(3));
  });
}

TEST_CASE("tuners: exhausted is for ever") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    Experiment experiment(entry, space);
    const int most = turns_of(entry, 60, 20);
    for (int i = 0; i < most && !experiment.exhausted(); ++i) experiment.turn();
    if (experiment.exhausted()) experiment.turns(10);  // check() demands it
  });
}

TEST_CASE("tuners: set_space forgets everything") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    auto tuner = make(entry);
    REQUIRE(tuner->set_space(space));
    const auto count_until_exhausted = [&] {
      for (TrialId id = 0; id < 30; ++id) {
        if (std::holds_alternative<Exhausted>(tuner->ask(std::vector{id})[0])) return id;
      }
      return TrialId{30};
    };
    const TrialId first = count_until_exhausted();
    REQUIRE(tuner->set_space(space));
    CHECK(count_until_exhausted() == first);
    for (const TestSpace& other : test_spaces()) {
      const Space& next = other.space;
      if (!tuner->set_space(next)) continue;
      const auto answers = tuner->ask(std::vector<TrialId>{100, 101});
      const auto* proposal = std::get_if<Proposal>(&answers[0]);
      REQUIRE(proposal);
      CHECK(proposal->point.values.size() == next.params.size());
    }
  });
}

TEST_CASE("tuners: a space that is declined changes nothing, and the error names the cure") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    Experiment experiment(entry, space);
    experiment.turns(turns_of(entry, 30, 8));
    Experiment untouched = experiment.restored();
    for (const TestSpace& other : test_spaces()) {
      if (make(entry)->set_space(other.space)) continue;
      const auto declined = experiment.tuner().set_space(other.space);
      REQUIRE_FALSE(declined);
      CAPTURE(declined.error().message);
      CHECK(declined.error().message.starts_with("search_space"));
      CHECK(declined.error().message.find(entry.name + " needs") != std::string::npos);
    }
    const int turns = turns_of(entry, 10, 3);
    CHECK(experiment.turns(turns) == untouched.turns(turns));
  });
}

TEST_CASE("tuners: damaged states are errors and change nothing") {
  for_each_accepted([](const Subject& entry, const Space& space) {
    Experiment experiment(entry, space);
    experiment.turns(30);
    const json good = experiment.tuner().save();
    for (const json& damaged : {json(), json(3), json::array(), json("x"), json::object()}) {
      CHECK_FALSE(experiment.tuner().load(damaged));
    }
    for (const auto& [key, value] : good.items()) {
      for (const json& replacement : {json("x"), json(1.5), json::array({"x"}), json()}) {
        json damaged = good;
        damaged[key] = replacement;
        CAPTURE(key, dump_json(replacement));
        CHECK_FALSE(experiment.tuner().load(damaged));
      }
      json damaged = good;
      damaged.erase(key);
      CAPTURE(key);
      CHECK_FALSE(experiment.tuner().load(damaged));
    }
    CHECK(dump_json(experiment.tuner().save()) == dump_json(good));
  });
}

}  // namespace attune::conformance_test
