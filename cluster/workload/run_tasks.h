#pragma once
// The tasks of a commander: which are live, how many there were, and how the run ended. A value.
// The numbers of live tasks are computed from the list of them, so they cannot get out of step.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/board.h"

namespace attune {

enum class TaskKind { learn, collect, evaluate };
std::string_view to_text(TaskKind kind);

struct LiveTask {
  std::string id;
  TaskKind kind = TaskKind::learn;
  std::string learner;    // the learner whose policy it plays; for a learner its own id
  std::string opponent;   // the name of a player; empty: none
  bool told = false;      // it was told to end, for good
  bool reported = false;  // its first FINAL report has come; further ones do not count
  bool waits = true;      // waits for a worker; follows the board, and is not saved

  bool operator==(const LiveTask&) const = default;
};

class RunTasks {
 public:
  // Ignores a task of any other kind.
  void created(const Task& task);
  void moved(const Task& task);  // it has a worker now, or waits again
  void told(const std::string& id);
  // Counts the failures in a row of each kind. Lost and cancelled tasks do not count: they say
  // nothing about the program.
  void ended(const Task& task);
  // Called once, when the run is decided. `failure` says why it has failed; empty: it has not.
  void decide(const std::string& failure);

  LiveTask* find(const std::string& id);
  const std::vector<LiveTask>& live() const { return live_; }  // in order of their creation
  int count(TaskKind kind) const;
  int waiting(TaskKind kind) const;               // live ones that wait for a worker
  std::vector<const LiveTask*> learners() const;  // live, and not told to end
  // Whether nobody needs its result: the run is decided, or its learner has ended.
  bool is_superfluous(const LiveTask& task) const;
  std::uint64_t number(TaskKind kind) const {
    return created_[index(kind)] + 1;
  }  // of the next task, from 1
  int failures(TaskKind kind) const { return failures_[index(kind)]; }  // in a row
  bool decided() const { return decided_; }
  const std::string& failure() const { return failure_; }

  json save() const;
  static Result<RunTasks> load(const json& state);

 private:
  static constexpr std::size_t kKinds = 3;
  static std::size_t index(TaskKind kind) { return static_cast<std::size_t>(kind); }

  std::vector<LiveTask> live_;
  std::array<std::uint64_t, kKinds> created_ = {};
  std::array<int, kKinds> failures_ = {};
  bool decided_ = false;
  std::string failure_;
};

}  // namespace attune
