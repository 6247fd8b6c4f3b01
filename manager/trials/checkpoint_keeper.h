#pragma once
// Which checkpoints exist, and which may go: the newest of each trial are kept, a budget for the
// whole experiment takes the oldest first, and what somebody can still need is never dropped: the
// newest one of a trial that has not ended, and those that a waiting start has pinned.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace attune {

struct CheckpointRules {
  int keep = 1;                  // the newest so many of each trial, at least 1
  std::optional<double> budget;  // bytes of all checkpoints of the experiment
  bool delete_at_end = false;    // a trial that has ended keeps none
};

class CheckpointKeeper {
 public:
  using Ids = std::vector<std::string>;

  explicit CheckpointKeeper(const CheckpointRules& rules = {}) : rules_(rules) {}

  // A new id: "t0007-2".
  std::string next_id(const std::string& job_id);

  // What an earlier session has kept, oldest first; everything is as it was then. Ids up to this
  // one of the trial are not given out again.
  void restore(const std::string& job_id, const std::string& id, double bytes, bool ended);
  void reserve(const std::string& job_id, const std::string& id);

  // Each of these returns the checkpoints to delete; they are forgotten here.
  Ids saved(const std::string& job_id, const std::string& id, double bytes);
  Ids ended(const std::string& job_id);  // the trial will not be started again
  Ids dropped(const std::string& id);    // nobody needs it, says the decider; pinned ones stay
  Ids unpin(const std::string& id);
  void pin(const std::string& id);

  const std::string& newest(const std::string& job_id) const;  // empty when there is none
  double bytes() const { return bytes_; }

 private:
  struct Checkpoint {
    std::string job_id;
    double bytes = 0;
    std::uint64_t order = 0;
    int pins = 0;
  };
  struct Owner {
    Ids ids;  // oldest first
    std::int64_t saves = 0;
    bool ended = false;
  };

  bool needed(const std::string& id) const;
  void take(const std::string& id, Ids& gone);
  void thin(const std::string& job_id, Ids& gone);
  void keep_to_budget(Ids& gone);

  CheckpointRules rules_;
  std::unordered_map<std::string, Checkpoint> known_;
  std::map<std::uint64_t, std::string> by_age_;
  std::unordered_map<std::string, Owner> owners_;  // of trials that saved one, or are about to
  std::uint64_t order_ = 0;
  double bytes_ = 0;
};

}  // namespace attune
