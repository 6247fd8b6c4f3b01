#include "cluster/pool/worker_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {
namespace {

// Tolerance for sums of fractions: ten times 0.1 must fit into 1.
constexpr double kSlack = 1e-9;

bool enough(double wanted, double used, double capacity) {
  return wanted == 0 || used + wanted <= capacity * (1 + kSlack) + kSlack;
}

double amount(const std::map<std::string, double>& custom, const std::string& name) {
  const auto found = custom.find(name);
  return found == custom.end() ? 0 : found->second;
}

bool enough(const Resources& wanted, const Resources& used, const Resources& capacity) {
  return enough(wanted.cpu, used.cpu, capacity.cpu) && enough(wanted.gpu, used.gpu, capacity.gpu) &&
         enough(wanted.memory, used.memory, capacity.memory) &&
         std::ranges::all_of(wanted.custom, [&](const auto& each) {
           return enough(each.second, amount(used.custom, each.first),
                         amount(capacity.custom, each.first));
         });
}

void add(Resources& to, const Resources& more, double sign) {
  to.cpu += sign * more.cpu;
  to.gpu += sign * more.gpu;
  to.memory += sign * more.memory;
  for (const auto& [name, each] : more.custom) to.custom[name] += sign * each;
}

std::pair<double, std::string> order_of(const Worker& worker) {
  const double processors = std::max(worker.hello.capacity.cpu, 1.0);
  return {static_cast<double>(worker.tasks.size()) / processors, worker.hello.id};
}

}  // namespace

std::string_view to_text(WorkerState state) {
  switch (state) {
    case WorkerState::ready:
      return "ready";
    case WorkerState::draining:
      return "draining";
    case WorkerState::lost:
      break;
  }
  return "lost";
}

bool may_have(const Worker& worker, const TaskSpec& task) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
  };
  const WorkerHello& hello = worker.hello;
  return (task.worker.empty() || task.worker == hello.id) &&
         (hello.kinds.empty() || has(hello.kinds, task.kind)) &&
         !worker.refused.contains(task.client) &&
         std::ranges::all_of(task.labels,
                             [&](const auto& label) { return has(hello.labels, label); }) &&
         enough(task.needs, {}, hello.capacity);
}

std::string obstacle(const Worker& worker, const TaskSpec& task) {
  if (may_have(worker, task)) return "";
  const WorkerHello& hello = worker.hello;
  if (!task.worker.empty() && task.worker != hello.id) return "is not " + task.worker;
  if (worker.refused.contains(task.client)) return "cannot run tasks of " + task.client;
  for (const std::string& label : task.labels) {
    if (std::ranges::find(hello.labels, label) == hello.labels.end())
      return "has no label " + label;
  }
  const auto lacks = [](double wanted, double capacity, const std::string& what) {
    return enough(wanted, 0, capacity) ? ""
                                       : fmt::format("has {:g} of {:g} {}", capacity, wanted, what);
  };
  std::string lack = lacks(task.needs.cpu, hello.capacity.cpu, "cpu");
  if (lack.empty()) lack = lacks(task.needs.gpu, hello.capacity.gpu, "gpu");
  if (lack.empty()) lack = lacks(task.needs.memory, hello.capacity.memory, "bytes of memory");
  for (const auto& [name, wanted] : task.needs.custom) {
    if (lack.empty()) lack = lacks(wanted, amount(hello.capacity.custom, name), name);
  }
  return lack.empty() ? fmt::format("takes no {} tasks", task.kind) : lack;
}

bool fits(const Worker& worker, const TaskSpec& task) {
  const auto& kept_for = worker.kept_for;
  const bool free =
      !kept_for || task.priority > kept_for->priority || want_the_same(task, *kept_for);
  return free && worker.state == WorkerState::ready && may_have(worker, task) &&
         enough(task.needs, worker.used, worker.hello.capacity);
}

bool have_room(std::vector<Worker> workers, const std::vector<TaskSpec>& tasks) {
  return std::ranges::all_of(tasks, [&](const TaskSpec& task) {
    const auto place =
        std::ranges::find_if(workers, [&](const Worker& each) { return fits(each, task); });
    if (place != workers.end()) add_task(*place, task);
    return place != workers.end();
  });
}

void add_task(Worker& worker, const TaskSpec& task) {
  if (worker.tasks.insert(task.id).second) add(worker.used, task.needs, 1);
}

void remove_task(Worker& worker, const TaskSpec& task) {
  if (worker.tasks.erase(task.id) > 0) add(worker.used, task.needs, -1);
  if (worker.tasks.empty()) worker.used = {};  // sums of fractions leave a rest
}

Worker* WorkerTable::find(const std::string& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

Worker& WorkerTable::at(const std::string& id) {
  Worker& worker = workers_[id];
  worker.hello.id = id;
  return worker;
}

void WorkerTable::erase(const std::string& id) {
  if (const Worker* worker = find(id)) leave_order(*worker);
  workers_.erase(id);
}

void WorkerTable::leave_order(const Worker& worker) { order_.erase(order_of(worker)); }

void WorkerTable::enter_order(const Worker& worker) {
  if (worker.state == WorkerState::ready) order_.insert(order_of(worker));
}

void WorkerTable::set_state(Worker& worker, WorkerState state, double now) {
  if (worker.state == state) return;
  leave_order(worker);
  worker.state = state;
  worker.since = now;
  worker.kept_for.reset();
  enter_order(worker);
}

void WorkerTable::come(Worker& worker, WorkerHello hello, double now) {
  leave_order(worker);
  worker.hello = std::move(hello);
  worker.hello.key.clear();
  worker.refused.clear();
  worker.kept_for.reset();
  worker.state = worker.hello.draining ? WorkerState::draining : WorkerState::ready;
  worker.since = now;
  enter_order(worker);
}

void WorkerTable::take(Worker& worker, const TaskSpec& task) {
  leave_order(worker);
  add_task(worker, task);
  enter_order(worker);
}

void WorkerTable::release(Worker& worker, const TaskSpec& task) {
  leave_order(worker);
  remove_task(worker, task);
  enter_order(worker);
}

Worker* WorkerTable::to_keep_for(const TaskSpec& task) {
  for (const auto& [load, id] : order_) {
    Worker& worker = workers_.at(id);
    if (!worker.kept_for && may_have(worker, task)) return &worker;
  }
  return nullptr;
}

Worker* WorkerTable::place_for(const TaskSpec& task) {
  if (!task.worker.empty()) {
    Worker* worker = find(task.worker);
    return worker != nullptr && fits(*worker, task) ? worker : nullptr;
  }
  for (const auto& [load, id] : order_) {
    Worker& worker = workers_.at(id);
    if (fits(worker, task)) return &worker;
  }
  return nullptr;
}

}  // namespace attune
