#pragma once
// The tasks that wait for a worker. Those that want the same (kind, needs, labels, worker, client)
// wait in one line, so that one that fits nowhere holds up only its like, and finding the next for
// a worker costs as much as there are lines. One thread.
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "cluster/pool/worker_table.h"

namespace attune {

class TaskQueue {
 public:
  // `order`: ties of the priority. True: it is the first of its line, and may fit somewhere; the
  // others wait behind one that does not.
  bool add(const TaskSpec& task, std::uint64_t order);
  void remove(const TaskSpec& task, std::uint64_t order);
  // The first of those that the worker may have now; nullptr: none. Valid until it is removed.
  const TaskSpec* next_for(const Worker& worker) const;
  std::size_t size() const { return size_; }

  // One line: its first task, and how many wait.
  template <class Visit>
  void for_each_line(Visit visit) const {
    for (const auto& [shape, line] : lines_) visit(*line.begin()->second, line.size());
  }
  // Each in the line of `task`, which waits.
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
