#include "cluster/pool/worker/worker_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "base/overloaded.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"
#include "cluster/pool/trial_event.h"

namespace attune {
namespace {

// Backends are kept for so many experiments, even if no trial of them runs here.
constexpr std::size_t kKeptPrograms = 8;
// The first try kills what an earlier attempt left running, if it can. On a machine that is cut off
// that attempt runs on in the same folder, until it ends or the machine is back. So starting is
// tried for ten minutes, whatever the error.
constexpr int kQuickTries = 3, kTries = 600;
constexpr std::chrono::milliseconds kQuickPause{200}, kPause{1000};

// The number of an attempt, small enough to add two of them.
Result<int> attempt_at(const json& object) {
  constexpr int kMost = 1'000'000'000;
  const std::int64_t attempt = TRY(integer_at(object, "attempt"));
  if (attempt < 0 || attempt > kMost) return fail(fmt::format("attempt: 0 to {} is wanted", kMost));
  return static_cast<int>(attempt);
}

struct WhatToRun {
  std::string experiment;
  TrialStart start;
};
// `attempt` is that of the lease. It is added to the one in the program, which counts what the
// client tried before.
Result<WhatToRun> parse_program(const std::string& text, int attempt) {
  const json program = TRY(parse_json(text));
  WhatToRun what{TRY(text_at(program, "experiment")), {}};
  TrialStart& start = what.start;
  start.job_id = TRY(text_at(program, "job"));
  start.sequence = TRY(integer_at(program, "sequence"));
  start.attempt = TRY(attempt_at(program)) + attempt;
  start.parameter_text = TRY(text_at(program, "parameters"));
  if (program.contains("checkpoint")) start.checkpoint = TRY(text_at(program, "checkpoint"));
  start.keep_checkpoint = program.value("keep_checkpoint", json()) == true;
  if (program.contains("resources"))
    start.resources = TRY(parse_resources(TRY(object_at(program, "resources"))));
  return what;
}

}  // namespace

struct WorkerTasks::Program {
  std::string experiment;
  std::unique_ptr<TrialBackend> backend;
  // By job id; those that are under way in the backend, or about to be.
  std::map<std::string, Task*> running;
  // When it was last used, as a count; the smallest was not used for longest.
  std::uint64_t used = 0;
  std::size_t unacknowledged = 0;  // bytes of messages that are not acknowledged
  bool waits_for_room = false;
};

struct WorkerTasks::Task {
  struct Said {
    std::uint64_t seq;
    json message;
    std::size_t bytes;
  };
  HeldLease held;
  Program* program = nullptr;
  TrialStart start;
  std::uint64_t position = 0;
  bool again = false;  // this worker had the lease before, and may have begun the task
  bool was_running = false;
  bool begun = false;  // the backend has it
  bool cancelled = false, vacated = false;
  std::deque<Said> said;                 // sent, not acknowledged
  std::optional<TrialFinished> doubted;  // it has ended badly, and set_doubt() holds that back
  std::optional<json> finished;          // the message about its end
  std::unique_ptr<boost::asio::steady_timer> retry;
};

WorkerTasks::WorkerTasks(boost::asio::io_context& io, MakeBackend make_backend,
                         std::uint64_t first_seq)
    : io_(io), make_backend_(std::move(make_backend)), first_seq_(first_seq), seq_(first_seq) {}
WorkerTasks::~WorkerTasks() = default;

// ---- the connection

std::vector<HeldLease> WorkerTasks::running() const {
  std::vector<HeldLease> leases;
  for (const auto& [lease, task] : tasks_) leases.push_back(task->held);
  return leases;
}

void WorkerTasks::connected(Say say) {
  say_ = std::move(say);
  for (const auto& [lease, task] : tasks_) {
    if (task->begun || task->finished)
      this->say({{"type", "started"}, {"task", task->held.task}, {"lease", lease}});
    for (const Task::Said& each : task->said) this->say(each.message);
    if (task->finished) this->say(*task->finished);
  }
}

Result<void> WorkerTasks::handle(const json& message) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "lease") return lease(message);
  const HeldLease held = TRY(held_at(message));
  Task* task = find(held.task, held.lease);
  if (task == nullptr) return {};  // it was forgotten meanwhile
  if (type == "cancel") return cancel(*task, TRY(text_at(message, "how")));
  if (type == "tell") return tell(*task, TRY(object_at(message, "message")));
  if (type == "say_again") {
    for (const Task::Said& each : task->said) say(each.message);
    return {};
  }
  if (type == "info_ack") {
    const std::uint64_t seq = TRY(count_at(message, "seq"));
    if (seq > first_seq_ && seq <= seq_) acknowledge(*task, seq);
    return {};
  }
  if (type == "finished_ack") {
    if (task->finished) forget(*task);
    return {};
  }
  return fail(fmt::format("type: \"{}\" is nothing that a worker is told", type));
}

WorkerTasks::Task* WorkerTasks::find(const std::string& id, LeaseId lease) {
  const auto found = tasks_.find(lease);
  return found == tasks_.end() || found->second->held.task != id ? nullptr : found->second.get();
}

// ---- beginning

Result<void> WorkerTasks::lease(const json& message) {
  auto task = std::make_unique<Task>();
  task->held = TRY(held_at(message));
  const LeaseId lease = task->held.lease;
  if (tasks_.contains(lease)) return {};  // the coordinator has sent it twice
  const int attempt = TRY(attempt_at(message));
  task->position = TRY(count_at(message, "position"));
  std::string key = message.contains("key") ? TRY(name_at(message, "key")) : "";
  task->again = message.contains("again") && message["again"] == true;
  task->was_running = TRY(text_at(message, "state")) != to_text(TaskState::leased);
  auto what = parse_program(TRY(text_at(message, "program")), attempt);
  Task& kept = *(tasks_[lease] = std::move(task));
  ++taken_;
  // The program is the client's text, which the coordinator passes on unread. So this is not the
  // coordinator's mistake, and the connection stays.
  if (!what) {
    refuse(kept, "program: " + what.error().message);
    return {};
  }
  kept.start = std::move(what->start);
  kept.start.key = std::move(key);
  auto made = program(what->experiment);
  if (!made) {
    refuse(kept, made.error().message);
    return {};
  }
  kept.program = *made;
  vacated_.empty() ? begin(kept) : never_ran(kept, Ending::lost, vacated_);
  return {};
}

Result<WorkerTasks::Program*> WorkerTasks::program(const std::string& experiment) {
  std::unique_ptr<Program>& program = programs_[experiment];
  if (!program) {
    auto backend = make_backend_(experiment, [this] { fetch(); });
    if (!backend) {
      programs_.erase(experiment);
      return std::unexpected(backend.error());
    }
    program = std::make_unique<Program>();
    program->experiment = experiment;
    program->backend = *std::move(backend);
  }
  program->used = ++uses_;
  return program.get();
}

void WorkerTasks::begin(Task& task) {
  // An earlier attempt of this trial, which lost its lease, still runs. finish() begins this one.
  if (!task.program->running.try_emplace(task.start.job_id, &task).second) return;
  if (!task.again) return start(task, 1);
  const auto adopted = task.program->backend->adopt(task.start, task.position);
  if (!adopted) return never_ran(task, Ending::lost, adopted.error().message);
  if (*adopted == TrialBackend::Adoption::not_started) {
    if (!task.was_running) return start(task, 1);
    return never_ran(task, Ending::lost, "nothing is left of it");
  }
  began(task);
}

void WorkerTasks::start(Task& task, int try_number) {
  const auto started = task.program->backend->start(task.start);
  if (started) return began(task);
  const std::string why = "cannot start it: " + started.error().message;
  if (try_number >= kTries) return never_ran(task, Ending::failed, why);
  if (try_number == kQuickTries) info(task, TrialProblem{task.start.job_id, why + "; tries again"});
  task.retry = std::make_unique<boost::asio::steady_timer>(
      io_, try_number < kQuickTries ? kQuickPause : kPause);
  task.retry->async_wait([this, held = task.held, try_number,
                          alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired()) return;
    Task* later = find(held.task, held.lease);
    if (later != nullptr && !later->begun && !later->finished) start(*later, try_number + 1);
  });
}

void WorkerTasks::began(Task& task) {
  task.begun = true;
  say({{"type", "started"}, {"task", task.held.task}, {"lease", task.held.lease}});
  if (task.cancelled) task.program->backend->stop(task.start.job_id);
}

void WorkerTasks::never_ran(Task& task, Ending how, const std::string& detail) {
  finish(task, {.job_id = task.start.job_id, .how = how, .detail = detail});
}

void WorkerTasks::refuse(Task& task, const std::string& why) {
  say({{"type", "refused"},
       {"task", task.held.task},
       {"lease", task.held.lease},
       {"message", why}});
  tasks_.erase(task.held.lease);
}

// ---- while it runs

Result<void> WorkerTasks::cancel(Task& task, const std::string& how) {
  task.cancelled = true;
  if (task.finished || task.vacated) return {};
  if (!task.begun) {
    never_ran(task, how == "pause" ? Ending::paused : Ending::stopped, "it had not started yet");
  } else if (how == "pause") {
    task.program->backend->pause(task.start.job_id);
  } else {
    task.program->backend->stop(task.start.job_id);
  }
  if (task.program->waits_for_room) fetch_soon();  // its end may not have been fetched
  return {};
}

Result<void> WorkerTasks::tell(Task& task, const json& message) {
  const std::string verb = TRY(text_at(message, "verb"));
  if (verb != "parameter") return fail(fmt::format("verb: \"{}\" is none", verb));
  const auto given = task.program->backend->give_parameter(
      task.start.job_id, TRY(integer_at(message, "index")), TRY(text_at(message, "text")));
  if (!given) info(task, TrialProblem{task.start.job_id, given.error().message});
  return {};
}

void WorkerTasks::fetch() {
  for (const auto& [experiment, program] : programs_) {
    // Events that are not fetched wait in the spools.
    program->waits_for_room = program->unacknowledged > most_unacknowledged_ && !all_end(*program);
    if (program->waits_for_room) continue;
    for (TrialEvent& event : program->backend->fetch_status_results()) take(*program, event);
  }
}

// Whether all running trials were told to end. Then they are read despite the limit, so that their
// ends are heard even if nobody acknowledges.
bool WorkerTasks::all_end(const Program& program) const {
  return std::ranges::all_of(program.running, [](const auto& each) {
    return each.second->cancelled || each.second->vacated;
  });
}

void WorkerTasks::take(Program& program, const TrialEvent& event) {
  const std::string& job =
      std::visit([](const auto& each) -> const std::string& { return each.job_id; }, event);
  const auto found = program.running.find(job);
  if (found == program.running.end()) return;
  if (const auto* end = std::get_if<TrialFinished>(&event)) {
    ended(*found->second, *end);
  } else if (!std::holds_alternative<TrialPlace>(event)) {  // the coordinator knows more of places
    info(*found->second, event);
  }
}

void WorkerTasks::info(Task& task, const TrialEvent& event) {
  json message = {{"type", "info"},
                  {"task", task.held.task},
                  {"lease", task.held.lease},
                  {"seq", ++seq_},
                  {"event", to_json(event)}};
  if (const auto* report = std::get_if<TrialReport>(&event)) {
    message["event"]["after"] = task.position;  // the manager finds gaps by it
    task.position = std::max(task.position, report->position);
    // Too much waits already. The report is in the spool, and a manager that hears of a later
    // position reads it there.
    if (task.program->unacknowledged > most_unacknowledged_ && all_end(*task.program)) return;
  }
  say(message);
  const std::size_t bytes = memory_of(message);
  task.program->unacknowledged += bytes;
  task.said.push_back({seq_, std::move(message), bytes});
}

void WorkerTasks::acknowledge(Task& task, std::uint64_t seq) {
  Program& program = *task.program;
  while (!task.said.empty() && task.said.front().seq <= seq) {
    program.unacknowledged -= task.said.front().bytes;
    task.said.pop_front();
  }
  if (program.unacknowledged <= most_unacknowledged_ &&
      std::exchange(program.waits_for_room, false))
    fetch_soon();
}

void WorkerTasks::fetch_soon() {
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) fetch();
  });
}

bool WorkerTasks::resting() const {
  return std::ranges::all_of(tasks_,
                             [](const auto& each) { return each.second->finished.has_value(); });
}

std::size_t WorkerTasks::doubts() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      tasks_, [](const auto& each) { return each.second->doubted && !each.second->finished; }));
}

void WorkerTasks::vacate(const std::string& why) {
  vacated_ = why;
  for (const auto& [lease, task] : tasks_) {
    if (task->finished || task->cancelled) continue;
    task->vacated = true;
    if (task->doubted) {
      task->doubted->how = Ending::stopped;
      finish(*task, *task->doubted);
    } else if (task->begun) {
      task->program->backend->stop(task->start.job_id);
    } else {
      never_ran(*task, Ending::lost, why);
    }
  }
  fetch_soon();
}

// ---- ending

void WorkerTasks::ended(Task& task, const TrialFinished& end) {
  // Also `stopped`: a shim that gets the batch system's signal stops its trial.
  const bool badly =
      end.how == Ending::failed || end.how == Ending::signalled || end.how == Ending::stopped;
  if (!badly || doubt_.count() == 0 || task.vacated || task.cancelled) return finish(task, end);
  task.doubted = end;
  task.retry = std::make_unique<boost::asio::steady_timer>(io_, doubt_);
  task.retry->async_wait([this, held = task.held,
                          alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired()) return;
    Task* later = find(held.task, held.lease);
    if (later != nullptr && !later->finished) finish(*later, *later->doubted);
  });
}

void WorkerTasks::finish(Task& task, TrialFinished end) {
  if (task.vacated && !task.cancelled && end.how == Ending::stopped) {
    end.how = Ending::lost;
    end.detail = vacated_;
    end.with_grace = true;
  }
  json report = to_json(TrialEvent(end));
  report["position"] = task.position;  // tells the manager whether it has all reports
  task.finished = json{{"type", "finished"},       {"task", task.held.task},
                       {"lease", task.held.lease}, {"state", to_text(state_of(end.how))},
                       {"cause", end.detail},      {"report", dump_json(report)}};
  say(*task.finished);
  Program& program = *task.program;
  const auto running = program.running.find(task.start.job_id);
  if (running == program.running.end() || running->second != &task) return;
  program.running.erase(running);
  // Begins an attempt of the same trial that waited for this end.
  for (const auto& [lease, other] : tasks_) {
    if (other->program == &program && !other->begun && !other->finished &&
        other->start.job_id == task.start.job_id)
      return begin(*other);
  }
}

void WorkerTasks::forget(Task& task) {
  acknowledge(task, UINT64_MAX);
  tasks_.erase(task.held.lease);
  if (programs_.size() <= kKeptPrograms) return;
  auto oldest = programs_.end();
  for (auto each = programs_.begin(); each != programs_.end(); ++each) {
    const bool used = std::ranges::any_of(
        tasks_, [&](const auto& other) { return other.second->program == each->second.get(); });
    if (!used && (oldest == programs_.end() || each->second->used < oldest->second->used))
      oldest = each;
  }
  if (oldest != programs_.end()) programs_.erase(oldest);
}

}  // namespace attune
