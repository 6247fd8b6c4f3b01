#pragma once
// The tuner of one experiment, behind a session. Gives exactly as many configurations as it is
// asked for. One owner at a time.
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "dispatcher/session.h"
#include "katib/plan.h"
#include "space/space.h"
#include "tuners/registry.h"

namespace attune::katib {

struct Offered {
  TrialId id = 0;
  Values values = {};
};

class Engine {
 public:
  // `seed` decides all random numbers, unless the tuner's arguments name a seed; `part` is mixed
  // into either, so that an experiment's engines with different parts propose different points.
  // Errors: bad arguments, a tuner that needs reports, a space that it cannot search.
  //
  // `saved`: what save() of an engine with the same plan returned. The new engine answers as the
  // saved one would have. Null: the engine begins anew.
  static Result<std::unique_ptr<Engine>> make(const Plan& plan, const TunerRegistry& tuners,
                                              std::uint64_t seed, std::uint64_t part,
                                              const json& saved, Log log);

  // `count` configurations, or fewer if `cancelled()` became true: what was made by then is kept
  // for the next call. While the tuner waits for results, or has no more points, the points are
  // drawn at random from the search space; if the space is finite, those with results are proposed
  // again first, the best ones before the others.
  std::vector<Offered> ask(const Plan& plan, std::size_t count,
                           const std::function<bool()>& cancelled);

  // A trial that runs and was not proposed by this engine. Nothing: it does not fit the space.
  std::optional<TrialId> adopt(const json& parameters);

  // `value` has the metrics that are numbers; null: none. Only the first end of a trial counts.
  void complete(TrialId trial, const json& value);
  void stop(TrialId trial, const json& value);  // early; the tuner assumes the value as its result
  void end(TrialId trial, End end);             // without a value

  // Results of trials that this engine has neither proposed nor adopted. The value has the
  // objective.
  void import(std::vector<std::pair<json, json>> results);

  json save() const;

 private:
  Engine(MadeTuner made, const Objective& objective, Space space, Rng rng, Log log);
  Result<void> load(const json& state);
  void take(Replies replies);
  void fill_up(std::size_t count);
  void draw();

  Session session_;
  const Space space_;
  Rng rng_;  // of what is drawn here
  const Log log_;
  TrialId next_id_ = 0;
  std::int64_t waiting_ = 0;                    // asks that the session has not answered
  bool no_more_ = false;                        // until the next event
  std::deque<std::pair<TrialId, json>> ready_;  // answered, and not given out yet
};

}  // namespace attune::katib
