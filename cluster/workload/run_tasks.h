#pragma once
// The tasks of a commander: which are live, how many there were, and what became of the run. A
// value; what counts is computed from the live tasks, so that no count can get out of step.
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
  std::string learner;    // whose policy it plays; a learner: its own id
  std::string opponent;   // the name of a player; empty: none
  bool told = false;      // to end, for good
  bool reported = false;  // its first FINAL report counts, others do not
  bool waits = true;      // for a worker; as the board has it, and not saved

  bool operator==(const LiveTask&) const = default;
};

class RunTasks {
 public:
  // Of a kind that is none of these: ignored.
  void created(const Task& task);
  void moved(const Task& task);  // has got a worker, or waits again
  void told(const std::string& id);
  // Counts what failed in a row. Lost and cancelled tasks say nothing of the program, and do not
  // count.
  void ended(const Task& task);
  // Once. Empty: it has not failed.
  void decide(const std::string& failure);

  LiveTask* find(const std::string& id);
  const std::vector<LiveTask>& live() const { return live_; }  // in order of their creation
  int count(TaskKind kind) const;
  int waiting(TaskKind kind) const;               // of these, for a worker
  std::vector<const LiveTask*> learners() const;  // live, and not told to end
  // Whose result nobody waits for: all is decided, or its learner has ended.
  bool is_superfluous(const LiveTask& task) const;
  std::uint64_t number(TaskKind kind) const {
    return created_[index(kind)] + 1;
  }  // of the next one
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
