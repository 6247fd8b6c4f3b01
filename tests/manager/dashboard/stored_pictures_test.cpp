// Pictures of a stored experiment as files: what is in them, and what cannot be drawn.
#include "manager/dashboard/stored_pictures.h"

#include <catch2/catch.hpp>

#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::stored_pictures_test {

struct World {
  explicit World(const json& objectives = nullptr) {
    json file = {{"trialCommand", "true"}};
    file["searchSpace"] = {{"rate", {{"_type", "loguniform"}, {"_value", {0.001, 1}}}},
                           {"kind", {{"_type", "choice"}, {"_value", {"small", "large"}}}}};
    if (!objectives.is_null()) file["objectives"] = objectives;
    Store store = begin_experiment(folder.path, "abcd2345", "digits", file);
    for (int i = 0; i < 20; ++i) {
      TrialRecord trial = pending_trial(i);
      trial.proposed.parameters = {{"rate", 0.01 + 0.04 * i},
                                   {"kind", i % 3 == 0 ? "small" : "large"}};
      store.add_trial(trial, 1001).value();
      trial.status = TrialStatus::succeeded;
      trial.start_time = 1001 + i;
      trial.end_time = 1003 + i;
      trial.final_metric = {{"accuracy", 0.04 * i}, {"seconds", 3.0 + i % 7}};
      store.change_trial(trial).value();
    }
    store.commit().value();
  }
  Result<std::string> draw(const PictureQuestion& question, plots::PageSettings page = {}) {
    StoreReader reader = StoreReader::open(folder.path).value();
    return stored_picture(reader, reader.find("").value(), question, page);
  }

  TemporaryFolder folder;
};

TEST_CASE("stored pictures: each kind names what it shows") {
  World world(json::parse(
      R"([{"metric": "accuracy", "mode": "maximize"}, {"metric": "seconds", "mode": "minimize"}])"));
  for (const std::string_view kind : picture_kinds()) {
    INFO(kind);
    const auto svg = world.draw({.kind = std::string(kind)});
    if (!svg) FAIL(svg.error().message);
    CHECK(svg->find("digits") != std::string::npos);
    const bool of_parameters =
        kind == "parallel" || kind == "importance" || kind == "slice" || kind == "contour";
    CHECK((svg->find("rate") != std::string::npos) == of_parameters);
  }
}

TEST_CASE("stored pictures: the questions matter") {
  World world;
  const auto has = [](const std::string& picture, const char* text) {
    return picture.find(text) != std::string::npos;
  };
  const std::string one = world.draw({.kind = "slice", .parameters = {"kind"}}).value();
  CHECK(has(one, "kind"));
  CHECK_FALSE(has(one, "rate"));
  CHECK(has(world.draw({.kind = "contour", .parameters = {"kind", "rate"}}).value(), "large"));
  CHECK(world.draw({.kind = "history"}, {.format = plots::Format::png})
            .value()
            .starts_with("\x89PNG"));
}

TEST_CASE("stored pictures: a timeline has lanes for workers, GPUs and what overlaps there") {
  World world;
  Store store = Store::open(world.folder.path).value();
  REQUIRE(store.resume("abcd2345", 1100));
  int attempt = 0;
  const auto run = [&](std::int64_t number, double start, double end, const std::string& worker,
                       const std::string& gpus, Ending how) {
    TrialRecord trial = pending_trial(number);
    trial.attempts = ++attempt;
    trial.start_time = start;
    store.add_attempt(trial, "", start).value();
    store.set_place(trial, {trial.job_id, "", 0, worker, "", gpus}, start).value();
    store.end_attempt(trial, {.job_id = trial.job_id, .how = how, .detail = "", .time = end})
        .value();
  };
  run(0, 1001, 1002, "w10", "", Ending::paused);
  run(0, 1004, 1005, "w2", "", Ending::succeeded);
  run(1, 1004, 1006, "w2", "", Ending::succeeded);
  run(2, 1004, 1006, "w3", "0,1", Ending::succeeded);
  store.commit().value();
  const std::string svg = world.draw({.kind = "timeline"}).value();
  // The texts of a picture, for those who do not see it; the lanes from below.
  CHECK(svg.find("\nw10\nw3 gpu 1\nw3 gpu 0\nw2 (2)\nw2\n") != std::string::npos);
  CHECK(svg.find("\nsucceeded\n") != std::string::npos);
  CHECK(svg.find("\npaused\n") != std::string::npos);
}

TEST_CASE("stored pictures: what cannot be drawn is an error that says why") {
  World world;
  const auto error = [&](const PictureQuestion& question) {
    const auto drawn = world.draw(question);
    return drawn ? "" : drawn.error().message;
  };
  CHECK(error({.kind = "front"}).find("one objective") != std::string::npos);
  CHECK(error({.kind = "portrait"}).find("history") != std::string::npos);
  CHECK(error({.kind = "history", .metric = "accurracy"}).find("accuracy") != std::string::npos);
  CHECK(error({.kind = "slice", .parameters = {"speed"}}).find("speed") != std::string::npos);
  CHECK(error({.kind = "contour", .parameters = {"rate"}}).find("two") != std::string::npos);
}

}  // namespace attune::stored_pictures_test
