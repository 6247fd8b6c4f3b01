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
  Result<std::string> draw(PictureQuestion question, plots::PageSettings page = {}) {
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

TEST_CASE("stored pictures: what cannot be drawn is an error that says why") {
  World world;
  const auto error = [&](PictureQuestion question) {
    const auto drawn = world.draw(std::move(question));
    return drawn ? "" : drawn.error().message;
  };
  CHECK(error({.kind = "front"}).find("one objective") != std::string::npos);
  CHECK(error({.kind = "portrait"}).find("history") != std::string::npos);
  CHECK(error({.kind = "history", .metric = "accurracy"}).find("accuracy") != std::string::npos);
  CHECK(error({.kind = "slice", .parameters = {"speed"}}).find("speed") != std::string::npos);
  CHECK(error({.kind = "contour", .parameters = {"rate"}}).find("two") != std::string::npos);
}

}  // namespace attune::stored_pictures_test
