#include "cluster/workload/run_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"
#include "cluster/workload/settings.h"

namespace attune {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"learn", "collect", "evaluate"};

std::optional<TaskKind> parse_kind(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<TaskKind>(found - kNames.begin());
}

std::string text_or_nothing(const json& object, std::string_view key) {
  return text_at(object, key).value_or("");
}

Result<std::int64_t> count_in(const json& value, std::int64_t most) {
  if (!value.is_number_integer() || value < 0 || value > most)
    return fail(fmt::format("a count from 0 to {} is wanted, not {}", most, dump_json(value)));
  return value.get<std::int64_t>();
}

Result<LiveTask> load_live(const json& state) {
  LiveTask task;
  task.id = TRY(text_at(state, "id"));
  const auto kind = parse_kind(TRY(text_at(state, "kind")));
  if (!kind) return fail("kind: learn, collect or evaluate is wanted");
  task.kind = *kind;
  task.learner = TRY(text_at(state, "learner"));
  if (task.id.empty() || task.learner.empty()) return fail("a live task has no id or no learner");
  if (task.kind == TaskKind::learn && task.learner != task.id)
    return fail(fmt::format("the learner {} has another learner", task.id));
  task.opponent = TRY(text_at(state, "opponent"));
  task.told = TRY(flag_at(state, "told"));
  task.reported = TRY(flag_at(state, "reported"));
  return task;
}

}  // namespace

std::string_view to_text(TaskKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

// Takes everything from the task itself. In a replay the recorded task counts, even if the present
// settings would lead to another one.
void RunTasks::created(const Task& task) {
  const auto kind = parse_kind(task.spec.kind);
  if (!kind) return;
  ++created_[index(*kind)];
  LiveTask live;
  live.id = task.spec.id;
  live.kind = *kind;
  const json parameters = parameters_of(task.spec);
  live.learner = *kind == TaskKind::learn ? live.id : text_or_nothing(parameters, "learner");
  if (parameters.is_object() && parameters.contains("opponent"))
    live.opponent = text_or_nothing(parameters["opponent"], "player");
  live_.push_back(std::move(live));
}

void RunTasks::moved(const Task& task) {
  if (LiveTask* live = find(task.spec.id)) live->waits = task.state == TaskState::queued;
}

void RunTasks::told(const std::string& id) {
  if (LiveTask* task = find(id)) task->told = true;
}

void RunTasks::ended(const Task& task) {
  const auto found = std::ranges::find(live_, task.spec.id, &LiveTask::id);
  if (found == live_.end()) return;
  int& failures = failures_[index(found->kind)];
  if (task.state == TaskState::succeeded) failures = 0;
  if (task.state == TaskState::failed && failures < std::numeric_limits<int>::max()) ++failures;
  live_.erase(found);
}

void RunTasks::decide(const std::string& failure) {
  decided_ = true;
  failure_ = failure;
}

LiveTask* RunTasks::find(const std::string& id) {
  const auto found = std::ranges::find(live_, id, &LiveTask::id);
  return found == live_.end() ? nullptr : &*found;
}

int RunTasks::count(TaskKind kind) const {
  return static_cast<int>(std::ranges::count(live_, kind, &LiveTask::kind));
}

int RunTasks::waiting(TaskKind kind) const {
  return static_cast<int>(std::ranges::count_if(
      live_, [&](const LiveTask& each) { return each.kind == kind && each.waits; }));
}

std::vector<const LiveTask*> RunTasks::learners() const {
  std::vector<const LiveTask*> learners;
  for (const LiveTask& each : live_) {
    if (each.kind == TaskKind::learn && !each.told) learners.push_back(&each);
  }
  return learners;
}

bool RunTasks::is_superfluous(const LiveTask& task) const {
  return decided_ || std::ranges::none_of(live_, [&](const LiveTask& each) {
           return each.kind == TaskKind::learn && each.id == task.learner;
         });
}

json RunTasks::save() const {
  json live = json::array();
  for (const LiveTask& each : live_) {
    live.push_back({{"id", each.id},
                    {"kind", to_text(each.kind)},
                    {"learner", each.learner},
                    {"opponent", each.opponent},
                    {"told", each.told},
                    {"reported", each.reported}});
  }
  return {{"created", created_},
          {"failures", failures_},
          {"decided", decided_},
          {"failure", failure_},
          {"live", std::move(live)}};
}

Result<RunTasks> RunTasks::load(const json& state) {
  RunTasks tasks;
  const json created = TRY(array_at(state, "created"));
  const json failures = TRY(array_at(state, "failures"));
  if (created.size() != kKinds || failures.size() != kKinds)
    return fail(fmt::format("created, failures: {} counts are wanted", kKinds));
  for (std::size_t i = 0; i < kKinds; ++i) {
    tasks.created_[i] =
        static_cast<std::uint64_t>(TRY(count_in(created[i], std::int64_t{1} << 53)));
    tasks.failures_[i] =
        static_cast<int>(TRY(count_in(failures[i], std::numeric_limits<int>::max())));
  }
  tasks.decided_ = TRY(flag_at(state, "decided"));
  tasks.failure_ = TRY(text_at(state, "failure"));
  if (!tasks.decided_ && !tasks.failure_.empty()) return fail("failure: nothing is decided");
  std::set<std::string> ids;
  for (const json& each : TRY(array_at(state, "live"))) {
    LiveTask task = TRY(load_live(each));
    if (!ids.insert(task.id).second) return fail(fmt::format("task {} is there twice", task.id));
    tasks.live_.push_back(std::move(task));
  }
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (static_cast<std::uint64_t>(tasks.count(static_cast<TaskKind>(i))) > tasks.created_[i])
      return fail(fmt::format("more tasks {} than there were", kNames[i]));
  }
  return tasks;
}

}  // namespace attune
