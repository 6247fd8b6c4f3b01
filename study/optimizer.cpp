#include "study/optimizer.h"

#include <cmath>
#include <stdexcept>
#include <thread>
#include <utility>

namespace attune {

// One call of the function. Its own thread only.
class SlotReporter final : public StatusReporter {
 public:
  SlotReporter(Optimizer& optimizer, std::size_t slot, TrialId id)
      : optimizer_(optimizer), slot_(slot), id_(id) {}

  void report(const json& metrics) override {
    if (!metrics.is_number() && !metrics.is_object()) {
      throw std::invalid_argument("a report must be a number or an object, not " +
                                  std::string(json_type_name(metrics)));
    }
    const Verdict verdict = optimizer_.report(slot_, id_, step_++, metrics);
    last_ = metrics;
    if (verdict.stop) throw TrialStopped();
  }
  std::string trial_name() const override { return "trial_" + trial_id(); }
  std::string trial_id() const override { return std::to_string(id_); }
  std::filesystem::path log_directory() const override { return {}; }

  const std::optional<json>& last() const { return last_; }

 private:
  Optimizer& optimizer_;
  const std::size_t slot_;
  const TrialId id_;
  std::int64_t step_ = 0;
  std::optional<json> last_ = {};
};

Optimizer::Optimizer(Study::Impl& study, const TrialFunction& function,
                     const OptimizeOptions& options)
    : study_(study),
      function_(function),
      options_(options),
      started_(clock_.now()),
      slots_(static_cast<std::size_t>(options.threads)) {}

int Optimizer::event_slot(std::size_t slot) const {
  return slots_.size() > 1 && !options_.any_order ? static_cast<int>(slot) : -1;
}

Result<std::string> Optimizer::run() {
  prepare();
  {
    std::vector<std::jthread> threads;
    for (std::size_t slot = 1; slot < slots_.size(); ++slot) {
      threads.emplace_back([this, slot] { work(slot); });
    }
    work(0);
  }
  if (error_) return std::unexpected(*error_);
  return end_reason_;
}

// Where the study stands: what was left running goes back to its slots, and the turn is where it
// was, so that the events go on in the order of an uninterrupted run.
void Optimizer::prepare() {
  const Lock lock(mutex_);
  int last = -1;
  const auto left = study_.look([&](const StudyCore& core) {
    last = core.last_slot();
    std::vector<std::pair<Suggestion, int>> running;
    for (auto& one : study_.left_over) {
      if (core.record(one.first.id)->state == TrialState::running) running.push_back(one);
    }
    return running;
  });
  study_.left_over.clear();
  const auto exists = [&](int slot) { return slot >= 0 && slot < std::ssize(slots_); };
  for (const auto& [trial, slot] : left) {
    if (exists(slot) && !slots_[static_cast<std::size_t>(slot)].trial) {
      slots_[static_cast<std::size_t>(slot)].trial = trial;
      ++busy_;
    } else {
      left_over_.push_back(trial);
    }
  }
  const auto from = exists(last) ? static_cast<std::size_t>(last) : slots_.size() - 1;
  fill(exists(last) ? from : 0);
  pass_turn(from);
}

void Optimizer::work(std::size_t index) {
  Slot& slot = slots_[index];
  Lock lock(mutex_);
  while (true) {
    slot.changed.wait(lock, [&] { return slot.trial || busy_ == 0; });
    if (!slot.trial) return;
    const Suggestion trial = *slot.trial;
    lock.unlock();
    const Ended ended = call(index, trial);
    lock.lock();
    await_turn(lock, index);
    finish(index, trial, ended);
  }
}

Optimizer::Ended Optimizer::call(std::size_t slot, const Suggestion& trial) {
  SlotReporter reporter(*this, slot, trial.id);
  try {
    std::optional<json> value = function_(trial.parameters, reporter, std::nullopt);
    if (!value) value = reporter.last();
    if (value) return {.value = *std::move(value)};
    return {TrialState::failed, {}, "it neither returned nor reported a result"};
  } catch (const TrialStopped&) {
    return {.state = TrialState::stopped};
  } catch (const std::exception& error) {
    return {TrialState::failed, {}, error.what()};
  } catch (...) {
    return {TrialState::failed, {}, "an exception that is no std::exception"};
  }
}

void Optimizer::await_turn(Lock& lock, std::size_t slot) {
  if (options_.any_order) return;
  slots_[slot].changed.wait(lock, [&] { return turn_ == slot; });
}

// To the next slot with a trial; to `from` itself when it is the only one.
void Optimizer::pass_turn(std::size_t from) {
  if (busy_ == 0) {
    for (Slot& slot : slots_) slot.changed.notify_one();
    return;
  }
  do {
    from = (from + 1) % slots_.size();
  } while (!slots_[from].trial);
  turn_ = from;
  slots_[from].changed.notify_one();
}

Verdict Optimizer::report(std::size_t slot, TrialId id, std::int64_t step, const json& value) {
  // Of a trial that runs again: not an event, so it takes no turn.
  const auto known =
      study_.look([&](const StudyCore& core) { return core.known_report(id, step, value); });
  if (known) return *known;
  Lock lock(mutex_);
  await_turn(lock, slot);
  auto verdict = study_.change(
      [&](StudyCore& core) { return core.report(id, value, step, event_slot(slot)); });
  const bool is_closed = !verdict && study_.is_closed();
  if (is_closed && !error_) error_ = verdict.error();
  if (is_closed) no_new_trials("error");
  if (busy_ < slots_.size()) fill(slot);
  pass_turn(slot);
  if (is_closed) return {true, ""};
  if (!verdict) throw std::invalid_argument(verdict.error().message);
  return *std::move(verdict);
}

void Optimizer::finish(std::size_t slot, const Suggestion& trial, const Ended& ended) {
  const int number = event_slot(slot);
  auto told = study_.change([&](StudyCore& core) -> Result<void> {
    switch (ended.state) {
      case TrialState::stopped:
        return core.stop(trial.id, number);
      case TrialState::failed:
        return core.fail_trial(trial.id, ended.reason, number);
      default:
        if (auto unusable = core.check_tell(trial.id, ended.value); !unusable) {
          return core.fail_trial(trial.id, unusable.error().message, number);
        }
        return core.tell(trial.id, ended.value, number);
    }
  });
  slots_[slot].trial.reset();
  --busy_;
  if (!told && study_.is_closed()) {
    if (!error_) error_ = told.error();
    no_new_trials("error");
  }
  if (options_.on_end) {
    const StudyTrial record =
        study_.look([&](const StudyCore& core) { return *core.record(trial.id); });
    try {
      if (!options_.on_end(record)) no_new_trials("ended by on_end");
    } catch (const std::exception& error) {
      if (!error_) error_ = Error{std::string("on_end: ") + error.what()};
      no_new_trials("error");
    }
  }
  fill(slot);
  pass_turn(slot);
}

void Optimizer::fill(std::size_t from) {
  for (std::size_t i = 0; i < slots_.size() && end_reason_.empty(); ++i) {
    const std::size_t slot = (from + i) % slots_.size();
    if (slots_[slot].trial) continue;
    auto trial = next_trial(slot);
    if (!trial) break;
    slots_[slot].trial = std::move(trial);
    ++busy_;
    slots_[slot].changed.notify_one();
  }
  if (busy_ == 0) no_new_trials("the tuner waits for trials that do not run here");
}

std::optional<Suggestion> Optimizer::next_trial(std::size_t slot) {
  if (!left_over_.empty()) {
    Suggestion trial = std::move(left_over_.front());
    left_over_.pop_front();
    return trial;
  }
  const auto [count, failures] = study_.look([](const StudyCore& core) {
    return std::pair(core.trial_count(), core.count(TrialState::failed));
  });
  if (options_.max_failures && failures >= *options_.max_failures) {
    no_new_trials(std::to_string(failures) + " trials failed");
  } else if (options_.seconds && clock_.now() - started_ >= *options_.seconds) {
    no_new_trials("the time is over");
  }
  if (!end_reason_.empty()) return std::nullopt;
  if (count >= options_.trials) {
    no_new_trials("all trials have run");
    return std::nullopt;
  }
  auto asked = study_.change([&](StudyCore& core) { return core.ask(1, event_slot(slot)); });
  if (!asked) {
    error_ = asked.error();
    no_new_trials("error");
  } else if (!asked->trials.empty()) {
    return std::move(asked->trials.front());
  } else if (asked->no_more) {
    no_new_trials(asked->reason);
  }
  return std::nullopt;
}

void Optimizer::no_new_trials(std::string reason) {
  if (end_reason_.empty()) end_reason_ = std::move(reason);
}

Result<std::string> Study::optimize(const TrialFunction& function, const OptimizeOptions& options) {
  constexpr int kMostThreads = 1024;
  if (options.threads < 1 || options.threads > kMostThreads) {
    return attune::fail("options.threads: must be from 1 to " + std::to_string(kMostThreads));
  }
  return Optimizer(*impl_, function, options).run();
}

namespace {

Result<StudyTrial> best_of(const TrialFunction& function, const json& space, std::int64_t trials,
                           StudyOptions options, OptimizeOptions how) {
  if (!options.concurrency) options.concurrency = how.threads;
  how.trials = trials;
  Study study = TRY(Study::create(space, options));
  TRY(study.optimize(function, how));
  if (auto best = study.best()) return *std::move(best);
  const auto all = study.trials();
  std::string why = "no trial completed";
  if (!all.empty() && !all.back().reason.empty()) why += "; the last: " + all.back().reason;
  return attune::fail(why);
}

}  // namespace

Result<StudyTrial> minimize(const TrialFunction& function, const json& space, std::int64_t trials,
                            StudyOptions options, OptimizeOptions how) {
  options.maximize = false;
  return best_of(function, space, trials, std::move(options), std::move(how));
}

Result<StudyTrial> maximize(const TrialFunction& function, const json& space, std::int64_t trials,
                            StudyOptions options, OptimizeOptions how) {
  options.maximize = true;
  return best_of(function, space, trials, std::move(options), std::move(how));
}

}  // namespace attune
