#pragma once
// Knows which checkpoints exist, and decides which to delete: it keeps the newest of each trial,
// and deletes the oldest of the experiment while all together exceed a budget. It never deletes the
// newest checkpoint of a trial that has not ended, nor one that is pinned because a trial will
// start from it, nor one that is held because the decider may name it. The class touches no files.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace attune {

struct CheckpointRules {
  int keep = 1;                  // so many of each trial, the newest; at least 1
  std::optional<double> budget;  // bytes of all checkpoints of the experiment
  bool delete_at_end = false;    // a trial that has ended keeps none
};

class CheckpointKeeper {
 public:
  using Ids = std::vector<std::string>;

  explicit CheckpointKeeper(const CheckpointRules& rules = {}) : rules_(rules) {}

  // A new id: "t0007-2".
  std::string next_id(const std::string& job_id);

  // Adds a checkpoint that an earlier session kept; call it for the oldest first. `ended`: its
  // trial has ended. Deletes nothing, also when the rules have become stricter.
  void restore(const std::string& job_id, const std::string& id, double bytes, bool ended);
  // next_id() will not return this id of the trial, nor one with a lower number. For ids of
  // checkpoints that no longer exist; restore() does it, too.
  void reserve(const std::string& job_id, const std::string& id);

  // Each of these returns the checkpoints that the caller must delete; the keeper has forgotten
  // them. ended(), dropped() and unpin() ignore an unknown trial or id, saved() a known id.
  Ids saved(const std::string& job_id, const std::string& id, double bytes);
  Ids ended(const std::string& job_id);  // the trial will not be started again
  Ids dropped(const std::string& id);    // the decider needs it no more; needed() ones stay
  Ids unpin(const std::string& id);
  Ids release_all();  // as dropped() for each that is held
  // An unknown id is ignored. Pins are counted: each pin() needs its own unpin().
  void pin(const std::string& id);
  // The decider asked for it, and may have a trial start from it until dropped(). An unknown id is
  // ignored.
  void hold(const std::string& id);
  Ids held() const;

  const std::string& newest(const std::string& job_id) const;  // empty when there is none
  double bytes() const { return bytes_; }                      // of all checkpoints

 private:
  struct Checkpoint {
    std::string job_id;
    double bytes = 0;
    std::uint64_t order = 0;
    int pins = 0;
    bool held = false;
  };
  struct Owner {
    Ids ids;                 // oldest first
    std::int64_t saves = 0;  // the highest number that an id of the trial has had
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
