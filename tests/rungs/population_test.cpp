#include "rungs/population.h"

#include <cmath>
#include <map>

#include "base/saved_numbers.h"
#include "tests/support/scheduler_traces.h"

namespace attune::population_test {

using Member = Population::Member;
using Members = std::vector<Member>;
using Status = Population::Status;
using Verdict = Population::Verdict;

Member number(const json& text) { return static_cast<Member>(std::stoul(text.get<std::string>())); }
Members numbers(const json& texts) {
  Members all;
  for (const json& text : texts) all.push_back(number(text));
  return all;
}

const char* name(Verdict verdict) {
  return verdict == Verdict::keep_going ? "CONTINUE" : verdict == Verdict::pause ? "PAUSE" : "NOOP";
}

PopulationRule rule_of(const json& args) {
  return {.interval = args.value("perturbation_interval", 60.0),
          .burn_in = args.value("burn_in_period", 0.0),
          .fraction = args.value("quantile_fraction", 0.25),
          .synchronous = args.value("synch", false)};
}

// A trace of Ray. Its donors are given to the rule as draws, everything else is compared.
class Replay {
 public:
  explicit Replay(const json& trace)
      : trace_(trace), rule_(rule_of(trace["args"])), population_(rule_) {}

  int run() {
    const json& events = trace_["events"];
    for (std::size_t i = 0; i < events.size();) {
      const json& event = events[i];
      json nested = json::array();  // what the scheduler did in the call
      for (++i; i < events.size() && is_nested(events[i]); ++i) nested.push_back(events[i]);
      CAPTURE(event.dump(), nested.dump());
      handle(event, nested);
    }
    return checked_;
  }

  // A new rule with the saved state replaces the present one after each event.
  void restore_always() { restores_ = true; }

 private:
  static bool is_nested(const json& event) {
    const std::string kind = event[0];
    return kind == "quantiles" || kind == "exploit" || kind.starts_with("runner.");
  }

  void handle(const json& event, const json& nested) {
    const std::string kind = event[0];
    const Member member = number(event[1]);
    if (kind == "add") {
      REQUIRE(population_.add() == member);
    } else if (kind == "start" || kind == "unpause") {
      const auto next = population_.next();
      REQUIRE(next);
      REQUIRE(*next == member);
      REQUIRE((population_.status(member) == Status::waiting) == (kind == "start"));
      population_.set_status(member, Status::running);
      ++checked_;
    } else {
      // A free slot that is not used: nobody was ready.
      if (running() < trace_["slots"]) REQUIRE_FALSE(population_.next());
      if (kind == "complete") {
        population_.end(member, [](auto, auto) -> std::size_t { throw "no round"; });
        REQUIRE(nested.empty());
      } else {
        REQUIRE(kind == "result");
        result(event, member, nested);
      }
      ++checked_;
    }
    if (!restores_) return;
    Population restored(rule_);
    REQUIRE(restored.load(population_.save()));
    REQUIRE(restored.save() == population_.save());
    population_ = restored;
  }

  void result(const json& event, Member member, const json& nested) {
    std::map<Member, json> exploits;
    Members saves, losers;
    for (const json& one : nested) {
      if (one[0] == "exploit") {
        losers.push_back(number(one[1]));
        exploits[losers.back()] = one;
      }
      if (one[0] == "runner.save") saves.push_back(number(one[1]));
    }
    const auto draw = [&](Member loser, std::size_t donors) -> std::optional<std::size_t> {
      const Members best = population_.best();
      REQUIRE(best.size() == donors);
      for (std::size_t i = 0; i < donors; ++i) {
        // Without an exploit Ray drew one that it had no checkpoint of.
        if (exploits.contains(loser) ? number(exploits[loser][2]) == best[i]
                                     : !population_.may_be_copied(best[i])) {
          return i;
        }
      }
      FAIL("Ray copied nobody, or another one");
      return 0;
    };
    const auto step = population_.report(member, event[2], -event[3].get<double>(), draw);
    REQUIRE(name(step.verdict) == event[4].get<std::string>());
    REQUIRE(step.judged == (!nested.empty() && nested[0][0] == "quantiles"));
    if (step.judged) {
      REQUIRE(population_.worst() == numbers(nested[0][1]));
      REQUIRE(population_.best() == numbers(nested[0][2]));
    }
    // Those that were paused before have their states already: Ray saves only the one that runs.
    const bool saved = std::ranges::find(step.saved, member) != step.saved.end();
    REQUIRE(saves == (saved ? Members{member} : Members{}));
    REQUIRE(step.exploits.size() == losers.size());
    for (std::size_t i = 0; i < losers.size(); ++i) {
      const json& recorded = exploits[losers[i]];
      REQUIRE(step.exploits[i].loser == losers[i]);
      REQUIRE(step.exploits[i].donor == number(recorded[2]));
      REQUIRE(population_.resource(losers[i]) == recorded[5]["last_train_time"]);
      REQUIRE(population_.status(losers[i]) == Status::paused);
    }
    if (step.verdict == Verdict::pause) population_.set_status(member, Status::paused);
  }

  int running() const {
    int count = 0;
    for (Member m = 0; m < population_.size(); ++m) {
      count += population_.status(m) == Status::running ? 1 : 0;
    }
    return count;
  }

  const json& trace_;
  PopulationRule rule_;
  Population population_;
  bool restores_ = false;
  int checked_ = 0;
};

TEST_CASE("Population: all of Ray's traces, decision by decision") {
  int checked = 0;
  for (const auto& path : traces("ray_pbt_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    checked += Replay(trace).run();
  }
  CAPTURE(checked);
  CHECK(checked > 1000);
}

TEST_CASE("Population: a saved state goes on the same") {
  for (const auto& path : traces("ray_pbt_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    Replay replay(trace);
    replay.restore_always();
    replay.run();
  }
}

// Ray's own tests, as calls. They do not tell whom a loser copied, but how many were copied.
class Calls {
 public:
  int run(const json& test) {
    int checked = 0;
    for (const json& call : test["events"]) {
      CAPTURE(call.dump());
      const json before = call.value("status_before", json::object());
      for (const auto& [trial, status] : before.items()) {
        if (population_ && number(trial) < population_->size()) set(number(trial), status);
      }
      const std::string op = call["op"];
      if (op == "new") {
        REQUIRE(call["cls"] == "PopulationBasedTraining");
        args_ = call["args"];
        population_.emplace(rule_of(args_));
      } else if (op == "on_trial_add") {
        const Member member = population_->add();
        REQUIRE(member == call["trial"]);
        if (before.contains(std::to_string(member))) set(member, before[std::to_string(member)]);
      } else if (op == "on_trial_result") {
        checked += result(call);
      } else if (op == "on_trial_complete") {
        population_->end(call["trial"], [](auto, auto) -> std::size_t { throw "no round"; });
      } else {
        REQUIRE(op == "choose_trial_to_run");
        const auto next = population_->next();
        REQUIRE(next.has_value() == !call["chosen"].is_null());
        if (next) REQUIRE(*next == call["chosen"]);
        ++checked;
      }
    }
    return checked;
  }

 private:
  void set(Member member, const std::string& status) {
    if (status == "RUNNING") population_->set_status(member, Status::running);
    if (status == "PAUSED") population_->set_status(member, Status::paused);
    if (status == "PENDING") population_->set_status(member, Status::waiting);
  }

  int result(const json& call) {
    const json& metrics = call["result"];
    const auto resource = metrics.find(args_.value("time_attr", "time_total_s"));
    const auto score = metrics.find(args_["metric"].get<std::string>());
    if (call.contains("raises")) {  // the tuner ignores such a report
      REQUIRE((resource == metrics.end() || score == metrics.end()));
      return 1;
    }
    // The counters began again at 0 if they are lower than before.
    int copies = call["perturbations"], saves = call["checkpoints"];
    const bool anew = copies < perturbations_ || saves < checkpoints_;
    if (!anew) {
      copies -= perturbations_;
      saves -= checkpoints_;
    }
    perturbations_ = call["perturbations"];
    checkpoints_ = call["checkpoints"];

    const double loss = score->is_string() ? NAN : -score->get<double>();
    const auto before = statuses();
    int drawn = 0;
    const auto step =
        population_->report(call["trial"], *resource, loss,
                            [&](Member, std::size_t donors) -> std::optional<std::size_t> {
                              const Members best = population_->best();
                              const bool copied = drawn++ < copies;
                              for (std::size_t i = 0; i < donors; ++i) {
                                // The trials of these tests have no checkpoint when they were only
                                // paused.
                                const bool has = population_->may_be_copied(best[i]) &&
                                                 before[best[i]] != Status::paused;
                                if (has == copied) return copied ? std::optional(i) : std::nullopt;
                              }
                              FAIL("no such donor");
                              return std::nullopt;
                            });
    REQUIRE(name(step.verdict) == call["decision"].get<std::string>());
    REQUIRE(static_cast<int>(step.exploits.size()) == copies);
    REQUIRE(static_cast<int>(step.saved.size()) == saves);
    const auto after = statuses();
    const json expected = call.value("status_after", json::object());
    for (const auto& [trial, status] : expected.items()) {
      REQUIRE(status == "PAUSED");
      REQUIRE(after[number(trial)] == Status::paused);
    }
    return 1;
  }

  std::vector<Status> statuses() const {
    std::vector<Status> all;
    for (Member m = 0; m < population_->size(); ++m) all.push_back(population_->status(m));
    return all;
  }

  json args_;
  std::optional<Population> population_;
  int perturbations_ = 0, checkpoints_ = 0;
};

TEST_CASE("Population: Ray's own test cases") {
  int tests = 0, checked = 0;
  const json cases = read_trace(traces_folder() / "ray_unit_scheduler_calls.json");
  for (const auto& [title, test] : cases["tests"].items()) {
    if (test["events"].empty() || test["events"][0].value("cls", "") != "PopulationBasedTraining")
      continue;
    CAPTURE(title);
    checked += Calls().run(test);
    ++tests;
  }
  CHECK(tests == 16);
  CHECK(checked > 100);
}

// Always the best one.
std::optional<std::size_t> best_of(Member, std::size_t donors) { return donors - 1; }

Population running(std::size_t count, const PopulationRule& rule) {
  Population population(rule);
  for (std::size_t i = 0; i < count; ++i) {
    population.set_status(population.add(), Status::running);
  }
  return population;
}

TEST_CASE("Population: a loser copies only whom it may") {
  Population population = running(4, {.interval = 10});
  CHECK(population.report(0, 9, 1, best_of).verdict == Verdict::keep_going);
  CHECK_FALSE(population.report(0, 9.5, 1, best_of).judged);
  CHECK(population.report(0, 10, 1, best_of).judged);
  CHECK(population.report(1, 10, 2, best_of).exploits.empty());  // 0 was alone when it was judged
  const auto good = population.report(2, 10, 0.5, best_of);
  CHECK(good.saved == Members{2});
  const auto bad = population.report(3, 12, 3, best_of);
  CHECK(bad.verdict == Verdict::exploited);
  REQUIRE(bad.exploits.size() == 1);
  CHECK(bad.exploits[0].donor == 2);
  CHECK(population.next() == 3u);
  CHECK(population.resource(3) == 10);
  CHECK_FALSE(population.report(3, 30, 9, best_of).judged);  // it is paused: too late
  population.set_status(3, Status::running);
  CHECK_FALSE(population.report(3, 19, 0.1, best_of).judged);  // its interval began at 10
  CHECK(population.report(3, 20, 0.1, best_of).saved == Members{3});
}

TEST_CASE("Population: losses that are not finite are the worst, and nobody copies them") {
  const double bad = GENERATE(NAN, INFINITY, -INFINITY);
  Population population = running(3, {.interval = 1, .fraction = 0.5});
  population.report(0, 1, bad, best_of);
  CHECK(population.report(1, 1, bad, best_of).exploits.empty());
  CHECK(population.best() == Members{1});
  population.report(2, 1, 1e300, best_of);
  CHECK(population.best() == Members{2});
  CHECK(population.report(1, 2, bad, best_of).verdict == Verdict::keep_going);  // not the worst
  CHECK(population.report(0, 2, bad, best_of).exploits[0].donor == 2);
}

TEST_CASE("Population: nobody is copied with a fraction of 0, or alone") {
  Population none = running(5, {.interval = 1, .fraction = 0});
  for (Member m = 0; m < 5; ++m) {
    const auto step = none.report(m, 1, static_cast<double>(m), best_of);
    CHECK((step.saved.empty() && step.exploits.empty()));
  }
  Population alone = running(1, {.interval = 1, .synchronous = true});
  CHECK(alone.report(0, 1, 5, best_of).verdict == Verdict::pause);
  alone.set_status(0, Status::paused);
  CHECK(alone.next() == 0u);
}

TEST_CASE("Population: a synchronous round does not wait for one that has ended") {
  Population population = running(4, {.interval = 10, .synchronous = true});
  for (const Member m : {0u, 1u, 2u}) {
    CHECK(population.report(m, 10, static_cast<double>(m), best_of).verdict == Verdict::pause);
    population.set_status(m, Status::paused);
  }
  CHECK_FALSE(population.next());  // they wait for 3
  const auto step = population.end(3, best_of);
  CHECK(step.saved == Members{0});
  REQUIRE(step.exploits.size() == 1);
  CHECK(step.exploits[0].loser == 2);
  CHECK(population.next() == 0u);
  CHECK(population.live() == 3);
  // One that ends between the rounds completes none.
  population.set_status(0, Status::running);
  CHECK_FALSE(population.end(1, best_of).judged);
  CHECK(population.next() == 2u);
}

TEST_CASE("Population: after a synchronous round somebody trains, however far all have come") {
  const auto first = [](Member, std::size_t) { return std::size_t{0}; };
  const double far = GENERATE(14.0, 1e15);
  Population population = running(2, {.interval = 0.01, .fraction = 0.5, .synchronous = true});
  CHECK(population.report(0, far, 1, first).verdict == Verdict::pause);
  population.set_status(0, Status::paused);
  CHECK(population.report(1, 2, 9, first).verdict == Verdict::exploited);
  CHECK(population.resource(1) == far);
  CHECK(population.next() == 0);
}

TEST_CASE("Population: an impossible state changes nothing") {
  Population population = running(3, {.interval = 1});
  for (Member m = 0; m < 3; ++m) population.report(m, 1, static_cast<double>(m), best_of);
  const json good = population.save();
  const auto damaged = [&](std::size_t at, double value) {
    auto numbers = numbers_at(good, "members").value();
    numbers.at(at) = value;
    json state = good;
    state["members"] = save_numbers(numbers);
    return state;
  };
  for (const json& state :
       {damaged(0, 4), damaged(1, 2), damaged(2, 0.5), damaged(3, NAN), damaged(4, INFINITY),
        damaged(5, -1), json{{"members", "x"}, {"next_sync", good["next_sync"]}},
        json{{"members", good["members"]}, {"next_sync", save_numbers(std::vector<double>{})}},
        json{{"members", save_numbers(std::vector{1.0})}, {"next_sync", good["next_sync"]}}}) {
    CAPTURE(state.dump());
    CHECK_FALSE(population.load(state));
  }
  CHECK(population.save() == good);
}

}  // namespace attune::population_test
