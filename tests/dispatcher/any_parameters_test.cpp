// A tuner whose parameters need not be of the search space: they pass through as they are.
#include <catch2/catch.hpp>

#include "dispatcher/repeating_tuner.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/trial_words.h"

namespace attune::any_parameters_test {

// Proposes {"id": n, "space": what it was given}, and writes down the points that it is told.
class Free : public ScriptedTuner {
 public:
  bool any_parameters() const override { return true; }
  Result<void> set_space(const Space& space) override {
    space_ = space;
    return {};
  }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      if (proposals-- <= 0) return Exhausted{};
      const json parameters = {{"id", id}, {"space", space_.unread}};
      return Proposal{.point = point_from_json(space_, parameters).value()};
    });
  }
  void adopt(TrialId, const Point& point) override { note("adopt", point); }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) note("tell", outcome.point);
  }
  void note(const std::string& what, const Point& point) {
    told.push_back(what + " " + dump_json(to_json(space_, point)));
  }

 private:
  Space space_;
};

struct World {
  explicit World(bool repeating = false) {
    auto own = std::make_unique<Free>();
    tuner = own.get();
    daemon = std::make_unique<Stepped>(
        repeating ? make_repeating(std::move(own)) : std::unique_ptr<Tuner>(std::move(own)), false,
        nullptr);
  }
  std::string said() const {
    std::string text;
    for (const Frame& frame : daemon->take()) {
      text += frame.code + " ";
      if (frame.code == "TR") text += dump_json(parse_json(frame.payload).value().at("parameters"));
    }
    return text;
  }
  Free* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

const std::string kSpace = R"({"lr":[0,"wide"]})";  // nobody but the tuner can read it

TEST_CASE("any parameters: the search space and the parameters pass through") {
  World w;
  w.daemon->send("IN", kSpace);
  CHECK(w.said() == "ID ");
  w.daemon->send("GE", "1");
  CHECK(w.said() == R"(TR {"id":0,"space":{"lr":[0,"wide"]}})");
  w.daemon->send("ME", final_metric(0, "3"));
  CHECK(w.tuner->told == std::vector<std::string>{R"(tell {"id":0,"space":{"lr":[0,"wide"]}})"});
}

TEST_CASE("any parameters: null is no search space") {
  World w;
  w.daemon->send("IN", "null");
  CHECK(w.daemon->exit_code == kExitConfiguration);
}

TEST_CASE("any parameters: imports and trials of the user come as they are") {
  World w;
  w.daemon->send("IN", kSpace);
  w.daemon->send("FD", R"([{"parameter":{"b":[1]},"value":1},{"parameter":{"b":[1]},"value":1},
                           {"parameter":{"b":[2]},"value":1},{"parameter":"text","value":2}])");
  w.daemon->send("AD", R"([{"parameter_id":5,"parameter_source":"resumed","parameters":{"c":1}}])");
  CHECK(w.tuner->told == std::vector<std::string>{R"(tell {"b":[1]})", R"(tell {"b":[2]})",
                                                  R"(tell "text")", R"(adopt {"c":1})"});
}

TEST_CASE("any parameters: a new search space keeps the results") {
  World w;
  w.daemon->send("IN", kSpace);
  w.daemon->send("FD", R"([{"parameter":{"b":[1]},"value":1}])");
  w.tuner->told.clear();
  w.daemon->send("SS", R"({"other":1})");
  w.daemon->take();
  CHECK(w.tuner->told == std::vector<std::string>{R"(tell {"b":[1]})"});
  w.daemon->send("GE", "1");
  CHECK(w.said() == R"(TR {"id":0,"space":{"other":1}})");
}

TEST_CASE("any parameters: they are saved, and offered again after a restart") {
  World w;
  w.daemon->send("IN", kSpace);
  w.daemon->send("GE", "2");
  w.daemon->send("ME", final_metric(0, "3"));
  const json state = w.daemon->save();
  World other;
  REQUIRE(other.daemon->restart(state));
  other.daemon->send("IN", kSpace);
  other.daemon->take();
  other.daemon->send("GE", "1");
  CHECK(other.said() == R"(TR {"id":1,"space":{"lr":[0,"wide"]}})");
}

TEST_CASE("any parameters: the best are repeated when there are no others") {
  World w(true);
  w.tuner->proposals = 2;
  w.daemon->send("IN", kSpace);
  w.daemon->send("GE", "2");
  for (const int id : {0, 1}) {
    w.daemon->send("ME", final_metric(id, id == 0 ? "3" : "1"));
    w.daemon->send("EN", trial_end(id));
  }
  w.daemon->take();
  w.daemon->send("GE", "1");
  CHECK(w.said() == R"(TR {"id":1,"space":{"lr":[0,"wide"]}})");
}

}  // namespace attune::any_parameters_test
