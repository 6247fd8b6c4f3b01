#include "cluster/batch/command_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/pool/slots.h"

namespace attune {
namespace {

bool may_have(const SeenWorker& worker, const WaitingLine& line) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
  };
  return worker.here() && (worker.kinds.empty() || has(worker.kinds, line.kind)) &&
         std::ranges::all_of(line.labels,
                             [&](const auto& label) { return has(worker.labels, label); });
}

// How many tasks of the line one more worker has room for. It is taken to be as large as the best
// connected worker for the line, or large enough for one task.
double room(const OperatorView& view, const WaitingLine& line) {
  double most = 1;
  for (const auto& [name, worker] : view.workers) {
    if (may_have(worker, line)) most = std::max(most, slots(worker.capacity, line.needs));
  }
  return std::min(most, static_cast<double>(line.count));
}

}  // namespace

CommandOperator::CommandOperator(boost::asio::io_context& io, CommandOperatorOptions options,
                                 OperatorPort& port, Log log)
    : options_(std::move(options)),
      port_(port),
      log_(std::move(log)),
      runner_(io, options_.environment, 1) {}

CommandOperator::Situation CommandOperator::situation(const OperatorView& view) const {
  Situation result;
  double busy = 0, more = 0;
  for (const auto& [name, worker] : view.workers) {
    if (!worker.tasks.empty()) ++busy;
    result.ready += worker.state == WorkerState::ready ? 1 : 0;
  }
  for (const WaitingLine& line : view.waiting) {
    result.waiting += line.count;
    more += static_cast<double>(line.count) / room(view, line);
  }
  const double wanted = view.ending ? 0 : busy + std::ceil(more - 1e-9);
  result.wanted = static_cast<int>(std::min(wanted, static_cast<double>(options_.most)));
  return result;
}

// Whether fewer workers are wanted than were asked for. As long as this coordinator has not asked,
// nobody knows what a former one asked for: the number then counts as smaller while no task waits,
// so that it is asked for only after `shrink_after`.
bool CommandOperator::fewer() const { return told_ ? now_.wanted < *told_ : now_.waiting == 0; }

// At the end the command must hear that no workers are wanted. It is tried again if it fails, but
// not for ever.
bool CommandOperator::farewell_is_due() const {
  return ending_ && told_ != now_.wanted && pause_ < 4 * options_.first_pause;
}

void CommandOperator::look(const OperatorView& view, double now) {
  now_ = situation(view);
  ending_ = view.ending;
  // Between two tasks a worker is idle for a moment, so a smaller number must last.
  if (!fewer()) {
    shrink_at_.reset();
  } else if (ending_ || !shrink_at_) {
    shrink_at_ = shrink_time(now);
  }
  tick(now);
}

void CommandOperator::tick(double now) {
  tried_ = now;
  if (running_ || told_ == now_.wanted || next_try_ > now) return;
  if (fewer() && (!shrink_at_ || *shrink_at_ > now)) return;
  run();
}

void CommandOperator::run() {
  running_ = true;
  shrink_at_.reset();
  const int wanted = now_.wanted;
  log_.info("{} workers are wanted, {} are ready, {} tasks wait", wanted, now_.ready, now_.waiting);
  CommandLine command;
  command.arguments = {"/usr/bin/env",
                       fmt::format("ATTUNE_WORKERS_WANTED={}", wanted),
                       fmt::format("ATTUNE_WORKERS_READY={}", now_.ready),
                       fmt::format("ATTUNE_TASKS_WAITING={}", now_.waiting),
                       "ATTUNE_COORDINATOR=" + options_.address_file.string(),
                       "/bin/sh",
                       "-c",
                       options_.command};
  command.limit = options_.limit;
  runner_.run(std::move(command), [this, wanted](const CommandEnd& end) {
    running_ = false;
    if (end.success()) {
      told_ = wanted;
      pause_ = 0;
    } else {
      pause_ = std::clamp(2 * pause_, options_.first_pause, options_.longest_pause);
      next_try_ = port_.now() + pause_;
      log_.error("the command for {} workers has not succeeded ({}), and is run again in {} s: {}",
                 wanted, end.trouble.empty() ? to_text(end.status) : end.trouble, pause_,
                 end.errors);
    }
    // The situation may have changed during the run.
    if (fewer()) shrink_at_ = shrink_time(port_.now());
    tick(port_.now());
    port_.changed();
  });
}

std::optional<double> CommandOperator::next_time() const {
  if (running_ || told_ == now_.wanted) return std::nullopt;
  if (next_try_ > tried_) return next_try_;
  return fewer() ? shrink_at_ : std::nullopt;
}

}  // namespace attune
