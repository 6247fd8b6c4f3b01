#include "coordinator/operators/slurm_pilot_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace attune {
namespace {

constexpr double kLongestPause = 60;  // seconds

double slots(double has, double needs) { return needs > 0 ? std::floor(has / needs + 1e-9) : 1e9; }

// Tasks that fit into one pilot at a time; 0: not even one.
double slots(const Resources& capacity, const Resources& needs) {
  double fit = std::min({slots(capacity.cpu, needs.cpu), slots(capacity.gpu, needs.gpu),
                         slots(capacity.memory, needs.memory)});
  for (const auto& [kind, amount] : needs.custom) {
    const auto has = capacity.custom.find(kind);
    fit = std::min(fit, slots(has == capacity.custom.end() ? 0 : has->second, amount));
  }
  return fit;
}

}  // namespace

SlurmPilotOperator::SlurmPilotOperator(SlurmOperatorOptions options,
                                       std::unique_ptr<BatchSystem> system, OperatorPort& port,
                                       const Log& log)
    : options_(std::move(options)),
      log_(log),
      port_(port),
      prefix_(options_.settings.prefix + "pilot-"),
      jobs_(std::move(system), batch_jobs_options(options_),
            {.now = [this] { return port_.now(); },
             .on_seen = [this](const std::string& name, const BatchState& state,
                               double running) { seen(name, state, running); },
             .on_over = [this](const std::string& name,
                               const std::string& cause) { over(name, cause); },
             .on_refused =
                 [this](const std::string&, const BatchRefusal& why) {
                   refused_ = refusal_text(why);
                   refuse_all();
                 },
             .on_trouble = [this](const std::string&,
                                  const std::string& why) { explain_all("no job yet: " + why); },
             .on_unknown =
                 [this](const std::string& name, const BatchState&) {
                   // Of an earlier coordinator.
                   if (name.starts_with(prefix_)) jobs_.watch(name);
                   return name.starts_with(prefix_);
                 },
             .on_change = [this] { port_.changed(); }},
            log) {}

Resources SlurmPilotOperator::capacity_for(const Resources& needs) const {
  Resources capacity = options_.settings.pilot.capacity;
  if (capacity.cpu == 0) capacity.cpu = std::max(1.0, needs.cpu);
  if (capacity.gpu == 0) capacity.gpu = needs.gpu;
  if (capacity.memory == 0) capacity.memory = needs.memory;
  for (const auto& [kind, amount] : needs.custom) capacity.custom.try_emplace(kind, amount);
  return capacity;
}

void SlurmPilotOperator::look(const OperatorView& view, double now) {
  view_ = view;
  for (const auto& [name, worker] : view.workers) {
    if (!name.starts_with(prefix_)) continue;
    jobs_.watch(name);
    came_.insert(name);
    if (worker.here()) fruitless_ = 0;
  }
  bool gone = false;
  for (const std::string& name : jobs_.wanted()) {
    const auto worker = view.workers.find(name);
    const bool here = worker != view.workers.end() && worker->second.here();
    gone |= jobs_.set_here(name, here);
    if (worker != view.workers.end() || !came_.contains(name)) continue;
    came_.erase(name);
    if (silent_.contains(name)) {
      log_.warning("pilot {} cannot be heard: its job is cancelled", name);
      jobs_.cancel(name);
    } else {
      jobs_.let_go(name);  // it had nothing left, and has left
    }
  }
  silent_ = silent_workers(view, prefix_);
  if (gone) jobs_.look_now();
  if (!refused_.empty()) return refuse_all();
  decide(now);
}

void SlurmPilotOperator::decide(double now) {
  decided_ = now;
  if (!jobs_.listed()) return;  // there may be some
  double needed = 0;            // pilots, beyond those that are here
  const WaitingLine* first = nullptr;
  for (const WaitingLine& line : view_.waiting) {
    if (!line.worker.empty() || view_.ending) continue;
    const double fit = slots(capacity_for(line.needs), line.needs);
    if (fit < 1) {
      port_.explain(line.task, "no pilot is large enough for it: change slurm.pilot");
      continue;
    }
    if (first == nullptr) first = &line;
    needed += static_cast<double>(line.count) / fit;
  }
  needed = std::ceil(needed - 1e-9);
  std::vector<std::string> coming, pending;
  std::size_t there = 0;
  for (const std::string& name : jobs_.wanted()) {
    ++there;
    if (came_.contains(name)) continue;
    coming.push_back(name);
    if (jobs_.pending(name)) pending.push_back(name);
  }
  const auto most = static_cast<std::size_t>(options_.settings.most_jobs);
  const auto wanted = static_cast<std::size_t>(std::min(needed, static_cast<double>(most)));
  if (view_.ending) {
    for (const std::string& name : coming) jobs_.cancel(name);
    return;
  }
  if (not_before_ > now) return;
  for (std::size_t i = coming.size(); i < wanted && there < most; ++i, ++there) {
    const std::string name = fmt::format("{}{}-{}", prefix_, view_.epoch, next_++);
    jobs_.want(worker_job(options_, name, capacity_for(first->needs),
                          fmt::format("--leave-after {}", options_.settings.pilot.idle)),
               now);
  }
  // Between two trials nothing waits for a moment.
  if (coming.size() <= wanted || pending.empty()) {
    surplus_at_.reset();
  } else if (!surplus_at_) {
    surplus_at_ = now + options_.surplus_after;
  } else if (*surplus_at_ <= now) {
    surplus_at_.reset();
    for (std::size_t i = 0; i < std::min(pending.size(), coming.size() - wanted); ++i)
      jobs_.cancel(pending[pending.size() - 1 - i]);
  }
}

// Pilots that end before they have come are no reason for more of them at once.
void SlurmPilotOperator::over(const std::string& name, const std::string& cause) {
  if (came_.erase(name) == 0) {
    const double pause = std::min(kLongestPause, std::exp2(++fruitless_));
    not_before_ = port_.now() + pause;
    explain_all(never_came(options_, name, cause));
  }
  port_.worker_unavailable(name, cause);
}

void SlurmPilotOperator::tick(double now) {
  jobs_.tick(now);
  decide(now);
}

std::optional<double> SlurmPilotOperator::next_time() const {
  auto next = jobs_.next_time();
  if (surplus_at_) next = std::min(next.value_or(*surplus_at_), *surplus_at_);
  if (not_before_ > decided_ && !view_.waiting.empty())
    next = std::min(next.value_or(not_before_), not_before_);
  return next;
}

void SlurmPilotOperator::refuse_all() {
  for (const WaitingLine& line : view_.waiting) {
    if (line.worker.empty()) port_.refuse(line.task, refused_);
  }
}

void SlurmPilotOperator::explain_all(const std::string& why) {
  for (const WaitingLine& line : view_.waiting) {
    if (line.worker.empty()) port_.explain(line.task, why);
  }
}

void SlurmPilotOperator::seen(const std::string& name, const BatchState& state, double running) {
  const std::string why = came_.contains(name) ? "" : hopeless(options_, state, running);
  if (!why.empty()) {
    log_.warning("pilot {} does not come, and is replaced: {}", name, why);
    jobs_.cancel(name);
    over(name, why);
  } else if (!state.stuck.empty()) {
    explain_all(fmt::format("job {} ({}): {}", state.id, name, state.stuck));
  } else if (running >= options_.connect_within && !came_.contains(name)) {
    explain_all(unreached(options_, port_.address(), name, state));
  }
}

}  // namespace attune
