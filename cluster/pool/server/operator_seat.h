#pragma once
// Where an operator sits: shows it how things stand, and does what it asks the coordinator for.
//
// One thread.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/pool/coordinator.h"
#include "cluster/pool/operator.h"
#include "os/log.h"

namespace attune {

class OperatorSeat final : public OperatorPort {
 public:
  struct Surroundings {
    std::function<double()> now;
    std::function<std::string()> address;  // that others dial
    std::function<void()> changed;         // called after everything that changes the coordinator
    // Calls it when all that was recorded is durable.
    std::function<void(std::function<void()>)> when_durable;
  };
  OperatorSeat(Coordinator& coordinator, Surroundings surroundings, Log log)
      : coordinator_(coordinator), around_(std::move(surroundings)), log_(std::move(log)) {}

  void take(std::unique_ptr<Operator> who) { operator_ = std::move(who); }
  void something_happened() { unseen_ = true; }  // that it should see
  // One view at a time, for all that has happened. What it sees is durable, and no earlier than
  // that.
  void show();
  // It has not seen all, or has something to do that must not be cut off.
  bool needs_time() const { return operator_ && (unseen_ || showing_ || operator_->busy()); }
  void tick() const;
  std::optional<double> next_time() const;

 private:
  double now() const override { return around_.now(); }
  std::string address() const override { return around_.address(); }
  void worker_unavailable(const std::string& worker, const std::string& cause) override;
  void refuse(const std::string& task, const std::string& cause) override;
  void explain(const std::string& task, const std::string& why) override;
  void changed() override { around_.changed(); }

  Coordinator& coordinator_;
  const Surroundings around_;
  const Log log_;
  std::unique_ptr<Operator> operator_;  // may be null
  bool unseen_ = true, showing_ = false;
};

}  // namespace attune
