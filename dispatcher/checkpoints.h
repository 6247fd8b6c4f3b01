#pragma once
// What trials have saved with the manager, and the offers that wait for it. Owned by the io thread.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dispatcher/session.h"

namespace attune {

class Checkpoints {
 public:
  // The newest checkpoint of a trial; what it takes the place of, nobody can ask for any more.
  std::optional<std::string> put(TrialId trial, std::string checkpoint);
  std::string newest(TrialId trial) const;         // empty: none
  std::optional<std::string> take(TrialId trial);  // it is dropped

  // An offer that starts from a checkpoint of `from` which is being saved.
  void wait(TrialId from, Offer offer) { waiting_[from].push_back(std::move(offer)); }
  std::vector<Offer> released(TrialId from);  // in order, once

  json save() const;
  Result<void> load(const json& state);  // exactly; on an error nothing changes
  // The manager has started anew: it asks again for what was offered.
  void restart() { waiting_.clear(); }

 private:
  std::map<TrialId, std::string> newest_;
  std::map<TrialId, std::vector<Offer>> waiting_;
};

}  // namespace attune
