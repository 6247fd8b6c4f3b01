#pragma once
// Gets one job for each task that names a worker of its own (slurm_operator.h, mode jobs).
#include "cluster/batch/slurm_operator.h"

namespace attune {

class SlurmJobOperator final : public Operator {
 public:
  SlurmJobOperator(SlurmOperatorOptions options, std::unique_ptr<BatchSystem> system,
                   OperatorPort& port, const Log& log);

  void look(const OperatorView& view, double now) override;
  void tick(double now) override { jobs_.tick(now); }
  std::optional<double> next_time() const override { return jobs_.next_time(); }
  bool busy() const override { return jobs_.busy(); }

 private:
  bool is_ours(const std::string& worker) const {
    return worker.starts_with(options_.settings.prefix);
  }
  void seen(const std::string& name, const BatchState& state, double running);
  void over(const std::string& name, const BatchEnd& end);
  std::filesystem::path output(const std::string& name) const;

  const SlurmOperatorOptions options_;
  const Log log_;
  OperatorPort& port_;
  std::map<std::string, std::string> waiting_;  // worker -> its task, which waits
  std::set<std::string> came_;                  // workers that have been connected
  std::set<std::string> silent_;                // workers that were not connected at the last look
  BatchJobs jobs_;
};

}  // namespace attune
