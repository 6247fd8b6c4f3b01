#pragma once
// Jobs that run plain workers, as many as waiting tasks need, up to a maximum: each is a job of its
// own, so that they begin as nodes become free and die one by one. slurm_operator.h
#include "coordinator/operators/slurm_operator.h"

namespace attune {

class SlurmPilotOperator final : public Operator {
 public:
  SlurmPilotOperator(SlurmOperatorOptions options, std::unique_ptr<BatchSystem> system,
                     OperatorPort& port, const Log& log);

  void look(const OperatorView& view, double now) override;
  void tick(double now) override;
  std::optional<double> next_time() const override;
  bool busy() const override { return jobs_.busy(); }

 private:
  Resources capacity_for(const Resources& needs) const;
  void decide(double now);
  void over(const std::string& name, const std::string& cause);
  void refuse_all();
  void explain_all(const std::string& why);
  void seen(const std::string& name, const BatchState& state, double running);

  const SlurmOperatorOptions options_;
  const Log log_;
  OperatorPort& port_;
  const std::string prefix_;  // of pilots
  OperatorView view_;
  std::set<std::string> came_, silent_;  // have been here; could not be heard at the last look
  std::uint64_t next_ = 1;
  std::string refused_;                  // why there can be no pilots; empty: there can
  int fruitless_ = 0;                    // pilots in a row that have ended without having come
  double not_before_ = 0, decided_ = 0;  // the next one; the last decide()
  std::optional<double> surplus_at_;     // when pending pilots are cancelled
  BatchJobs jobs_;
};

}  // namespace attune
