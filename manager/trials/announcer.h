#pragma once
// Tells what happens to everybody who must know: the text log, the store and the observer.
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

  void changed(const TrialRecord& trial);
  void event(const RunnerEvent& event);
  void warn(const std::string& text, const std::string& job_id = {});  // that it is about
  void notice(const std::string& text);

 private:
  TrialStore& store_;
  TrialObserver& observer_;
  Log log_;
};

}  // namespace attune
