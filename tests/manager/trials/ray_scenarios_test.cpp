// Recorded scenarios of Ray Tune's TrialRunner, step by step: the decider's hooks, what the backend
// is told, the state of every trial and the resources in use.
//
// Ours differs, on purpose (the specification's "Ours:"), in that a trial whose start or restore
// failed for good gives its resources back, and that the decider hears of it; that a start that
// fails is tried again as the same attempt, and no failure before it is given up; that an
// experiment of which only paused trials are left is over, and not an error; and nothing polls:
// where the recorded runner sleeps, ours waits for a timer or for the proposal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>

#include "tests/manager/trials/ray_world.h"

namespace attune::ray_scenarios_test {

using namespace ray;

struct Step {
  Logs logs;
  json state;  // name -> status; null when the step threw
  double committed = 0;
  Lines suggested;      // by the search algorithm
  Lines stopped_first;  // stop requests between the steps
  Lines lost;           // trials whose start or restore failed for good in this step
  bool retried_start = false;
};

json load_scenarios() {
  std::ifstream stream(ATTUNE_TEST_DATA "/scheduler-traces/ray18_trialrunner_scenarios.json");
  return json::parse(stream).at("scenarios");
}

// The recorded log, in our words.
std::vector<Step> steps_of(const json& log) {
  std::vector<Step> steps(1);  // [0] is what happens before the first step
  bool chosen = true;
  for (const json& e : log) {
    const std::string what = e[0];
    Logs& now = steps.back().logs;
    const auto name = [&] { return e[1].is_string() ? e[1].get<std::string>() : "None"; };
    const auto hook = [&](const std::string& text) {
      if (!chosen && steps.size() > 1) steps.back().stopped_first.push_back(name());
      now.hooks.push_back(text);
    };
    if (what == "--- step") {
      steps.emplace_back();
      chosen = false;
    } else if (what == "=== state") {
      steps.back().state = e[1];
      steps.back().committed = e[3];
    } else if (what == "alg.next_trials") {
      for (const json& suggestion : e[1]) steps.back().suggested.push_back(suggestion);
    } else if (what == "sched.choose_trial_to_run") {
      chosen = true;
      now.hooks.push_back("choose " + name());
    } else if (what == "sched.on_trial_add") {
      now.hooks.push_back("add " + name());
    } else if (what == "sched.on_trial_result") {
      hook(fmt::format("result {} {} {}", name(), e[2].get<int>(), e[3].get<std::string>()));
    } else if (what == "sched.on_trial_complete") {
      hook(fmt::format("complete {} {}", name(), e[2].get<int>()));
    } else if (what == "sched.on_trial_error") {
      hook("error " + name());
    } else if (what == "alg.on_trial_complete" && e[2].at("early_terminated") == true) {
      if (now.hooks.empty() || now.hooks.back() != "remove " + name())
        now.hooks.push_back("remove " + name());
    } else if (what == "sched.on_trial_remove") {
      hook("remove " + name());
    } else if (what == "trainable.init") {
      now.backend.push_back("init " + name());
    } else if (what == "trainable.save" || what == "trainable.save_to_object") {
      now.backend.push_back(fmt::format("save {} {}", name(), e[2].get<int>()));
    } else if (what == "trainable.restore" || what == "trainable.restore_from_object") {
      now.backend.push_back(fmt::format("restore {} {}", name(), e[2].get<int>()));
    } else if (what == "sleep") {
      steps.back().retried_start = true;
    }
  }
  return steps;
}

std::string_view ray_status(TrialStatus status) {
  switch (status) {
    case TrialStatus::pending:
      return "PENDING";
    case TrialStatus::running:
      return "RUNNING";
    case TrialStatus::paused:
      return "PAUSED";
    case TrialStatus::failed:
      return "ERROR";
    default:
      return "TERMINATED";
  }
}

TrialRules rules_of(const json& trial) {
  TrialRules rules;
  rules.resources.cpu =
      trial.at("resources")[0].get<double>() + trial.at("resources")[2].get<double>();
  rules.resources.gpu =
      trial.at("resources")[1].get<double>() + trial.at("resources")[3].get<double>();
  rules.retries[FailureClass::failed] = {RetryHow::resume, trial.at("max_failures").get<int>()};
  rules.checkpoint_frequency = trial.at("checkpoint_freq");
  rules.checkpoint_at_end = trial.at("checkpoint_at_end");
  for (const auto& [name, threshold] : trial.at("stop").items()) rules.stop[name] = threshold;
  return rules;
}

class Replay {
 public:
  explicit Replay(const json& scenario)
      : scenario_(scenario),
        expected_(steps_of(scenario.at("log"))),
        decider_(names_, logs_, scenario.at("scheduler_decisions")),
        backend_(names_, logs_,
                 {scenario.at("cluster").at("CPU"), scenario.at("cluster").at("GPU"), 0, {}}),
        runner_(options(), decider_, backend_, clock_, records_, records_, Log()) {
    backend_.wake = [this] { runner_.wake(); };
    records_.taken = [this] { backend_.taken = true; };
    backend_.id_of = [this](const std::string& job) {
      return records_.all.at(job).proposed.parameter_id;
    };
    for (const auto& [name, trial] : scenario.at("trials").items())
      backend_.trainables[name].script = trial.at("script");
    decider_.resumes =
        scenario.at("doc").get<std::string>().find("never resumes") == std::string::npos;
    mark_failures();
    runner_.start();
  }

  void run() {
    for (const std::string& hook : expected_[0].logs.hooks) {
      const std::string name = hook.substr(4);
      REQUIRE(runner_.add_trial({{"name", name}}, TrialSource::customized,
                                rules_of(scenario_.at("trials").at(name))));
    }
    decider_.suggest({}, !suggests_from(1) && scenario_.at("name") != "alg_block_timeout");
    runner_.on_ready();
    CHECK(take().hooks == expected_[0].logs.hooks);
    for (std::size_t i = 1; i < expected_.size(); ++i) {
      INFO("step " << i);
      if (!step(i)) return finish(true);
    }
    finish(false);
  }

 private:
  RunnerOptions options() const {
    RunnerOptions options;
    options.concurrency = 100'000;                                  // resources alone decide
    options.memory_patience_seconds = options.start_retry_seconds;  // as short as recorded
    options.queue_trials = scenario_.at("queue_trials");
    // Trials that the search algorithm suggests have no rules of their own.
    for (const auto& [name, trial] : scenario_.at("trials").items()) {
      const Lines& first = expected_[0].logs.hooks;
      if (std::ranges::find(first, "add " + name) == first.end()) options.trial = rules_of(trial);
    }
    std::smatch limit;
    const std::string doc = scenario_.at("doc");
    if (std::regex_search(doc, limit, std::regex("TRIALRUNNER_WALLTIME_LIMIT=([0-9.]+)")))
      options.stop.max_trial_seconds = std::stod(limit[1]);
    return options;
  }

  // Trainables that throw when they are made or restored show only in what follows.
  void mark_failures() {
    for (Step& step : expected_) {
      const auto count = [&](const std::string& line) {
        return std::ranges::count(step.logs.backend, line);
      };
      for (auto& [name, trainable] : backend_.trainables) {
        const bool failed = step.state.is_object() && step.state.value(name, "") == "ERROR";
        const auto inits = count("init " + name);
        const bool restored = std::ranges::any_of(step.logs.backend, [&](const std::string& line) {
          return line.starts_with("restore " + name + " ");
        });
        if (inits == 2) trainable.failing_inits = failed ? 2 : 1;
        if (restored && failed) trainable.failing_restores = 1;
        if (failed && (inits == 2 || restored)) step.lost.push_back(name);
      }
    }
  }

  bool suggests_from(std::size_t first) const {
    return std::any_of(expected_.begin() + static_cast<std::ptrdiff_t>(first), expected_.end(),
                       [](const Step& s) { return !s.suggested.empty(); });
  }

  // False: the step threw, as it did when it was recorded.
  bool step(std::size_t i) {
    const Step& wanted = expected_[i];
    for (const std::string& name : wanted.stopped_first)
      REQUIRE(runner_.stop_trial(names_.job(name), "asked"));
    backend_.deliver_one();
    if (!wanted.suggested.empty()) decider_.suggest(wanted.suggested, !suggests_from(i + 1));
    auto stepped = runner_.step();
    if (wanted.retried_start) {
      ++tried_again_[wanted.logs.hooks.back().substr(7)];
      clock_.advance(runner_.options().start_retry_seconds);
      const Logs before = take();
      stepped = runner_.step();
      const auto repeated =
          std::ranges::find(logs_.hooks, "choose " + wanted.logs.hooks.back().substr(7));
      if (repeated != logs_.hooks.end()) logs_.hooks.erase(repeated);
      logs_.hooks.insert(logs_.hooks.begin(), before.hooks.begin(), before.hooks.end());
      logs_.backend.insert(logs_.backend.begin(), before.backend.begin(), before.backend.end());
    }
    backend_.end_step();
    const Logs seen = take();
    if (wanted.state.is_null()) {
      raised_ = stepped ? "" : stepped.error().message;
      return false;
    }
    INFO((stepped ? "" : stepped.error().message));
    CHECK(stepped.has_value());
    Lines hooks = wanted.logs.hooks;
    for (const std::string& name : wanted.lost) {
      hooks.push_back("error " + name);
      const auto rules = rules_of(scenario_.at("trials").at(name));
      given_back_ += rules.resources.cpu;
    }
    CHECK(seen.hooks == hooks);
    CHECK(seen.backend == wanted.logs.backend);
    json state;
    for (const auto& [job, record] : records_.all)
      state[names_.name(job)] = ray_status(record.status);
    CHECK(nlohmann::json(state) == nlohmann::json(wanted.state));
    CHECK(runner_.table().pool().committed().cpu == wanted.committed - given_back_);
    return true;
  }

  void finish(bool threw) {
    const json& raised = scenario_.at("raised");
    INFO("raised: " << raised_);
    if (raised.is_null()) {
      CHECK_FALSE(threw);
    } else if (raised.get<std::string>().find("Insufficient") != std::string::npos) {
      CHECK_THAT(raised_, Catch::Contains("can never be started"));
    } else if (raised.get<std::string>().find("paused trials") != std::string::npos) {
      // Nobody will go on with the paused trials: ours ends the experiment.
      CHECK(raised_.empty());
      runner_.pump();
      for (const auto& [name, wanted] : scenario_.at("final").items()) {
        CHECK(records_.all.at(names_.job(name)).status == TrialStatus::early_stopped);
      }
      return;
    } else if (scenario_.at("name") == "alg_block_timeout") {
      // No proposal comes: ours gives up after as long, and says so.
      CHECK(runner_.next_deadline() == 600.0);
      clock_.advance(600);
      runner_.pump();
      CHECK(runner_.is_finished());
      return;
    } else {
      CHECK_THAT(raised_, Catch::Contains("all trials had finished"));
    }
    CHECK(runner_.is_finished() == scenario_.at("is_finished").get<bool>());
    for (const auto& [name, wanted] : scenario_.at("final").items()) {
      INFO(name);
      const TrialRecord& record = records_.all.at(names_.job(name));
      CHECK(ray_status(record.status) == wanted.at("status").get<std::string>());
      CHECK(record.failures + tried_again_[name] == wanted.at("num_failures").get<int>());
      const json& last = record.final_metric.is_null() ? record.last_metric : record.final_metric;
      const json iteration = last.is_null() ? last : last.at("training_iteration");
      CHECK(iteration == wanted.at("last_iter"));
    }
  }

  Logs take() { return std::exchange(logs_, {}); }

  const json& scenario_;
  std::vector<Step> expected_;
  ManualClock clock_;
  Names names_;
  Logs logs_;
  Records records_;
  RayDecider decider_;
  RayBackend backend_;
  TrialRunner runner_;
  std::string raised_;
  double given_back_ = 0;                   // what the recorded runner never gave back
  std::map<std::string, int> tried_again_;  // starts that were one failure more for it
};

TEST_CASE("recorded scenarios of a trial runner") {
  static const json scenarios = load_scenarios();
  REQUIRE(scenarios.size() >= 25);
  const std::size_t i = GENERATE(range(std::size_t{0}, scenarios.size()));
  DYNAMIC_SECTION(scenarios[i].at("name").get<std::string>()) { Replay(scenarios[i]).run(); }
}

}  // namespace attune::ray_scenarios_test
