// Any commands, one a line (two letters of code, then the payload), to a daemon under plain NNI and
// to one that pauses: no trial is given out twice, no job is killed twice, none goes on that was
// not paused, and a daemon that is saved and loaded now and then answers the same.
#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/support/halving_tuner.h"
#include "tests/support/stepped.h"

using namespace attune;

static std::unique_ptr<Stepped> start_plain() {
  DispatcherOptions options;
  options.capabilities.sync = true;
  options.include_intermediate = true;
  options.limits.request = 20;
  return Stepped::make("TPE", {{"tpe_args", {{"n_startup_jobs", 3}}}}, "Medianstop", json::object(),
                       options);
}

static std::unique_ptr<Stepped> start_pausing() {
  DispatcherOptions options;
  options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  options.wants_reports = true;
  options.limits.request = 20;
  return std::make_unique<Stepped>(std::make_unique<HalvingTuner>(4), false, nullptr, options);
}

// What a manager knows.
class Checker {
 public:
  void told(const Frame& frame) {
    const auto command = decode(frame);
    if (!command) return;
    if (const auto* end = std::get_if<TrialEnd>(&*command)) {
      if (end->event == TrialEnd::Event::paused) paused_.insert(end->trial_job_id);
    } else if (const auto* add = std::get_if<AddCustomizedTrialJob>(&*command)) {
      for (const auto& trial : add->trials) {
        if (trial.paused) paused_.insert(trial.trial_job_id);
        killed_.erase(trial.trial_job_id);  // it has come back
      }
    }
  }
  void answered(const Frame& frame) {
    const Command command = decode(frame).value();
    if (const auto* trial = std::get_if<NewTrialJob>(&command)) {
      ATTUNE_CHECK(given_.insert(to_text(trial->parameter_id)).second);
      const std::string& job = trial->resume_trial_job_id;
      ATTUNE_CHECK(job.empty() || paused_.erase(job) == 1);
    } else if (const auto* kill = std::get_if<KillTrialJob>(&command)) {
      ATTUNE_CHECK(killed_.insert(kill->trial_job_id).second);
    } else if (const auto* pause = std::get_if<PauseTrialJob>(&command)) {
      ATTUNE_CHECK(!killed_.contains(pause->trial_job_id));
    }
  }
  std::size_t given() const { return given_.size(); }

 private:
  std::set<std::string> given_, killed_, paused_;
};

static void run(std::string_view input, std::unique_ptr<Stepped> (*start)()) {
  const auto daemon = start();
  auto copy = start();
  Checker checker;
  int commands = 0;
  while (!input.empty() && daemon->exit_code == kExitOk && checker.given() < 200) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (line.size() < 2) continue;
    const Frame frame{std::string(line.substr(0, 2)), std::string(line.substr(2))};
    checker.told(frame);
    daemon->send(frame.code, frame.payload);
    copy->send(frame.code, frame.payload);
    const auto answers = daemon->take();
    ATTUNE_CHECK(copy->take() == answers);
    for (const Frame& answer : answers) checker.answered(answer);
    if (daemon->exit_code != kExitOk) return;
    if (++commands % 8 != 0) continue;
    const json state = parse_json(dump_json(copy->save())).value();
    copy = start();
    ATTUNE_CHECK(copy->load(state));
  }
}

FUZZ_TARGET(input) {
  run(input, start_plain);
  run(input, start_pausing);
}
