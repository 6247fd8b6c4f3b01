#pragma once
// Jobs that run plain workers, as many as waiting tasks need, up to a maximum: each is a job of its
// own, so that they begin as nodes become free and die one by one. In mode jobs each of them is for
// one task. slurm_operator.h
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
    std::optional<Resources> shape;  // of an earlier coordinator's it is not known
    bool came = false;               // its worker has been here
    std::string why;                 // that does not come; without its name
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

  // Pilots for what waits: how many of which shape, beyond those that have come.
  std::vector<Demand> demand() const;
  // Takes those that will do from `coming`. What is left of the demand.
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
  const bool one_task_;                 // each takes one, and goes
  const std::string prefix_;            // of pilots
  const std::filesystem::path output_;  // of all of them, for people
  OperatorView view_;
  std::map<std::string, Pilot> pilots_;  // wanted ones
  std::set<std::string> silent_;         // could not be heard at the last look
  std::uint64_t next_ = 1;
  // Why there can be none of these shapes, as long as a task waits that would need one.
  std::vector<std::pair<Resources, std::string>> refused_;
  int fruitless_ = 0;                    // pilots in a row that have ended without having come
  std::string failure_;                  // why, of the last of them
  double not_before_ = 0, decided_ = 0;  // the next one; the last decide()
  bool decided_upon_list_ = false;       // that was not before it was known which there are
  std::optional<double> surplus_at_;     // when pending pilots are cancelled
  BatchJobs jobs_;
};

}  // namespace attune
