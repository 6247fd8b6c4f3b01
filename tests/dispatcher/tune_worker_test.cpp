// The tune worker by itself: trials that were given out by a daemon whose memory is lost.
#include <catch2/catch.hpp>

#include "dispatcher/tune_worker.h"
#include "tuners/registry.h"

namespace attune::tune_worker_test {

TuneWorker make() {
  auto made = make_tuner(builtin_tuners(), "Random", {}, {}, 7).value();
  return {Session(std::move(made.tuner), Objective{"default", false}, Log()), Log()};
}

TuneWorker initialized() {
  TuneWorker worker = make();
  worker.handle(SetSpace{parse_json(R"({"x":{"_type":"uniform","_value":[0,1]}})").value(), true});
  return worker;
}

void adopt(TuneWorker& worker, TrialId id, bool unknown) {
  worker.handle(AdoptTrial{id, {{"x", 0.5}}, false, unknown});
}

TuneWorker reload(TuneWorker& worker) {
  auto messages = worker.handle(SaveState{1});
  TuneWorker loaded = make();
  REQUIRE(loaded.load(std::get<TunerState>(messages.at(0)).state).has_value());
  return loaded;
}

std::string proposal(TuneWorker& worker) {
  const auto messages = worker.handle(AskTrials{100, 100, 1});
  return dump_json(std::get<Offer>(messages.at(0)).parameters);
}

TEST_CASE("tune worker: after a trial that nobody remembers other proposals follow, once") {
  TuneWorker known = initialized();
  adopt(known, 5, false);
  adopt(known, 6, false);
  TuneWorker unknown = initialized();
  adopt(unknown, 5, true);
  TuneWorker loaded = reload(unknown);
  TuneWorker two = initialized();
  adopt(two, 5, true);
  adopt(two, 6, true);
  adopt(loaded, 6, true);  // of the same list
  TuneWorker later = reload(two);
  const std::string expected = proposal(unknown);
  CHECK(expected != proposal(known));
  CHECK(expected == proposal(two));
  CHECK(expected == proposal(loaded));

  later.restart(false);  // and the memory is lost again
  adopt(later, 7, true);
  CHECK(expected != proposal(later));
}

TEST_CASE("tune worker: before there is a search space there is nothing to skip") {
  TuneWorker worker = make();
  adopt(worker, 5, true);
  worker.handle(SetSpace{parse_json(R"({"x":{"_type":"uniform","_value":[0,1]}})").value(), true});
  TuneWorker fresh = initialized();
  CHECK(proposal(worker) == proposal(fresh));
}

}  // namespace attune::tune_worker_test
