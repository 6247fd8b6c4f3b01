#pragma once
// The search space of a study of Optuna's. A study has none: each trial suggests what it needs. So
// it is found from the trials.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "manager/interchange/exporter.h"
#include "manager/interchange/optuna_domain.h"
#include "manager/interchange/optuna_study.h"

namespace attune {

class OptunaSpace {
 public:
  // A parameter that only trials with some choices of a categorical parameter have becomes a
  // parameter in those options of a nested choice. `trials`: those that have suggested all that
  // they would. Error: a parameter changes its kind from trial to trial.
  static Result<OptunaSpace> of(const std::vector<const OptunaTrial*>& trials, Losses& losses);

  json declaration(Losses& losses) const;
  // What the trial would get from attune. Parameters that are not in the space are left out.
  json parameters(const OptunaTrial& trial) const;

 private:
  using Trials = std::vector<const OptunaTrial*>;
  struct Node {
    std::string name;                                  // of the parameter in Optuna
    std::string key;                                   // in its object
    std::map<std::size_t, std::vector<Node>> options;  // index of a choice -> its parameters
  };

  std::vector<Node> nodes(const std::vector<std::string>& names, const Trials& trials,
                          const std::string& prefix, Losses& losses) const;
  std::string parent_of(const std::string& name, const std::vector<std::string>& names,
                        const Trials& trials) const;
  bool explains(const std::string& parent, const std::string& name,
                const std::vector<std::string>& names, const Trials& trials, int depth) const;
  json declared(const std::vector<Node>& nodes, Losses& losses) const;
  json written(const std::vector<Node>& nodes, const OptunaTrial& trial) const;

  std::map<std::string, OptunaDomain> domains_;
  std::vector<Node> top_;
};

}  // namespace attune
