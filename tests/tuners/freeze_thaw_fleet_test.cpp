// Whole searches of FreezeThaw on a few workers, and its saved states.
#include <set>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "tests/tuners/bracket_world.h"

namespace attune {
extern const TunerEntry freeze_thaw_entry;
}

namespace attune::freeze_thaw_fleet_test {

using Words = std::vector<std::string>;

std::string choice_of(int points) {
  json values = json::array();
  for (int i = 0; i < points; ++i) values.push_back(i);
  return dump_json({{"x", {{"_type", "choice"}, {"_value", values}}}});
}

// Trials on a few workers, with mishaps, in a finite space.
class Fleet {
 public:
  struct Habits {
    int points = 20;
    std::size_t workers = 3;
    double fails = 0, refuses = 0, diverges = 0;
    bool reads_budget = false;
    int every = 1, last = 27;
    int restart_every = 0;
  };
  Fleet(const Habits& habits, std::uint64_t seed)
      : world_(freeze_thaw_entry, {{"resource_attr", "epoch"}, {"max_t", 27}},
               choice_of(habits.points)),
        habits_(habits),
        rng_(seed) {}

  void run() {
    for (int turn = 0; fill(); ++turn) {
      REQUIRE(turn < 4000);
      if (habits_.restart_every > 0 && turn % habits_.restart_every == 0) world_.restart();
      step();
    }
    CHECK(paused_.empty());
  }
  Words log;

 private:
  bool fill() {
    while (running_.size() < habits_.workers) {
      const std::string answer = world_.asked();
      log.push_back(answer);
      if (answer == "exhausted") break;
      if (answer == "not yet") {
        REQUIRE_FALSE(running_.empty());
        REQUIRE(paused_.empty());
        break;
      }
      TrialId id = world_.next - 1;
      if (answer.starts_with("resume")) {
        id = std::stoi(answer.substr(7));
        if (!paused_.erase(id)) REQUIRE(running_.contains(id));
      } else if (answer.starts_with("from")) {
        epochs_[id] = epochs_.at(std::stoi(answer.substr(5)));
      }
      running_.insert(id);
    }
    return !running_.empty();
  }

  void step() {
    auto at = running_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.index(running_.size())));
    const TrialId id = *at;
    if (rng_.uniform() < habits_.fails) return end(id, End::failed);
    const int epoch = ++epochs_[id];
    const double loss = world_.points[id].values[0] / habits_.points + 1.0 / epoch;
    if (epoch % habits_.every == 0) {
      const bool diverges = rng_.uniform() < habits_.diverges;
      for (const std::string& said : world_.reported(id, epoch, diverges ? NAN : loss)) {
        log.push_back(said);
        carry_out(said);
      }
    }
    if (!running_.contains(id)) return;
    const bool at_budget = habits_.reads_budget && epoch >= world_.budgets[id];
    if (at_budget || epoch >= habits_.last) end(id, End::completed, loss);
  }

  void carry_out(const std::string& said) {
    const TrialId id = std::stoi(said.substr(said.find(' ') + 1));
    const bool runs = running_.contains(id);
    if (said.starts_with("pause") && runs && rng_.uniform() >= habits_.refuses) {
      running_.erase(id);
      paused_.insert(id);
    } else if (said.starts_with("stop") && (runs || paused_.contains(id))) {
      end(id, End::stopped);
    } else if (said.starts_with("complete") && runs) {
      end(id, End::completed, 1);
    }
  }

  void end(TrialId id, End how, std::optional<double> loss = {}) {
    running_.erase(id);
    paused_.erase(id);
    log.push_back("end " + std::to_string(id));
    world_.end(id, how, loss);
  }

  BracketWorld world_;
  Habits habits_;
  Rng rng_;
  std::map<TrialId, int> epochs_;
  std::set<TrialId> running_, paused_;
};

TEST_CASE("FreezeThaw: no trial waits for ever and restarts change nothing") {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Rng rng(seed);
    Fleet::Habits habits{.points = static_cast<int>(1 + rng.index(25)),
                         .workers = 1 + rng.index(6),
                         .fails = rng.index(2) ? 0.03 : 0,
                         .refuses = rng.index(2) ? 0.3 : 0,
                         .diverges = rng.index(3) ? 0 : 0.02,
                         .reads_budget = rng.index(2) == 0,
                         .every = static_cast<int>(1 + rng.index(2) * rng.index(5)),
                         .last = rng.index(4) ? 27 : 12};
    CAPTURE(seed, habits.points, habits.workers, habits.fails, habits.refuses, habits.diverges,
            habits.reads_budget, habits.every, habits.last);
    Fleet fleet(habits, seed);
    fleet.run();
    habits.restart_every = 3;
    Fleet again(habits, seed);
    again.run();
    CHECK(again.log == fleet.log);
  }
}

TEST_CASE("FreezeThaw: damaged states are errors or states with which it goes on") {
  BracketWorld w(freeze_thaw_entry, {{"resource_attr", "epoch"}, {"max_t", 9}}, choice_of(30));
  for (TrialId id = 0; id < 8; ++id) {
    if (w.asked().starts_with("new")) w.report(id, 1, 1.0 + double(id % 3));
  }
  w.end(0, End::completed, 0.5, 1);
  w.end(1, End::failed);
  w.tuner->tell(std::vector{Outcome{kImportedTrial, {{20}}, 1, {}, End::imported, {}}});
  for (int i = 0; i < 4; ++i) w.asked();
  check_damaged_states(w);
  // Numbers that are packed.
  const json good = w.tuner->save();
  const std::vector<std::pair<json::json_pointer, double>> damages = {
      {json::json_pointer("/ledger/trials/states"), 4},
      {json::json_pointer("/ledger/trials/states"), -1},
      {json::json_pointer("/ledger/trials/reached"), -1},
      {json::json_pointer("/ledger/trials/reached"), HUGE_VAL},
      {json::json_pointer("/ledger/trials/reached"), NAN},
      {json::json_pointer("/ledger/trials/until"), -1},
      {json::json_pointer("/ledger/model/losses"), -HUGE_VAL},
      {json::json_pointer("/ledger/model/losses"), 1e200},
      {json::json_pointer("/ledger/model/numbers"), 1000},
      {json::json_pointer("/ledger/model/levels"), 3}};
  for (const auto& [where, number] : damages) {
    CAPTURE(where.to_string(), number);
    json damaged = good;
    auto numbers_there = numbers(good[where]).value();
    numbers_there.at(1) = number;
    damaged[where] = save_numbers(numbers_there);
    CHECK_FALSE(w.tuner->load(damaged));
  }
  // One that waits and has been trained in full, and one that was never seen.
  json damaged = good;
  damaged["ledger"]["trials"]["reached"] =
      save_numbers(std::vector<double>(numbers(good["ledger"]["trials"]["reached"])->size(), 9));
  CHECK_FALSE(w.tuner->load(damaged));
  damaged = good;
  for (const char* column : {"numbers", "levels", "losses", "members"}) {
    damaged["ledger"]["model"][column] = save_numbers({});
  }
  for (const char* count : {"known", "mapped", "fitted_at", "fits"})
    damaged["ledger"]["model"][count] = 0;
  damaged["ledger"]["model"]["process"]["fitted_rows"] = 0;
  CHECK_FALSE(w.tuner->load(damaged));
  CHECK(dump_json(w.tuner->save()) == dump_json(good));
}

}  // namespace attune::freeze_thaw_fleet_test
