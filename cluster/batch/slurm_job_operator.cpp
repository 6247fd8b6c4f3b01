#include "cluster/batch/slurm_job_operator.h"

#include <fmt/format.h>

#include <utility>

namespace attune {
namespace {

// A worker that does not get its task leaves after so many seconds.
constexpr int kPatience = 300;

}  // namespace

SlurmJobOperator::SlurmJobOperator(SlurmOperatorOptions options,
                                   std::unique_ptr<BatchSystem> system, OperatorPort& port,
                                   const Log& log)
    : options_(std::move(options)),
      log_(log),
      port_(port),
      jobs_(std::move(system), batch_jobs_options(options_),
            {.now = [this] { return port_.now(); },
             .on_seen = [this](const std::string& name, const BatchState& state,
                               double running) { seen(name, state, running); },
             .on_over = [this](const std::string& name, const BatchEnd& end) { over(name, end); },
             .on_refused =
                 [this](const std::string& name, const BatchRefusal& why) {
                   if (const auto task = waiting_.find(name); task != waiting_.end())
                     port_.refuse(std::string(task->second), refusal_text(why));
                 },
             .on_trouble =
                 [this](const std::string& name, const std::string& why) {
                   if (const auto task = waiting_.find(name); task != waiting_.end())
                     port_.explain(task->second, "its job is submitted again: " + why);
                 },
             .on_unknown = [](const std::string&, const BatchState&) { return false; },
             .on_change = [this] { port_.changed(); }},
            log) {}

void SlurmJobOperator::look(const OperatorView& view, double now) {
  waiting_.clear();
  std::set<std::string> live;
  for (const WaitingLine& line : view.waiting) {
    if (line.worker.empty())
      port_.explain(line.task,
                    "this coordinator gets workers for the trials of its own experiment only "
                    "(slurm.mode: jobs)");
    if (!is_ours(line.worker)) continue;
    waiting_[line.worker] = line.task;
    live.insert(line.worker);
  }
  for (const auto& [name, worker] : view.workers) {
    if (!is_ours(name)) continue;
    if (!worker.tasks.empty()) {
      live.insert(name);
      jobs_.watch(name);  // an earlier coordinator may have submitted it
      came_.insert(name);
    }
    if (worker.here()) came_.insert(name);
  }
  bool gone = false;
  for (const std::string& name : jobs_.wanted()) {
    const auto worker = view.workers.find(name);
    const bool here = worker != view.workers.end() && worker->second.here();
    gone |= jobs_.set_here(name, here) && live.contains(name);
    if (live.contains(name)) continue;
    // Nobody needs the job any more. If its worker has come, it leaves by itself, unless it was
    // given up because it was silent.
    if (silent_.contains(name))
      log_.warning("worker {} cannot be heard: its job is cancelled", name);
    came_.erase(name) > 0 && !silent_.contains(name) ? jobs_.let_go(name) : jobs_.cancel(name);
  }
  silent_ = silent_workers(view, options_.settings.prefix);
  for (const WaitingLine& line : view.waiting) {
    if (!is_ours(line.worker) || jobs_.knows(line.worker)) continue;
    jobs_.want(worker_job(options_, line.worker, line.needs,
                          fmt::format("--tasks 1 --leave-after {}", kPatience)),
               now);
  }
  if (gone) jobs_.look_now();
}

void SlurmJobOperator::seen(const std::string& name, const BatchState& state, double running) {
  const auto task = waiting_.find(name);
  if (task == waiting_.end()) return;
  const std::string lost = came_.contains(name) ? "" : hopeless(options_, state, running);
  if (!lost.empty()) {
    log_.warning("worker {} does not come: its job {} {}", name, state.id, lost);
    jobs_.cancel(name);
    return over(name, {state.id, lost});
  }
  std::string why;  // empty: withdraws what was said before
  if (!state.stuck.empty()) {
    why = fmt::format("job {}: {}", state.id, state.stuck);
  } else if (running >= options_.connect_within && !came_.contains(name)) {
    why = unreached("its job " + state.id, port_.address(), output(name));
  }
  port_.explain(task->second, why);
}

void SlurmJobOperator::over(const std::string& name, const BatchEnd& end) {
  const std::string cause = to_text(end);
  const bool came = came_.erase(name) > 0;
  port_.worker_unavailable(name, came ? cause : never_came(cause, output(name)));
}

std::filesystem::path SlurmJobOperator::output(const std::string& name) const {
  return options_.folder / (name + ".out");
}

}  // namespace attune
