// What a manager does with the requests that change what a resume starts from.
#include "manager/control/control_handler.h"

#include <catch2/catch.hpp>

#include "manager/experiment/experiment_file.h"
#include "manager/store/store_reader.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/manager/trials/scripted_world.h"
#include "tests/support/temporary_folder.h"

namespace attune::control_handler_test {

// Of two parameters, one of which a constraint and the command need.
Experiment two_parameters() {
  return read_experiment(R"(
searchSpace: {x: {_type: uniform, _value: [0, 1]}, y: {_type: uniform, _value: [0, 1]}}
constraints: ["x < y"]
trialCommand: ./solve {y}
tuner: {name: TPE}
)",
                         "/tmp/e.yaml", "/tmp")
      .value();
}

struct Managed {
  explicit Managed(Experiment managed = two_parameters()) : experiment(std::move(managed)) {
    world.ready();
    CHECK(store.update_file(to_document(experiment)).has_value());
    CHECK(store.commit().has_value());
  }
  StoredExperiment stored() const {
    StoreReader reader = StoreReader::open(folder.path).value();
    return reader.find("").value();
  }
  std::string answer(const json& request) {
    const auto answered = handler.handle(request);
    return answered ? "ok" : answered.error().message;
  }

  TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  Experiment experiment;
  World world;
  ControlHandler handler{world.runner, experiment, store, world.clock};
};

json uniform(double low, double high) { return {{"_type", "uniform"}, {"_value", {low, high}}}; }

TEST_CASE("control handler: a search space that resume would refuse is not stored") {
  Managed m;
  const json before = m.stored().file;
  const auto refused = [&](const json& space, const std::string& why) {
    const std::string answer =
        m.answer({{"command", "update"}, {"search_space", space}, {"concurrency", 7}});
    CAPTURE(answer);
    CHECK(answer.find(why) != std::string::npos);
    CHECK(m.stored().file == before);
    CHECK(m.experiment.trial_concurrency == 1);
  };
  refused({{"y", uniform(0, 1)}}, "unknown parameter \"x\"");
  refused({{"x", uniform(0, 1)}, {"z", uniform(0, 1)}}, "unknown parameter \"y\"");
  refused({{"x", uniform(0, 1)}, {"y", uniform(0, std::nan(""))}}, "");
  for (const std::string& call : m.world.decider.calls) CHECK(call != "space");
}

TEST_CASE("control handler: a text is a placeholder after an update when it was one before it") {
  // Of a former version, which took {verbatim} for text.
  Managed m(read_stored_experiment({{"searchSpace", {{"width", uniform(0, 1)}}},
                                    {"trialCommand", "./solve {width} {verbatim}"},
                                    {"environment", {{"W", "{width}"}}},
                                    {"tuner", {{"name", "TPE"}}}},
                                   "/tmp")
                .value());
  const json before = m.stored().file;
  const auto answer = [&](const json& space) {
    return m.answer({{"command", "update"}, {"search_space", space}});
  };
  CHECK(answer(json::object()) ==
        "{width} is a placeholder, and the new search space has no width");
  CHECK(answer({{"other", uniform(0, 1)}}).starts_with("{width} is a placeholder"));
  CHECK(answer({{"width", uniform(0, 1)}, {"verbatim", uniform(0, 1)}}) ==
        "{verbatim} is no placeholder so far; a new parameter needs another name than verbatim");
  CHECK(m.stored().file == before);
  CHECK(answer({{"width", uniform(0, 2)}, {"other", uniform(0, 1)}}) == "ok");
  CHECK(answer({{"width", uniform(0, 3)}}) == "ok");
}

TEST_CASE("control handler: what is updated is what a resume reads") {
  Managed m;
  CHECK(m.answer({{"command", "update"},
                  {"search_space", {{"x", uniform(0, 2)}, {"y", uniform(1, 3)}}},
                  {"concurrency", 7},
                  {"max_seconds", 1e-9},
                  {"max_trials", 5}}) == "ok");
  const Experiment resumed = read_stored_experiment(m.stored().file, m.folder.path).value();
  CHECK(resumed.search_space["y"] == uniform(1, 3));
  CHECK(resumed.trial_concurrency == 7);
  CHECK(resumed.max_trial_number == 5);
  CHECK(resumed.max_experiment_seconds == 1e-9);
}

TEST_CASE("control handler: trials are judged by the search space of the newest update") {
  Managed m;
  const auto add = [&](double x, double y) {
    return m.answer({{"command", "add"}, {"trials", {{{"x", x}, {"y", y}}}}});
  };
  CHECK(add(0.5, 0.75) == "ok");
  CHECK(add(1.5, 2.5) != "ok");
  REQUIRE(m.answer({{"command", "update"},
                    {"search_space", {{"x", uniform(0, 2)}, {"y", uniform(1, 3)}}}}) == "ok");
  CHECK(add(0.5, 0.75) != "ok");
  CHECK(add(1.5, 2.5) == "ok");
  CHECK(add(1.75, 1.5).starts_with("the constraints do not allow"));
  // One that is refused changes nothing.
  REQUIRE(m.answer({{"command", "update"}, {"search_space", {{"x", uniform(0, 9)}}}}) != "ok");
  CHECK(add(1.5, 2.5) == "ok");
}

}  // namespace attune::control_handler_test
