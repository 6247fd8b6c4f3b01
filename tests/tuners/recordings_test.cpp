// Tuners against what NNI answered to the same requests.
#include <algorithm>
#include <catch2/catch.hpp>

#include "space/parse.h"
#include "tests/tuners/recording.h"
#include "tuners/registry.h"

namespace attune::recordings_test {

// Parameters as text, or "NO" for NoMoreTrialJobs.
struct Answers {
  std::vector<std::string> recorded, ours;
};

// Sends the recorded search space, requests, results and imports to the tuner.
Answers replay(const std::string& name) {
  Answers answers;
  MadeTuner made;
  Space space;
  std::vector<Point> points;
  TrialId next = 0;
  for (const json& line : read_recording(name)) {
    const std::string code = text_at(line, "code");
    if (text_at(line, "event") == "spawn") {
      const json& tuner = line["exp_params"]["tuner"];
      auto result = make_tuner(builtin_tuners(), tuner["name"].get<std::string>(),
                               tuner.value("classArgs", json::object()), {}, 1);
      REQUIRE(result);
      made = *std::move(result);
    } else if (code == "IN") {
      space = parse_space(line["data"]).value();
      REQUIRE(made.tuner->set_space(space));
    } else if (code == "GE") {
      std::vector<TrialId> ids;
      for (int i = 0; i < line["data"].get<int>(); ++i) ids.push_back(next++);
      std::string ending;  // one NoMoreTrialJobs for all that is missing
      for (const Answer& answer : made.tuner->ask(ids)) {
        const auto* proposal = std::get_if<Proposal>(&answer);
        points.push_back(proposal ? proposal->point : Point{});
        if (proposal) {
          CHECK(ending.empty());
          answers.ours.push_back(dump_json(made.tuner->parameters(space, proposal->point)));
        } else {
          CHECK(std::holds_alternative<Exhausted>(answer));
          ending = "NO";
        }
      }
      if (!ending.empty()) answers.ours.push_back(ending);
    } else if (code == "TR") {
      answers.recorded.push_back(dump_json(line["data"]["parameters"]));
    } else if (code == "NO") {
      answers.recorded.push_back("NO");
    } else if (code == "ME") {
      const TrialId id = line["data"]["parameter_id"];
      const double value = parse_json(line["data"]["value"].get<std::string>()).value();
      made.tuner->tell(std::vector{
          Outcome{id, points.at(static_cast<std::size_t>(id)), value, {}, End::completed, {}}});
    } else if (code == "FD") {
      for (const json& item : line["data"]) {
        const Point point = made.tuner->point_from(space, item["parameter"]).value();
        made.tuner->tell(std::vector{
            Outcome{kImportedTrial, point, item["value"].get<double>(), {}, End::imported, {}}});
      }
    }
  }
  REQUIRE_FALSE(answers.recorded.empty());
  return answers;
}

TEST_CASE("GridSearch, Batch and the empty space: NNI's answers, in NNI's order") {
  const std::string name =
      GENERATE("gridsearch_small_exhaust", "gridsearch_continuous", "gridsearch_mixed10_first30",
               "batch_exhaust", "random_empty_space");
  CAPTURE(name);
  const Answers answers = replay(name);
  CHECK(answers.ours == answers.recorded);
}

TEST_CASE("TPE on a finite space: NNI's points in some order, and its NoMoreTrialJobs") {
  Answers answers = replay("tpe_exhaust");
  REQUIRE(answers.ours.size() == answers.recorded.size());
  for (std::size_t i = 0; i < answers.ours.size(); ++i) {
    CHECK((answers.ours[i] == "NO") == (answers.recorded[i] == "NO"));
  }
  std::ranges::sort(answers.ours);
  std::ranges::sort(answers.recorded);
  CHECK(answers.ours == answers.recorded);
}

TEST_CASE("Batch leaves out what was imported, NNI did so only for results other than 0") {
  const Answers answers = replay("p_import_batch");
  CHECK(answers.recorded == std::vector<std::string>{R"({"x":0})", R"({"x":2})", "NO"});
  CHECK(answers.ours == std::vector<std::string>{R"({"x":0})", "NO"});
}

}  // namespace attune::recordings_test
