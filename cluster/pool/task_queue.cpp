#include "cluster/pool/task_queue.h"

#include "base/check.h"
#include "base/json.h"

namespace attune {
namespace {

// The key of a line. It must contain the fields that want_the_same() compares.
std::string shape_of(const TaskSpec& task) {
  const json shape = {task.kind, task.client, task.worker, task.labels, to_json(task.needs)};
  return shape.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::pair<std::int64_t, std::uint64_t> key_of(const TaskSpec& task, std::uint64_t order) {
  return {-task.priority, order};
}

}  // namespace

bool TaskQueue::add(const TaskSpec& task, std::uint64_t order) {
  Line& line = lines_[shape_of(task)];
  const auto [place, added] = line.emplace(key_of(task, order), &task);
  ATTUNE_CHECK(added);
  ++size_;
  return place == line.begin();
}

void TaskQueue::remove(const TaskSpec& task, std::uint64_t order) {
  const auto line = lines_.find(shape_of(task));
  if (line == lines_.end()) return;
  size_ -= line->second.erase(key_of(task, order));
  if (line->second.empty()) lines_.erase(line);
}

const TaskQueue::Line& TaskQueue::line_of(const TaskSpec& task) const {
  return lines_.at(shape_of(task));
}

const TaskSpec* TaskQueue::next_for(const Worker& worker) const {
  const Line::value_type* best = nullptr;
  for (const auto& [shape, line] : lines_) {
    const auto& first = *line.begin();
    if ((best == nullptr || first.first < best->first) && fits(worker, *first.second))
      best = &first;
  }
  return best == nullptr ? nullptr : best->second;
}

}  // namespace attune
