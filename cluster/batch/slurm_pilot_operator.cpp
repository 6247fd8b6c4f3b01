#include "cluster/batch/slurm_pilot_operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/pool/slots.h"

namespace attune {
namespace {

constexpr double kLongestPause = 60;  // seconds

}  // namespace

SlurmPilotOperator::SlurmPilotOperator(SlurmOperatorOptions options,
                                       std::unique_ptr<BatchSystem> system, OperatorPort& port,
                                       const Log& log)
    : options_(std::move(options)),
      log_(log),
      port_(port),
      one_task_(options_.settings.mode == SlurmSettings::Mode::jobs),
      prefix_(options_.settings.prefix + (one_task_ ? "job-" : "pilot-")),
      output_(options_.folder / (prefix_ + "*.out")),
      jobs_(std::move(system), batch_jobs_options(options_),
            {.now = [this] { return port_.now(); },
             .on_seen = [this](const std::string& name, const BatchState& state,
                               double running) { seen(name, state, running); },
             .on_over = [this](const std::string& name, const BatchEnd& end) { over(name, end); },
             .on_refused = [this](const std::string& name,
                                  const BatchRefusal& why) { refused(name, why); },
             .on_trouble =
                 [this](const std::string& name, const std::string& why) {
                   pilots_[name].why = "no job yet: " + why;
                   tell();
                 },
             .on_unknown =
                 [this](const std::string& name, const BatchState&) {
                   // An earlier coordinator submitted it.
                   if (name.starts_with(prefix_)) jobs_.watch(name);
                   return name.starts_with(prefix_);
                 },
             .on_change = [this] { port_.changed(); }},
            log) {}

Resources SlurmPilotOperator::shape_for(const Resources& needs) const {
  return pilot_shape(options_.settings, needs);
}

const std::string* SlurmPilotOperator::refusal_of(const Resources& shape) const {
  const auto found =
      std::ranges::find(refused_, shape, [](const auto& each) { return each.first; });
  return found == refused_.end() ? nullptr : &found->second;
}

double SlurmPilotOperator::tasks_in(const Resources& shape, const Resources& needs) const {
  return one_task_ ? 1 : slots(shape, needs);
}

// Empty: a pilot would do.
std::string SlurmPilotOperator::why_never(const WaitingLine& line) const {
  if (!line.labels.empty()) return "no worker in a job of Slurm has labels, and it asks for some";
  if (slots(shape_for(line.needs), line.needs) < 1)
    return "no pilot is large enough for it: change slurm.pilot";
  return "";
}

void SlurmPilotOperator::drop(const std::string& name) {
  jobs_.cancel(name);
  pilots_.erase(name);
}

void SlurmPilotOperator::look(const OperatorView& view, double now) {
  view_ = view;
  if (follow_workers()) jobs_.look_now();
  std::erase_if(refused_, [this](const auto& refusal) {
    return std::ranges::none_of(view_.waiting, [&](const WaitingLine& line) {
      return line.worker.empty() && shape_for(line.needs) == refusal.first;
    });
  });
  if (view_.waiting.empty()) failure_.clear();
  refuse_waiting();
  decide(now);
  tell();
}

// Returns whether a worker was connected before and is not any more.
bool SlurmPilotOperator::follow_workers() {
  for (const auto& [name, worker] : view_.workers) {
    if (!name.starts_with(prefix_)) continue;
    jobs_.watch(name);
    pilots_[name].came = true;
    if (!worker.here()) continue;
    fruitless_ = 0;
    failure_.clear();
  }
  bool gone = false;
  for (const std::string& name : jobs_.wanted()) {
    const auto worker = view_.workers.find(name);
    const bool here = worker != view_.workers.end() && worker->second.here();
    gone |= jobs_.set_here(name, here);
    if (worker != view_.workers.end() || !pilots_[name].came) continue;
    if (silent_.contains(name)) {
      log_.warning("pilot {} cannot be heard: its job is cancelled", name);
      drop(name);
    } else {
      jobs_.let_go(name);  // it had no task left, and has gone
      pilots_.erase(name);
    }
  }
  silent_ = silent_workers(view_, prefix_);
  return gone;
}

// ---- how many

std::vector<SlurmPilotOperator::Demand> SlurmPilotOperator::demand() const {
  std::vector<Demand> all;
  for (const WaitingLine& line : view_.waiting) {
    if (view_.ending || !line.worker.empty() || !why_never(line).empty()) continue;
    const Resources shape = shape_for(line.needs);
    if (refusal_of(shape) != nullptr) continue;
    auto same = std::ranges::find(all, shape, &Demand::shape);
    if (same == all.end()) same = all.insert(same, Demand{shape, 0});
    same->pilots += static_cast<double>(line.count) / tasks_in(shape, line.needs);
  }
  // Sums of fractions, such as three thirds, must not give a pilot too many.
  for (Demand& each : all) each.pilots = std::ceil(each.pilots - 1e-9);
  return all;
}

std::vector<SlurmPilotOperator::Demand> SlurmPilotOperator::missing(Names& coming) const {
  std::vector<Demand> left = demand();
  // First each pilot of a known shape serves the demand for that shape; then pilots of unknown
  // shape serve whatever is left.
  for (const bool known : {true, false}) {
    for (Demand& each : left) {
      std::erase_if(coming, [&](const std::string& name) {
        const auto& shape = pilots_.at(name).shape;
        const bool takes = each.pilots >= 1 && (known ? shape == each.shape : !shape);
        if (takes) --each.pilots;
        return takes;
      });
    }
  }
  return left;
}

void SlurmPilotOperator::decide(double now) {
  decided_ = now;
  decided_upon_list_ = jobs_.listed();
  if (!decided_upon_list_) return;  // an earlier coordinator may have some
  Names coming;
  for (const std::string& name : jobs_.wanted()) {
    if (!pilots_[name].came) coming.push_back(name);
  }
  // Running pilots first, so that pending ones are left over and can be cancelled.
  std::ranges::stable_partition(coming, [&](const auto& name) { return !jobs_.pending(name); });
  const std::vector<Demand> more = missing(coming);
  grow(more, now);
  shrink(std::move(coming), now);
}

void SlurmPilotOperator::grow(const std::vector<Demand>& missing, double now) {
  if (not_before_ > now) return;
  const auto most = static_cast<std::size_t>(options_.settings.most_jobs);
  std::size_t there = jobs_.wanted().size();
  for (const Demand& each : missing) {
    for (double left = each.pilots; left >= 1 && there < most; --left, ++there) {
      const std::string name = fmt::format("{}{}-{}", prefix_, view_.epoch, next_++);
      pilots_[name].shape = each.shape;
      jobs_.want(worker_job(options_, name, each.shape,
                            fmt::format("{}--leave-after {}", one_task_ ? "--tasks 1 " : "",
                                        options_.settings.pilot.idle)),
                 now);
    }
  }
}

void SlurmPilotOperator::shrink(Names surplus, double now) {
  if (!view_.ending)
    std::erase_if(surplus, [this](const std::string& name) { return !jobs_.pending(name); });
  // Between two tasks nothing waits for a moment, so a surplus must last.
  if (surplus.empty()) {
    surplus_at_.reset();
  } else if (!surplus_at_ && !view_.ending) {
    surplus_at_ = now + options_.surplus_after;
  } else if (view_.ending || *surplus_at_ <= now) {
    surplus_at_.reset();
    for (const std::string& name : surplus) drop(name);
  }
}

void SlurmPilotOperator::tick(double now) {
  jobs_.tick(now);
  decide(now);
}

std::optional<double> SlurmPilotOperator::next_time() const {
  // The first list has come, for which decide() was waiting.
  if (jobs_.listed() && !decided_upon_list_) return port_.now();
  auto next = jobs_.next_time();
  if (surplus_at_) next = std::min(next.value_or(*surplus_at_), *surplus_at_);
  if (not_before_ > decided_ && !view_.waiting.empty())
    next = std::min(next.value_or(not_before_), not_before_);
  return next;
}

// ---- what becomes of them

void SlurmPilotOperator::seen(const std::string& name, const BatchState& state, double running) {
  Pilot& pilot = pilots_[name];
  const std::string lost = pilot.came ? "" : hopeless(options_, state, running);
  if (!lost.empty()) {
    log_.warning("pilot {} does not come, and is replaced: its job {} {}", name, state.id, lost);
    jobs_.cancel(name);
    return over(name, {state.id, lost});
  }
  std::string why;
  if (!state.stuck.empty()) {
    why = fmt::format("jobs {}*: {}", prefix_, state.stuck);
  } else if (running >= options_.connect_within && !pilot.came) {
    why = unreached("the job of a worker", port_.address(), output_);
  }
  if (why == std::exchange(pilot.why, why)) return;
  tell();
}

// After a pilot that ended before its worker came, the next one waits: 2 s, 4 s, up to 60 s.
void SlurmPilotOperator::over(const std::string& name, const BatchEnd& end) {
  const auto known = pilots_.find(name);
  const bool came = known != pilots_.end() && known->second.came;
  if (known != pilots_.end()) pilots_.erase(known);
  if (!came) {
    not_before_ = port_.now() + std::min(kLongestPause, std::exp2(++fruitless_));
    failure_ = never_came(fmt::format("the job of a worker {}", end.how), output_);
    tell();
  }
  port_.worker_unavailable(name, to_text(end));
}

void SlurmPilotOperator::refused(const std::string& name, const BatchRefusal& why) {
  const auto known = pilots_.find(name);
  if (known != pilots_.end() && known->second.shape && refusal_of(*known->second.shape) == nullptr)
    refused_.emplace_back(*known->second.shape, refusal_text(why));
  pilots_.erase(name);
  refuse_waiting();
}

void SlurmPilotOperator::refuse_waiting() {
  for (const WaitingLine& line : view_.waiting) {
    if (!line.worker.empty() || !why_never(line).empty()) continue;
    if (const std::string* why = refusal_of(shape_for(line.needs))) port_.refuse(line.task, *why);
  }
}

// The same text for all waiting tasks, and no other one while nothing changes: each other text is
// shown as a warning.
void SlurmPilotOperator::tell() {
  std::set<std::string> reasons;
  for (const auto& [name, pilot] : pilots_) {
    if (!pilot.why.empty()) reasons.insert(pilot.why);
  }
  if (!failure_.empty()) reasons.insert(failure_);
  const std::string why = fmt::format("{}", fmt::join(reasons, "; "));
  for (const WaitingLine& line : view_.waiting) {
    if (!line.worker.empty()) continue;
    const std::string never = why_never(line);
    port_.explain(line.task, never.empty() ? why : never);
  }
}

}  // namespace attune
