#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "space/parse.h"
#include "space/sample.h"
#include "tests/tuners/recording.h"
#include "tuners/registry.h"

namespace attune {
extern const TunerEntry pbt_entry;
}

namespace attune::pbt_test {

std::unique_ptr<Tuner> make(const json& arguments) {
  TunerRegistry registry;
  registry.add(pbt_entry);
  auto made = make_tuner(registry, "PBTTuner", arguments, {}, 1);
  if (!made) FAIL(made.error().message);
  return std::move(made->tuner);
}

// A tuner as the dispatcher would use it: asks without an answer wait, and are repeated after each
// result.
struct World {
  World(const json& arguments, const json& search_space)
      : tuner(make(arguments)), space(parse_space(search_space).value()) {
    REQUIRE(tuner->set_space(space));
  }
  explicit World(int size) : World(json{{"population_size", size}}, kOne) {}

  void ask(const std::vector<TrialId>& ids) {
    const auto answers = tuner->ask(ids);
    std::vector<TrialId> still;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (const auto* proposal = std::get_if<Proposal>(&answers[i])) {
        points[ids[i]] = proposal->point;
        why[ids[i]] = proposal->reason;
        given[ids[i]] = tuner->parameters(space, proposal->point);
        given[ids[i]].update(tuner->extra_parameters(ids[i]));
        order.push_back(ids[i]);
      } else {
        REQUIRE(std::holds_alternative<NotYet>(answers[i]));
        still.push_back(ids[i]);
      }
    }
    waiting.insert(waiting.end(), still.begin(), still.end());
  }
  void end(TrialId id, std::optional<double> loss, End how = End::completed) {
    tuner->tell(std::vector{
        Outcome{.trial = id, .point = points.at(id), .loss = loss, .metrics = {}, .end = how}});
    ask(std::exchange(waiting, {}));
  }
  std::string load(TrialId id) const { return given.at(id)["load_checkpoint_dir"]; }
  std::string save(TrialId id) const { return given.at(id)["save_checkpoint_dir"]; }

  inline static const json kOne = {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}};
  std::unique_ptr<Tuner> tuner;
  Space space;
  std::map<TrialId, Point> points;
  std::map<TrialId, json> given;
  std::map<TrialId, std::string> why;
  std::vector<TrialId> waiting, order;
};

std::string save_of(const json& parameters) { return parameters["save_checkpoint_dir"]; }
std::string load_of(const json& parameters) { return parameters["load_checkpoint_dir"]; }

json without_folders(json parameters) {
  parameters.erase("load_checkpoint_dir");
  parameters.erase("save_checkpoint_dir");
  return parameters;
}

// Whether NNI's perturbation of `from` can have given `to`, parameter by parameter. Adds those that
// are one step away to `steps`; the others must be drawn anew.
void compare(const Space& space, const json& from, const json& to, int& steps) {
  const Point before = point_from_json(space, without_folders(from)).value();
  const Point after = point_from_json(space, without_folders(to)).value();
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Domain& domain = space.params[i].domain;
    const double x = to_internal(domain, before.values[i]),
                 y = to_internal(domain, after.values[i]);
    double low = x - 1, high = x + 1;
    if (const auto* uniform = std::get_if<Uniform>(&domain)) {
      const double first = to_internal(domain, uniform->low);
      const double last = to_internal(domain, uniform->high);
      low = std::max(first, x - 0.2 * (last - first));
      high = std::min(last, x + 0.2 * (last - first));
    }
    steps += std::abs(y - low) < 1e-9 || std::abs(y - high) < 1e-9 ? 1 : 0;
  }
}

// Replays a recording: the same requests and results, in the same order. Configurations are drawn,
// so ours are others; who loads what, and when, must be the same.
int replay(const std::string& name) {
  std::optional<World> world;
  json arguments;
  TrialId next = 0;
  std::map<TrialId, json> recorded;
  int compared = 0, steps = 0, copies = 0;
  std::map<std::string, json> by_folder;
  for (const json& line : read_recording(name)) {
    CAPTURE(name, dump_json(line));
    const std::string code = text_at(line, "code");
    const json& data = line.contains("data") ? line["data"] : json();
    if (text_at(line, "event") == "spawn") {
      arguments = line["exp_params"]["tuner"]["classArgs"];
      // What NNI takes from the environment.
      if (!arguments.contains("all_checkpoint_dir"))
        arguments["all_checkpoint_dir"] = "DIR/checkpoint";
    } else if (code == "IN") {
      world.emplace(arguments, data);
    } else if (code == "GE") {
      std::vector<TrialId> ids;
      for (int i = 0; i < data.get<int>(); ++i) ids.push_back(next++);
      world->ask(ids);
    } else if (code == "NO") {
      const TrialId id = data["parameter_id"];
      REQUIRE(std::ranges::find(world->waiting, id) != world->waiting.end());
      ++compared;
    } else if (code == "TR") {
      const TrialId id = data["parameter_id"];
      const json& parameters = data["parameters"];
      REQUIRE(world->given.contains(id));
      REQUIRE(world->load(id) == load_of(parameters));
      REQUIRE(world->save(id) == save_of(parameters));
      // The keys stand in the same order.
      std::vector<std::string> keys, own;
      for (const auto& [key, value] : parameters.items()) keys.push_back(key);
      for (const auto& [key, value] : world->given[id].items()) own.push_back(key);
      REQUIRE(own == keys);
      // Who copies somebody gets a changed configuration, and all others keep theirs.
      const std::string load = load_of(parameters);
      const auto folder = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
      if (load != save_of(parameters)) {
        const json& from = by_folder.at(load);
        if (folder(load) == folder(save_of(parameters))) {
          REQUIRE(without_folders(parameters) == without_folders(from));
          REQUIRE(without_folders(world->given[id]) ==
                  without_folders(by_folder.at("own " + load)));
        } else {
          compare(world->space, from, parameters, steps);
          copies += static_cast<int>(world->space.params.size());
        }
      }
      by_folder[save_of(parameters)] = parameters;
      by_folder["own " + save_of(parameters)] = world->given[id];
      ++compared;
    } else if (code == "ME") {
      const double value = parse_json(data["value"].get<std::string>()).value();
      world->end(data["parameter_id"], -value);
    } else if (code == "EN" && data["event"] != "SUCCEEDED") {
      const json own = parse_json(data["hyper_params"].get<std::string>()).value();
      world->end(own["parameter_id"], {}, End::failed);
    } else if (code == "FD") {
      std::vector<Outcome> outcomes;
      for (const json& record : data) {
        json extra = record["parameter"];
        by_folder[save_of(extra)] = by_folder["own " + save_of(extra)] = extra;
        const Point point = world->tuner->point_from(world->space, extra).value();
        extra.erase("x");
        outcomes.push_back({.trial = kImportedTrial,
                            .point = point,
                            .loss = -record["value"].get<double>(),
                            .metrics = {},
                            .end = End::imported,
                            .extra = extra});
      }
      world->tuner->tell(outcomes);
    }
  }
  // Our rule of steps is NNI's: most of NNI's changed parameters are one step away.
  CAPTURE(steps, copies);
  CHECK(steps * 2 >= copies);
  return compared;
}

TEST_CASE("PBT: NNI's recordings, with the same checkpoints in the same order") {
  CHECK(replay("pbt_pop4_c2") == 17);
  CHECK(replay("pbt_failed_trial") == 12);
  CHECK(replay("pbt_import_resume") == 3);
}

TEST_CASE("PBT: asks that waited are served in the next epoch, the latest first") {
  World world(3);
  world.ask({0, 1, 2, 3, 4});
  CHECK(world.waiting == std::vector<TrialId>{3, 4});
  world.ask({5});
  world.end(0, 0.1);
  world.end(1, 0.2);
  CHECK(world.order.size() == 3);
  world.end(2, 0.3);
  REQUIRE(world.order.size() == 6);
  CHECK(world.save(5) == "checkpoint/2/1");  // the worst begins
  CHECK(world.load(5) == "checkpoint/0/0");
  CHECK(world.save(4) == "checkpoint/1/1");
  CHECK(world.load(4) == "checkpoint/1/0");
  CHECK(world.save(3) == "checkpoint/0/1");
  CHECK(world.given[3]["x"] == world.given[0]["x"]);
}

TEST_CASE("PBT: a copy says whose result it had, its rank, and what has changed") {
  World world(json{{"population_size", 4}, {"fraction", 0.5}, {"resample_probability", 0}},
              World::kOne);
  world.ask({0, 1, 2, 3});
  for (const TrialId id : {0, 1, 2, 3}) CHECK(world.why.at(id).empty());
  world.end(0, -0.25);  // the user's result is 0.25
  world.end(1, -0.5);
  world.end(2, {}, End::failed);
  world.end(3, -0.125);
  World loaded(json{{"population_size", 4}, {"fraction", 0.5}, {"resample_probability", 0}},
               World::kOne);
  REQUIRE(loaded.tuner->load(parse_json(dump_json(world.tuner->save())).value()));
  loaded.ask({4, 5, 6, 7});
  for (const TrialId id : {4, 5}) {  // the worst begin
    CAPTURE(loaded.why.at(id), loaded.load(id));
    const bool best = loaded.load(id) == "checkpoint/1/0";
    const double before = world.given.at(best ? 1 : 0)["x"], after = loaded.given.at(id)["x"];
    CHECK(loaded.why.at(id) ==
          std::string("copies the trial with ") +
              (best ? "0.5 at epoch 0, rank 1 of 4" : "0.25 at epoch 0, rank 2 of 4") +
              "; x step " + (after > before ? "up" : "down") + ": " + dump_json({{"x", after}}));
  }
  for (const TrialId id : {6, 7}) CHECK(loaded.why.at(id).empty());
}

TEST_CASE("PBT: a trial that ends without a result does not stall the population") {
  const End how = GENERATE(End::completed, End::failed, End::stopped, End::diverged);
  World world(2);
  world.ask({0, 1, 2, 3});
  world.end(0, {}, how);
  world.end(1, 5.0);
  world.end(1, 5.0);  // again: it has ended
  world.end(0, {}, End::failed);
  REQUIRE(world.order.size() == 4);
  CHECK(world.load(3) == "checkpoint/1/0");
  CHECK(world.save(3) == "checkpoint/0/1");
  CHECK(world.load(2) == "checkpoint/1/0");
}

TEST_CASE("PBT: all that failed copy somebody, and nobody copies them") {
  World world(json{{"population_size", 4}, {"fraction", 0.25}}, World::kOne);
  world.ask({0, 1, 2, 3, 4, 5, 6, 7});
  world.end(0, {}, End::failed);
  world.end(1, {}, End::failed);
  world.end(2, 3.0);
  world.end(3, {}, End::failed);
  for (const TrialId id : {4, 5, 6, 7}) CHECK(world.load(id) == "checkpoint/2/0");
  // If all fail, they begin again with what they had, and other configurations.
  const json before = world.given[4]["x"];
  world.ask({8, 9, 10, 11});
  for (const TrialId id : {4, 5, 6, 7}) world.end(id, {}, End::failed);
  for (const TrialId id : {8, 9, 10, 11}) CHECK(world.load(id) == "checkpoint/2/0");
  CHECK(world.given[8]["x"] != before);
}

TEST_CASE("PBT: of several epochs the last whole one continues") {
  World world(json{{"population_size", 2}, {"all_checkpoint_dir", "/new/"}}, World::kOne);
  std::vector<Outcome> outcomes;
  const auto add = [&](const std::string& folder, std::optional<double> loss, double x) {
    outcomes.push_back({.trial = kImportedTrial,
                        .point = {{x}},
                        .loss = loss,
                        .metrics = {},
                        .end = End::imported,
                        .extra = {{"save_checkpoint_dir", folder}}});
  };
  add("/old/0/0", 1, 0.1);
  add("/old/1/0", 2, 0.2);
  add("/old/0/1", 1, 0.3);
  add("/old/1/1", 0.5, 0.4);
  add("/old/1/2", 1, 0.5);
  add("/old/x/y", 1, 0.5);  // not ours
  SECTION("at the start") {
    world.tuner->tell(outcomes);
    world.ask({0, 1});
    CHECK(world.save(0) == "/old/0/2");
    CHECK(world.load(0) == "/old/1/1");
    CHECK(world.load(1) == "/old/1/1");
    CHECK(world.given[1]["x"] == 0.4);
  }
  SECTION("not while trials run") {
    world.ask({0});
    world.tuner->tell(outcomes);
    world.ask({1});
    CHECK(world.save(1) == "/new/1/0");
  }
}

TEST_CASE("PBT: a saved population goes on the same, in the middle of an epoch") {
  World first(3);
  first.ask({0, 1, 2, 3});
  first.end(1, 0.5);
  World second(3);
  REQUIRE(second.tuner->load(parse_json(dump_json(first.tuner->save())).value()));
  second.points = first.points;
  second.waiting = first.waiting;
  for (World* world : {&first, &second}) {
    world->end(0, 0.25);
    world->ask({4, 5});
    world->end(2, 1.0);
    world->end(5, 2.0);
  }
  CHECK(first.given[4] == second.given[4]);
  CHECK(first.given[3] == second.given[3]);
  CHECK(dump_json(first.tuner->save()) == dump_json(second.tuner->save()));
}

TEST_CASE("PBT: impossible states are refused") {
  World world(2);
  world.ask({0});
  const json good = world.tuner->save();
  const auto with = [&](const std::string& key, const json& value) {
    json state = good;
    state[key] = value;
    return state;
  };
  CHECK_FALSE(world.tuner->load(with("queue", save_of({{"save_checkpoint_dir", ""}}))));
  CHECK_FALSE(world.tuner->load(with("running", json::array())));
  CHECK_FALSE(world.tuner->load(with("running", {{{"id", 0}, {"member", 1}}})));
  CHECK_FALSE(world.tuner->load(with("running", {{{"id", 0}, {"member", -1}}})));
  CHECK_FALSE(world.tuner->load(with("epoch", -1)));
  CHECK_FALSE(world.tuner->load(with("members", json::array({good["members"][0]}))));
  CHECK(world.tuner->load(good));
}

TEST_CASE("PBT: a space with a parameter of its own names is declined") {
  auto tuner = make({});
  const auto space =
      parse_space({{"save_checkpoint_dir", {{"_type", "uniform"}, {"_value", {0, 1}}}}});
  const auto declined = tuner->set_space(space.value());
  REQUIRE_FALSE(declined);
  CHECK(
      declined.error().message ==
      "search_space: PBT needs the name save_checkpoint_dir for itself; give the parameter another "
      "one");
}

}  // namespace attune::pbt_test
