// Whole searches of FreezeThaw behind a dispatcher, under managers of every ability whose trials do
// whatever trials do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "tests/support/stepped.h"
#include "tests/support/through_text.h"
#include "tuners/parts/curve_trials.h"

namespace attune::freeze_thaw_search_test {

constexpr double kFull = 27;
constexpr auto kOver = static_cast<double>(Curve::State::over);

struct Habits {
  Capabilities can;
  int points = 20;  // of the space
  int concurrency = 3;
  int last_step = 27;                           // after which a trial ends by itself
  bool reads_budget = false;                    // a trial ends by itself at TRIAL_BUDGET, too
  int every = 1;                                // steps between two reports; 0: none
  bool finals = true;                           // final results
  double fails = 0, diverges = 0, repeats = 0;  // at each step: ends, is NaN, reports twice
  double refuses = 0, late = 0;                 // at each pause
  int restart_every = 0;                        // steps of all trials
  int changes_at = 0;                           // this step: the space, to one of other_points
  int other_points = 0;
  int imports_at = 0;  // this step
};

std::string space_of(int points) {
  json values = json::array();
  for (int i = 0; i < points; ++i) values.push_back(i);
  return dump_json({{"x", {{"_type", "choice"}, {"_value", values}}}});
}

// Runs a search to its end. It checks what it is told.
class Search {
 public:
  Search(const Habits& habits, std::uint64_t seed)
      : habits_(habits), rng_(seed), daemon_(make()), space_(space_of(habits.points)) {}

  void run() {
    tell("IN", space_);
    request();
    while (running() > 0) {
      REQUIRE(++steps < 200 * (habits_.points + habits_.other_points) + 1000);
      step(pick());
      if (steps == habits_.changes_at) change_space();
      if (steps == habits_.imports_at) {
        tried.insert(0);
        tell("FD", R"([{"parameter": {"x": 0}, "value": "0.5"}])");
      }
      if (habits_.restart_every > 0 && steps % habits_.restart_every == 0 && steps < 1000)
        restart();
      check_idle();
    }
    CHECK(exhausted_);
    CHECK(jobs_.empty());
    // Nor does the tuner believe that something runs or waits, whatever the manager can do.
    const json state = daemon_->save()["tuner"]["session"]["tuner"]["ledger"]["trials"]["states"];
    const std::vector<double> states = numbers(state).value();
    CHECK(std::ranges::count(states, kOver) == std::ssize(states));
  }

  int points() const {
    const bool changed = habits_.changes_at > 0 && steps >= habits_.changes_at;
    return changed ? habits_.other_points : habits_.points;
  }

  int steps = 0, resumed = 0, begun_from = 0, full = 0;
  std::set<int> tried;

 private:
  struct Job {
    json id, parameters;
    std::string text;
    std::string checkpoint = {};
    int step = 0;
    bool paused = false, pausing = false;
  };

  std::unique_ptr<Stepped> make() const {
    DispatcherOptions options;
    options.capabilities = habits_.can;
    return Stepped::make("FreezeThaw", {{"max_t", kFull}}, "", {}, options);
  }

  std::size_t running() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(jobs_, [](const auto& one) { return !one.second.paused; }));
  }
  std::string pick() {
    std::size_t left = rng_.index(running());
    for (const auto& [name, job] : jobs_) {
      if (!job.paused && left-- == 0) return name;
    }
    return {};
  }

  // While a worker is idle and asks, no trial waits: it would be given to that worker.
  void check_idle() const {
    const bool pausing = std::ranges::any_of(jobs_, [](const auto& j) { return j.second.pausing; });
    if (running() == static_cast<std::size_t>(habits_.concurrency) || pausing || exhausted_) return;
    CHECK(running() > 0);
    CHECK(running() == jobs_.size());
  }

  void step(const std::string& name) {
    Job& job = jobs_.at(name);
    if (rng_.uniform() < habits_.fails) return end(name, "FAILED");
    ++job.step;
    const int x = job.parameters.at("x");
    const double value = std::abs(x - 0.4 * habits_.points) / habits_.points + 1.0 / job.step;
    if (habits_.every > 0 && job.step % habits_.every == 0) {
      const bool twice = rng_.uniform() < habits_.repeats;
      const double reported = rng_.uniform() < habits_.diverges ? NAN : value;
      for (int i = 0; i < (twice ? 2 : 1) && runs(name); ++i) report(name, job.step, reported);
    }
    if (!runs(name)) return;
    if (jobs_.at(name).pausing) {
      if (rng_.uniform() < 0.5) return pause(name);
    }
    const bool at_budget = habits_.reads_budget && job.step >= job.parameters["TRIAL_BUDGET"];
    if (!at_budget && job.step < habits_.last_step) return;
    if (habits_.finals) {
      tell("ME", dump_json({{"parameter_id", job.id},
                            {"trial_job_id", name},
                            {"type", "FINAL"},
                            {"sequence", 0},
                            {"value", dump_json(value)}}));
    }
    if (runs(name)) end(name, "SUCCEEDED");
  }

  bool runs(const std::string& name) const {
    const auto at = jobs_.find(name);
    return at != jobs_.end() && !at->second.paused;
  }

  void report(const std::string& name, int at, double value) {
    tell("ME", dump_json({{"parameter_id", jobs_.at(name).id},
                          {"trial_job_id", name},
                          {"type", "PERIODICAL"},
                          {"sequence", sequence_[name]++},
                          {"value", dump_json({{"default", value}, {"training_iteration", at}})}}));
  }

  void end(const std::string& name, const std::string& event) {
    const Job job = jobs_.extract(name).mapped();
    if (job.step >= kFull) ++full;
    tell("EN", dump_json({{"trial_job_id", name}, {"event", event}, {"hyper_params", job.text}}));
    request();
  }

  void pause(const std::string& name) {
    Job& job = jobs_.at(name);
    job.pausing = false;
    if (rng_.uniform() < habits_.refuses) {
      tell("EN",
           dump_json(
               {{"trial_job_id", name}, {"event", "PAUSE_FAILED"}, {"hyper_params", job.text}}));
      return;
    }
    job.paused = true;
    json payload = {{"trial_job_id", name}, {"event", "PAUSED"}, {"hyper_params", job.text}};
    if (habits_.can.checkpoint) payload["checkpoint"] = saved(job);
    tell("EN", dump_json(payload));
    request();
  }

  std::string saved(Job& job) {
    job.checkpoint = "c" + std::to_string(next_checkpoint_++);
    checkpoints_[job.checkpoint] = job.step;
    return job.checkpoint;
  }

  // As many as there are idle workers, without those that were asked for and have not come yet.
  void request() {
    int count = habits_.concurrency - static_cast<int>(running());
    for (const auto& [first, missing] : requests_) count -= missing;
    if (count <= 0 || exhausted_) return;
    requests_[next_id_] = count;
    next_id_ += count;
    tell("GE", std::to_string(count));
  }
  int& missing_of(const ParameterId& id) {
    const auto number = static_cast<int>(std::get<std::int64_t>(id));
    return std::prev(requests_.upper_bound(number))->second;
  }

  void change_space() {
    space_ = space_of(habits_.other_points);
    exhausted_ = false;
    tell("SS", space_);
    request();
  }

  void restart() {
    const json state = through_text(daemon_->save());
    daemon_ = make();
    REQUIRE(daemon_->restart(state).has_value());
    tell("IN", space_);
    tell("FD", "[]");
    json list = json::array();
    std::map<std::string, Job> jobs;
    for (auto& [name, job] : jobs_) {
      json entry = {{"parameter_id", job.id},
                    {"parameter_source", "resumed"},
                    {"parameters", job.parameters}};
      std::string next = name;
      if (habits_.can.pause) {
        entry["trial_job_id"] = name;
        if (job.paused) entry["paused"] = true;
        if (!job.checkpoint.empty()) entry["checkpoint"] = job.checkpoint;
      } else {
        job.step = 0;
        next += "again";
        sequence_[next] = 0;
      }
      jobs[next] = job;
      list.push_back(std::move(entry));
    }
    jobs_ = std::move(jobs);
    exhausted_ = false;
    requests_.clear();
    tell("AD", dump_json(list));
    request();
  }

  void tell(const std::string& code, const std::string& payload) {
    daemon_->send(code, payload);
    for (Frame& frame : daemon_->take()) answers_.push_back(std::move(frame));
    if (handling_) return;
    handling_ = true;
    while (!answers_.empty()) {
      const Frame frame = std::move(answers_.front());
      answers_.pop_front();
      std::visit([&](const auto& command) { on(command, frame); }, decode(frame).value());
    }
    handling_ = false;
  }

  void on(const NewTrialJob& command, const Frame& frame) {
    --missing_of(command.parameter_id);
    std::string name = command.resume_trial_job_id;
    if (name.empty()) {
      name = "J" + std::to_string(next_job_++);
    } else {
      ++resumed;
      REQUIRE(habits_.can.pause);
      REQUIRE(jobs_.contains(name));
      REQUIRE(jobs_.at(name).paused);
    }
    Job& job = jobs_[name];
    job.id = to_json(command.parameter_id);
    REQUIRE(ids_.insert(dump_json(job.id)).second);
    job.parameters = command.parameters;
    job.text = frame.payload;
    job.paused = false;
    tried.insert(job.parameters["x"].get<int>());
    if (!command.checkpoint_from.empty()) {
      ++begun_from;
      REQUIRE(habits_.can.checkpoint);
      job.step = checkpoints_.at(command.checkpoint_from);
    }
    REQUIRE(running() <= static_cast<std::size_t>(habits_.concurrency));
  }
  void on(const KillTrialJob& command, const Frame&) {
    if (jobs_.contains(command.trial_job_id)) end(command.trial_job_id, "EARLY_STOPPED");
  }
  void on(const PauseTrialJob& command, const Frame&) {
    REQUIRE(habits_.can.pause);
    REQUIRE_FALSE(jobs_.at(command.trial_job_id).paused);
    jobs_.at(command.trial_job_id).pausing = true;
    if (rng_.uniform() >= habits_.late) pause(command.trial_job_id);
  }
  void on(const SaveCheckpoint& command, const Frame&) {
    REQUIRE(habits_.can.checkpoint);
    tell("CK", dump_json({{"trial_job_id", command.trial_job_id},
                          {"checkpoint", saved(jobs_.at(command.trial_job_id))}}));
  }
  void on(const DropCheckpoint& command, const Frame&) {
    REQUIRE(checkpoints_.erase(command.checkpoint) == 1);
  }
  void on(const NoMoreTrialJobs& command, const Frame&) {
    exhausted_ = true;
    missing_of(command.parameter_id) = 0;
  }
  void on(const Initialized&, const Frame&) {}
  template <class Other>
  void on(const Other&, const Frame& frame) {
    FAIL(frame.code);
  }

  const Habits habits_;
  Rng rng_;
  std::unique_ptr<Stepped> daemon_;
  std::string space_;
  std::map<std::string, Job> jobs_;  // not ended
  std::map<std::string, int> checkpoints_, sequence_;
  std::set<std::string> ids_;
  std::map<int, int> requests_;  // the first id, and how many have not come
  std::deque<Frame> answers_;
  bool handling_ = false, exhausted_ = false;
  int next_id_ = 0, next_job_ = 0, next_checkpoint_ = 0;
};

std::string text_of(const Habits& h) {
  return fmt::format(
      "pause {} checkpoint {} points {} workers {} last {} budget {} every {} finals {} fails {} "
      "diverges {} repeats {} refuses {} late {} restarts {} changes at {} to {} imports at {}",
      h.can.pause, h.can.checkpoint, h.points, h.concurrency, h.last_step, h.reads_budget, h.every,
      h.finals, h.fails, h.diverges, h.repeats, h.refuses, h.late, h.restart_every, h.changes_at,
      h.other_points, h.imports_at);
}

TEST_CASE("FreezeThaw: every search comes to its end, whatever trials and managers do") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const auto one_of = [&](auto... values) {
      const std::array all{values...};
      return all[rng.index(all.size())];
    };
    Habits habits;
    habits.can.pause = rng.index(2);
    habits.can.checkpoint = rng.index(2);
    habits.points = one_of(1, 2, 5, 12, 30, 60);
    habits.concurrency = one_of(1, 3, 20);
    habits.last_step = one_of(2, 10, 27, 27, 27, 40);
    habits.reads_budget = rng.index(2);
    habits.every = one_of(1, 1, 1, 2, 5, 0);
    habits.finals = rng.index(4) > 0;
    habits.fails = one_of(0.0, 0.0, 0.02);
    habits.diverges = one_of(0.0, 0.0, 0.02);
    habits.repeats = one_of(0.0, 0.3);
    habits.refuses = one_of(0.0, 0.0, 0.3, 1.0);
    habits.late = one_of(0.0, 0.5);
    habits.restart_every = one_of(0, 0, 50, 120);
    habits.changes_at = one_of(0, 0, 20, 100);
    habits.other_points = one_of(3, 20, 70);
    habits.imports_at = one_of(0, 0, 15);
    CAPTURE(seed, text_of(habits));
    Search search(habits, seed);
    search.run();
    for (int x = 0; x < search.points(); ++x) CHECK(search.tried.contains(x));
  }
}

}  // namespace attune::freeze_thaw_search_test
