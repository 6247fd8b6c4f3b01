#include "cluster/pool/server/operator_seat.h"

namespace attune {

void OperatorSeat::show() {
  if (!operator_ || !unseen_ || showing_) return;
  unseen_ = false;
  showing_ = true;
  around_.when_durable([this, view = view_of(coordinator_)] {
    showing_ = false;
    operator_->look(view, now());
    changed();
  });
}

void OperatorSeat::tick() const {
  if (operator_) operator_->tick(now());
}

std::optional<double> OperatorSeat::next_time() const {
  return operator_ ? operator_->next_time() : std::nullopt;
}

void OperatorSeat::worker_unavailable(const std::string& worker, const std::string& cause) {
  log_.info("worker {} is given up: {}", worker, cause);
  coordinator_.worker_unavailable(worker, cause, now());
  changed();
}

void OperatorSeat::refuse(const std::string& task, const std::string& cause) {
  coordinator_.refuse_waiting(task, cause, now());
  changed();
}

void OperatorSeat::explain(const std::string& task, const std::string& why) {
  coordinator_.explain(task, why);
  changed();
}

}  // namespace attune
