#pragma once
// Passes events on to the text log, the store and the observer.
#include <string>
#include <utility>

#include "manager/trials/trial_observer.h"
#include "manager/trials/trial_store.h"
#include "os/log.h"

namespace attune {

class Announcer {
 public:
  // Store and observer outlive it.
  Announcer(TrialStore& store, TrialObserver& observer, Log log)
      : store_(store), observer_(observer), log_(std::move(log)) {}

  void changed(const TrialRecord& trial);  // to store and observer
  void event(const RunnerEvent& event);    // to store and observer
  // To all three. `job_id`: the trial that the warning concerns; empty: the experiment.
  void warn(const std::string& text, const std::string& job_id = {});
  void notice(const std::string& text);  // to all three

 private:
  TrialStore& store_;
  TrialObserver& observer_;
  Log log_;
};

}  // namespace attune
