#pragma once
// What the tuners of population based training have in common: everything but how a configuration
// is changed.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/arguments.h"
#include "rungs/population.h"
#include "tuners/parts/explore.h"
#include "tuners/tuner.h"

namespace attune {

struct PopulationSettings {
  std::string owner;  // the name of the tuner, for messages
  PopulationRule rule = {};
  std::string time_attr = {};
  std::optional<double> max_t = {};
  std::size_t size = 8;
  std::optional<std::string> mutations = {};  // names of the parameters that change; nothing: all
  Objective objective = {};
};

// The arguments that all of them have, and what they come to.
std::vector<Argument> population_arguments();
Result<PopulationSettings> population_settings(const std::string& owner, const json& args,
                                               const Context& context);

// Which parameters may change, in this space. An error is one of Tuner::set_space().
Result<Mutable> mutable_in(const PopulationSettings& settings, const Space& space);

// Changes the configurations of losers. Members are those of Population.
class Explorer {
 public:
  virtual ~Explorer() = default;
  // Forgets everything.
  virtual void set_space(const Space& space, const Mutable& which) = 0;
  // The member has this loss at this resource. It has trained with this point since its last
  // observation, or since it copied somebody.
  virtual void observe(std::size_t /*member*/, double /*resource*/, double /*loss*/,
                       const Point& /*point*/) {}
  // The loser goes on from the donor's state at the donor's last observation. `point` is the
  // donor's.
  virtual Explored explore(std::size_t loser, std::size_t donor, const Point& point, Rng& rng) = 0;
  virtual json save() const { return json::object(); }
  virtual Result<void> load(const json&) { return {}; }  // all or nothing
};

// Population based training as in Ray Tune (rungs/population.h). Of the trials of one population
// some are running, and the others are paused or wait for their start, if there are more than the
// manager runs at once. A trial goes on where it paused.
//
// A loser is paused, and goes on as the same trial with another configuration, from the checkpoint
// of its donor. So the population keeps its size, and no copy counts as a further trial. Managers
// that cannot pause begin a new job for it, from that checkpoint or, without checkpoints, from
// scratch; the dispatcher sees to that.
//
// The population is over when all its trials have ended. A trial that failed is not replaced.
std::unique_ptr<Tuner> make_population_tuner(PopulationSettings settings,
                                             std::unique_ptr<Explorer> explorer, const Rng& rng);

}  // namespace attune
