#pragma once
// Gets jobs that run plain workers, as many as the waiting tasks need, up to a maximum
// (slurm_operator.h). Each pilot is a job of its own, so that pilots begin one by one as nodes
// become free, and end one by one. In mode jobs each pilot is for one task.
#include <map>
#include <utility>
#include <vector>

#include "cluster/batch/slurm_operator.h"

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
  using Names = std::vector<std::string>;
  struct Pilot {
    std::optional<Resources> shape;  // unknown for one of an earlier coordinator
    bool came = false;               // its worker has been connected
    std::string why;                 // why it does not come, without its name; empty: unknown
  };
  struct Demand {
    Resources shape;
    double pilots = 0;
  };
  double tasks_in(const Resources& shape, const Resources& needs) const;
  Resources shape_for(const Resources& needs) const;
  const std::string* refusal_of(const Resources& shape) const;
  std::string why_never(const WaitingLine& line) const;

  bool follow_workers();
  void drop(const std::string& name);

  // How many pilots of which shape the waiting tasks need, beside those that have come.
  std::vector<Demand> demand() const;
  // Removes from `coming` the pilots that serve the demand. Returns the demand that is left.
  std::vector<Demand> missing(Names& coming) const;
  void decide(double now);
  void grow(const std::vector<Demand>& missing, double now);
  void shrink(Names surplus, double now);

  void seen(const std::string& name, const BatchState& state, double running);
  void over(const std::string& name, const BatchEnd& end);
  void refused(const std::string& name, const BatchRefusal& why);
  void refuse_waiting();
  void tell();

  const SlurmOperatorOptions options_;
  const Log log_;
  OperatorPort& port_;
  const bool one_task_;                 // each takes one task and leaves
  const std::string prefix_;            // of pilots
  const std::filesystem::path output_;  // the output of all pilots as one pattern, for people
  OperatorView view_;
  std::map<std::string, Pilot> pilots_;  // wanted ones
  std::set<std::string> silent_;         // not connected at the last look
  std::uint64_t next_ = 1;
  // The shapes that Slurm refuses, and why; each as long as a task waits that would need one.
  std::vector<std::pair<Resources, std::string>> refused_;
  int fruitless_ = 0;                    // pilots in a row that ended before they had come
  std::string failure_;                  // why the last of them ended
  double not_before_ = 0, decided_ = 0;  // no new pilot earlier; time of the last decide()
  bool decided_upon_list_ = false;       // the last decide() knew which jobs there are
  std::optional<double> surplus_at_;     // when surplus pending pilots are cancelled
  BatchJobs jobs_;
};

}  // namespace attune
