#pragma once
// Connects an operator to the coordinator: shows it views of the coordinator's state, and does what
// it asks for.
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
    std::function<std::string()> address;  // that workers dial
    std::function<void()> changed;         // called after each change of the coordinator
    // Calls its argument once everything recorded so far is durable.
    std::function<void(std::function<void()>)> when_durable;
  };
  OperatorSeat(Coordinator& coordinator, Surroundings surroundings, Log log)
      : coordinator_(coordinator), around_(std::move(surroundings)), log_(std::move(log)) {}

  void take(std::unique_ptr<Operator> who) { operator_ = std::move(who); }
  void something_happened() { unseen_ = true; }  // which the operator should see
  // If something has happened, takes a view of the coordinator, and shows it to the operator once
  // the records before it are durable. At most one view is on its way.
  void show();
  // The operator has not seen everything yet, or is busy (Operator::busy): the server should not
  // end now.
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
