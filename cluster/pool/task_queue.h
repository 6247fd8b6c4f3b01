#pragma once
// The tasks that wait for a worker. Tasks with the same requirements (kind, needs, labels, worker,
// client) wait in one line. So a task that fits nowhere holds up only its own line, and the time to
// find the next task for a worker grows with the number of lines, not of tasks. All calls come from
// one thread.
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "cluster/pool/worker_table.h"

namespace attune {

class TaskQueue {
 public:
  // `task` must live until it is removed. `order` decides between equal priorities. Returns true if
  // the task is now the first of its line, and so may fit somewhere. Otherwise it waits behind a
  // task with the same requirements that fits nowhere.
  bool add(const TaskSpec& task, std::uint64_t order);
  void remove(const TaskSpec& task, std::uint64_t order);
  // The first task, by priority and order, that fits the worker now; null: none. Valid until it is
  // removed.
  const TaskSpec* next_for(const Worker& worker) const;
  std::size_t size() const { return size_; }

  // Visits each line, in no particular order: its first task, and how many wait in it.
  template <class Visit>
  void for_each_line(Visit visit) const {
    for (const auto& [shape, line] : lines_) visit(*line.begin()->second, line.size());
  }
  // Visits each task in the line of `task`, which must be waiting.
  template <class Visit>
  void for_each_like(const TaskSpec& task, Visit visit) const {
    for (const auto& [key, each] : line_of(task)) visit(*each);
  }

 private:
  // Larger priorities first, then the order.
  using Line = std::map<std::pair<std::int64_t, std::uint64_t>, const TaskSpec*>;

  const Line& line_of(const TaskSpec& task) const;

  std::unordered_map<std::string, Line> lines_;  // none is empty
  std::size_t size_ = 0;
};

}  // namespace attune
