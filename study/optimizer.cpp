#include "study/optimizer.h"

#include <stdexcept>
#include <thread>
#include <utility>

#include "study/slot_reporter.h"

namespace attune {

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
    threads.reserve(slots_.size() - 1);
    try {
      while (threads.size() + 1 < slots_.size()) {
        threads.emplace_back([this, slot = threads.size() + 1] { work(slot); });
      }
    } catch (const std::exception& error) {
      // The threads that run would wait for ever for the turns of the slots without a thread.
      give_up_from(threads.size() + 1, error.what());
    }
    work(0);
  }
  study_.left_over.assign(left_over_.begin(), left_over_.end());
  if (error_) return std::unexpected(*error_);
  return end_reason_;
}

void Optimizer::give_up_from(std::size_t first, const std::string& why) {
  const Lock lock(mutex_);
  end_with({"cannot start thread " + std::to_string(first + 1) + ": " + why});
  for (std::size_t slot = first; slot < slots_.size(); ++slot) {
    if (!slots_[slot].trial) continue;
    left_over_.emplace_back(*std::exchange(slots_[slot].trial, std::nullopt),
                            static_cast<int>(slot));
    --busy_;
  }
  // The turn must not stay with a slot that has no trial any more.
  if (busy_ == 0 || !slots_[turn_].trial) pass_turn(turn_);
}

// Restores where the study stood: trials that were left running go back to their slots, and the
// turn continues behind the last event, so that the events come in the order of an uninterrupted
// run.
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
      left_over_.emplace_back(trial, slot);
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

// Passes the turn to the next slot with a trial; to `from` itself if it is the only one.
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
  // A report that a trial repeats is no event, so it takes no turn.
  const auto known =
      study_.look([&](const StudyCore& core) { return core.known_report(id, step, value); });
  if (known) return *known;
  Lock lock(mutex_);
  await_turn(lock, slot);
  auto verdict = study_.change(
      [&](StudyCore& core) { return core.report(id, value, step, event_slot(slot)); });
  const bool is_closed = !verdict && study_.is_closed();
  if (is_closed) end_with(verdict.error());
  // A report may let the tuner answer an ask that waited: idle slots try again.
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
        // A value that is no result fails the trial.
        if (auto taken = core.tell(trial.id, ended.value, number); !taken) {
          return core.fail_trial(trial.id, taken.error().message, number);
        }
        return {};
    }
  });
  slots_[slot].trial.reset();
  --busy_;
  const bool is_closed = !told && study_.is_closed();
  if (is_closed) end_with(told.error());
  if (options_.on_end && !is_closed) {  // an end that is not in the file does not count
    const StudyTrial record =
        study_.look([&](const StudyCore& core) { return *core.record(trial.id); });
    try {
      if (!options_.on_end(record)) no_new_trials("ended by on_end");
    } catch (const std::exception& error) {
      end_with({std::string("on_end: ") + error.what()});
    } catch (...) {
      end_with({"on_end: an exception that is no std::exception"});
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
    Suggestion trial = std::move(left_over_.front().first);
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
    end_with(asked.error());
  } else if (!asked->trials.empty()) {
    return std::move(asked->trials.front());
  } else if (asked->no_more) {
    no_new_trials(asked->reason);
  }
  return std::nullopt;
}

void Optimizer::end_with(Error error) {
  if (!error_) error_ = std::move(error);
  no_new_trials("error");
}

void Optimizer::no_new_trials(std::string reason) {
  if (end_reason_.empty()) end_reason_ = std::move(reason);
}

}  // namespace attune
