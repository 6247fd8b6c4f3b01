#pragma once
// The newest checkpoint of each trial (the manager stores them), and the offers that wait for one.
// The io thread owns it.
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
  // Sets the trial's newest checkpoint. Returns the one that it replaces, if any: no offer will
  // name that one any more.
  std::optional<std::string> put(TrialId trial, std::string checkpoint);
  std::string newest(TrialId trial) const;         // empty: none
  std::optional<std::string> take(TrialId trial);  // forgets it, and returns it

  // Keeps an offer that starts from a checkpoint of `from` which is being saved.
  void wait(TrialId from, Offer offer) { waiting_[from].push_back(std::move(offer)); }
  std::vector<Offer> released(TrialId from);  // forgets these offers, and returns them in order

  json save() const;
  Result<void> load(const json& state);  // exactly; on an error nothing changes
  // The manager has started anew, and asks again: the offers that wait are forgotten.
  void restart() { waiting_.clear(); }

 private:
  std::map<TrialId, std::string> newest_;
  std::map<TrialId, std::vector<Offer>> waiting_;
};

}  // namespace attune
