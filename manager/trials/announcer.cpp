#include "manager/trials/announcer.h"

namespace attune {

void Announcer::changed(const TrialRecord& trial) {
  store_.change_trial(trial);
  observer_.on_trial_changed(trial);
}

void Announcer::event(const RunnerEvent& event) {
  store_.add_event(event);
  observer_.on_event(event);
}

void Announcer::warn(const std::string& text, const std::string& job_id) {
  log_.warning("{}", text);
  event({EventKind::warning, text, job_id});
}

void Announcer::notice(const std::string& text) {
  log_.info("{}", text);
  event({EventKind::notice, text});
}

}  // namespace attune
