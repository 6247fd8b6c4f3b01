// Trials that end in all ways, reports that say nothing, and all of it at random.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "tests/tuners/asha_world.h"

namespace attune::asha_test {

TEST_CASE("ASHA: a trial that ends at its budget is followed by another from its checkpoint") {
  PromotionWorld world = small();
  Point best;
  for (TrialId trial = 0; trial < 3; ++trial) {
    world.ask(trial);
    if (trial == 0) best = world.last;
  }
  for (TrialId trial = 0; trial < 3; ++trial) {
    // With and without reports; one is heard to end after its pause was decided.
    if (trial == 1) world.report(trial, 1, double(trial));
    world.tell(trial, End::completed, double(trial), 1.0);
  }
  world.restart();
  CHECK(world.ask(10) == "new to 3 from 0");
  CHECK(world.last == best);
  CHECK(world.report(0, 2, 7) == "-");  // it is over
  CHECK(world.ask(11) == "new to 1");
  SECTION("which is in its place at the next rung, and can be resumed") {
    for (TrialId trial = 20; trial < 24; ++trial) world.ask(trial);
    for (TrialId trial = 20; trial < 24; ++trial) world.report(trial, 1, 0.5);
    CHECK(world.ask(30) == "trial 20 to 3");
    CHECK(world.report(20, 3, 0.5) == "pause");
    CHECK(world.report(10, 1, 0) == "-");  // from scratch
    CHECK(world.report(10, 3, 0) == "pause");
    CHECK(world.ask(31) == "trial 10 to 9");
    CHECK(world.report(10, 9, 0) == "complete");
    world.tell(10, End::completed, 0.0, 9.0);
  }
  SECTION("and which may end at its budget, too") {
    world.tell(10, End::completed, 0.0, 3.0);
    for (TrialId trial = 20; trial < 28; ++trial) world.ask(trial);
    for (TrialId trial = 20; trial < 28; ++trial) world.report(trial, 1, 0.5);
    CHECK(world.ask(30) == "trial 20 to 3");
    world.restart();
    CHECK(world.report(20, 3, 0.5) == "pause");
    CHECK(world.ask(31) == "new to 9 from 10");
    CHECK(world.last == best);
    world.tell(31, End::completed, 0.0, 9.0);
  }
  SECTION("or be withdrawn: then nobody goes on in its place") {
    world.tuner->withdraw(10);
    world.restart();
    CHECK(world.ask(12) == "new to 1");
    CHECK(world.ask(10) == "new to 1");
  }
}

TEST_CASE("ASHA: a trial that completes while it is paused is followed by another") {
  PromotionWorld world = three_wait();
  SECTION("without a final result") { world.tell(0, End::completed, {}, 1.0); }
  SECTION("with one") { world.tell(0, End::completed, 0.1, 1.0); }
  CHECK(world.report(0, 4, 0) == "-");  // late
  world.tuner->withdraw(0);             // nothing is proposed
  CHECK(world.ask(10) == "new to 3 from 0");
}

TEST_CASE("ASHA: a promotion that came too late for its trial is made again with a new one") {
  PromotionWorld world = three_wait();
  CHECK(world.ask(10) == "trial 0 to 3");
  world.restart();
  world.tell(0, End::completed, 0.0, 1.0);  // still with the old budget
  CHECK(world.ask(10) == "new to 3 from 0");
  world.tell(10, End::completed, 0.0, 3.0);  // with the new one it has reached the rung
  CHECK(world.ask(11) == "new to 1");
}

TEST_CASE("ASHA: a trial that completes before its milestone counts there and goes no further") {
  PromotionWorld world = three_wait();
  CHECK(world.ask(10) == "trial 0 to 3");
  SECTION("by its reports") {
    CHECK(world.report(0, 1.25, 0) == "-");
    CHECK(world.report(0, 1.5, 0) == "-");
    world.tell(0, End::completed, 0.0, 3.0);
  }
  SECTION("by its final result") {
    world.tuner->tell(std::vector{
        Outcome{0, {{0.5, 0.5}}, 0.0, {{"loss", 0}, {"epoch", 2}}, End::completed, 3.0}});
  }
  for (TrialId trial = 20; trial < 24; ++trial) world.ask(trial);
  for (TrialId trial = 20; trial < 24; ++trial) world.report(trial, 1, -1);
  CHECK(world.ask(30) == "trial 20 to 3");
  world.report(20, 3, 1);
  CHECK(world.reason() == "rung 3: 1 ranks 2 of 2 and waits; needs 0.333333");
  CHECK(world.ask(31) == "trial 21 to 3");
}

TEST_CASE("ASHA: a last report just before the milestone, and the final result at it") {
  PromotionWorld world = three_wait();
  CHECK(world.ask(10) == "trial 0 to 3");
  CHECK(world.report(0, 2, 0) == "-");
  world.tell(0, End::completed, 0.0, 3.0);
  for (TrialId trial = 20; trial < 24; ++trial) world.ask(trial);
  for (TrialId trial = 20; trial < 24; ++trial) world.report(trial, 1, 0.5);
  CHECK(world.ask(30) == "trial 20 to 3");
  world.report(20, 3, 1);
  CHECK(world.ask(31) == "new to 9 from 0");
}

TEST_CASE("ASHA: trials that end badly are the worst of their rung, and never go on") {
  const End end = GENERATE(End::failed, End::stopped, End::diverged);
  SECTION("while they run") {
    PromotionWorld world = small();
    for (TrialId trial = 0; trial < 2; ++trial) world.ask(trial);
    world.tell(0, end);
    world.report(1, 1, 1e9);
    CHECK(world.reason() == "rung 1: 1e+09 ranks 1 of 2 and may go on to 3");
    CHECK(world.ask(2) == "trial 1 to 3");
    world.tell(1, end);  // the first at rung 3
    CHECK(world.ask(3) == "new to 1");
    CHECK(world.report(3, 1, 5) == "pause");
    CHECK(world.ask(4) == "trial 3 to 3");
    CHECK(world.report(3, 3, 5) == "pause");
    CHECK(world.ask(5) == "trial 3 to 9");
    world.tell(3, end);
    CHECK(world.ask(6) == "new to 1");
  }
  SECTION("while they are paused, where their loss counts on") {
    PromotionWorld world = three_wait();
    world.tell(0, end);
    CHECK(world.ask(10) == "new to 1");
    world.report(10, 1, 0.5);
    CHECK(world.reason() == "rung 1: 0.5 ranks 2 of 4 and may go on to 3");
    CHECK(world.ask(11) == "trial 10 to 3");
  }
  SECTION("after their promotion") {
    PromotionWorld world = three_wait();
    CHECK(world.ask(10) == "trial 0 to 3");
    world.tell(0, end, {}, 1.0);
    CHECK(world.ask(11) == "new to 1");
  }
}

TEST_CASE("ASHA: a trial that could not be paused counts at the next level") {
  PromotionWorld world = three_wait();
  CHECK(world.report(0, 2, 0) == "-");
  SECTION("where it is to be paused again") {
    CHECK(world.report(0, 3, 0.25) == "pause");
    CHECK(world.reason() == "rung 3: 0.25 is the first there and waits for others");
    CHECK(world.ask(10) == "new to 1");  // it needs no promotion to 3
    world.report(0, 9, 0.25);
    CHECK(world.reason() == "epoch has reached 9");
  }
  SECTION("also if its promotion was not carried out") {
    CHECK(world.ask(10) == "trial 0 to 3");
    CHECK(world.ask(10) == "new to 1");
    CHECK(world.report(0, 2.5, 0) == "-");
    CHECK(world.report(0, 3, 0) == "pause");
  }
  SECTION("or at its own end before it") {
    CHECK(world.report(0, 2.25, 0) == "-");
    world.tell(0, End::completed, 0.0, 1.0);
    CHECK(world.ask(10) == "new to 1");
  }
  SECTION("but a late report is not enough for that") {
    CHECK(world.ask(10) == "trial 0 to 3");
    CHECK(world.report(0, 1, 0) == "-");
    CHECK(world.report(0, 3, 0) == "pause");
  }
}

TEST_CASE("ASHA: a report beyond the milestone is one at the milestone") {
  PromotionWorld world = small();
  for (TrialId trial = 0; trial < 2; ++trial) world.ask(trial);
  for (TrialId trial = 0; trial < 2; ++trial) {
    CHECK(world.report(trial, 4, double(trial)) == "pause");
  }
  CHECK(world.ask(10) == "trial 0 to 3");
  CHECK(world.report(0, 8, 0) == "pause");
  CHECK(world.ask(11) == "new to 1");
  CHECK(world.report(0, 12, 0) == "complete");
  CHECK(world.report(0, 16, 0) == "-");
}

TEST_CASE("ASHA: reports that it cannot place do not count, and NaN at a rung stops the trial") {
  PromotionWorld world = small();
  for (TrialId trial = 0; trial < 2; ++trial) world.ask(trial);
  const auto ignored = [&](const Metrics& metrics) {
    return world.tuner->on_report({0, 0, metrics}).empty();
  };
  CHECK(ignored({}));
  CHECK(ignored({{"loss", 1}}));
  CHECK(ignored({{"loss", 1}, {"epoch", NAN}}));
  CHECK(ignored({{"loss", 1}, {"epoch", -1}}));
  CHECK(ignored({{"epoch", 1}, {"other", 2}}));
  CHECK(world.report(0, 0.5, NAN) == "-");
  CHECK(world.report(77, 1, 1) == "-");  // not ours
  const double value = GENERATE(NAN, -INFINITY, INFINITY);
  CHECK(world.report(0, 1, value) == "stop");
  CHECK(world.reason() == "rung 1: \"loss\" is not finite");
  REQUIRE(world.decisions.size() == 2);
  CHECK(world.decisions[1].action == Action::drop_checkpoint);
  CHECK(world.report(0, 2, 0) == "-");
  world.tell(0, End::stopped);
  CHECK(world.report(1, 1, 5) == "pause");
  CHECK(world.ask(2) == "trial 1 to 3");

  PromotionWorld costs = small({{"type", "cost_promotion"}, {"cost_attr", "cost"}});
  costs.ask(0);
  CHECK(costs.report(0, 1, 1) == "-");
  CHECK(costs.report(0, 1, 1, {{"cost", NAN}}) == "-");
  CHECK(costs.report(0, 1, 1, {{"cost", -1}}) == "-");
  CHECK(costs.report(0, 2, 1, {{"cost", 0}}) == "pause");
}

// What a manager may do, at random: trials report, skip reports, ignore pauses, end in all ways.
// Returns what was asked and decided.
std::vector<std::string> random_life(PromotionWorld& world, std::uint64_t seed, int steps,
                                     int restart_every) {
  Rng rng(seed);
  struct Job {
    double at = 0, budget = 0;
    bool heeds = true, paused = false;
    double quality = 0;
  };
  std::map<TrialId, Job> jobs;
  std::vector<std::string> said;
  TrialId next = 0;
  const auto end = [&](TrialId id, End how) {
    const Job job = jobs.at(id);
    jobs.erase(id);
    const bool good = how == End::completed && rng.index(5) > 0;
    world.tell(id, how, good ? std::optional(job.quality + 1 / (job.at + 1)) : std::nullopt,
               job.budget);
  };
  for (int step = 0; step < steps; ++step) {
    if (step % restart_every == restart_every - 1) world.restart();
    const auto running =
        std::ranges::count_if(jobs, [](const auto& job) { return !job.second.paused; });
    if (running < 6) {
      const Answer answer = world.tuner->ask(std::vector{next})[0];
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        const TrialId id = proposal->resume.value_or(next);
        if (proposal->resume) {
          REQUIRE(jobs.contains(id));
          said.push_back("resume " + std::to_string(id));
          Job& job = jobs.at(id);
          // Some begin again, and some could not be paused.
          if (!job.paused) continue;
          if (rng.index(4) == 0) job.at = 0;
          job.paused = false;
          job.budget = *proposal->budget;
        } else {
          jobs[id] = {
              .budget = *proposal->budget, .heeds = rng.index(3) > 0, .quality = rng.normal()};
          said.push_back(proposal->checkpoint_from ? "follow" : "new");
        }
        ++next;
      }
    }
    if (jobs.empty()) continue;
    auto chosen = jobs.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(jobs.size())));
    auto& [id, job] = *chosen;
    if (rng.index(40) == 0) {
      end(id, End::failed);
    } else if (rng.index(60) == 0) {
      end(id, End::stopped);
    } else if (!job.paused) {
      job.at += rng.index(8) == 7 ? 2 : 1;
      const double value = rng.index(50) == 0 ? NAN : job.quality + 1 / (job.at + 1);
      const std::string decision = rng.index(10) == 0 ? "-" : world.report(id, job.at, value);
      if (decision != "-") said.push_back(decision + " " + std::to_string(id));
      if (decision == "complete" || decision == "stop") {
        end(id, decision == "stop" ? End::stopped : End::completed);
      } else if (decision == "pause" && rng.index(5) > 0) {
        job.paused = true;
      } else if ((job.heeds && job.at >= job.budget) || rng.index(30) == 0 || job.at > 12) {
        end(id, End::completed);
      }
    }
  }
  return said;
}

TEST_CASE("ASHA: any life of trials is answered, and the same after restarts") {
  const std::string type = GENERATE("promotion", "rush_promotion");
  json more = {{"type", type}, {"brackets", 2}};
  if (type == "rush_promotion") more["num_threshold_candidates"] = 4;
  std::set<std::string> kinds;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed, type);
    PromotionWorld one = small(more), other = small(more);
    const auto said = random_life(one, seed, 600, 1'000'000);
    CHECK(random_life(other, seed, 600, 41) == said);
    for (const std::string& text : said) kinds.insert(text.substr(0, text.find(' ')));
  }
  const std::set<std::string> all = {"new", "resume", "follow", "pause", "stop", "complete"};
  CHECK(kinds == all);
}

TEST_CASE("ASHA: damaged states are errors and change nothing") {
  PromotionWorld world = small({{"type", "rush_promotion"}, {"num_threshold_candidates", 3}});
  random_life(world, 5, 300, 1'000'000);
  world.tell(kImportedTrial, End::imported, 0.5, 1.0);
  const json good = world.tuner->save();
  const auto refused = [&](const json& state) { CHECK_FALSE(world.tuner->load(state)); };
  for (const auto& [key, value] : good.items()) {
    for (const json& wrong : {json("x"), json(1.5), json::array({"x"}), json(), json(-1)}) {
      json state = good;
      state[key] = wrong;
      CAPTURE(key, dump_json(wrong));
      refused(state);
    }
    json state = good;
    state.erase(key);
    refused(state);
  }
  json state = good;
  state["arms"] = "";  // those that wait are missing
  refused(state);
  state = good;
  state["searcher"] = small().tuner->save()["searcher"];  // it knows none of the trials
  refused(state);
  state = good;
  state["foreign"]["next"] = -1;
  refused(state);
  CHECK(dump_json(world.tuner->save()) == dump_json(good));
  CHECK(world.tuner->load(good));
}

}  // namespace attune::asha_test
