// Games of two: who plays whom, and who is beaten.
#include <catch2/catch.hpp>
#include <cmath>

#include "cluster/workload/league.h"
#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_league_test {

using namespace attune::test;
using Ids = std::vector<std::string>;

LeagueSettings three_players() {
  LeagueSettings settings;
  settings.self_play = 0;
  settings.min_games = 1;
  settings.given = {{"a", "/a", true, {}}, {"b", "/b", true, {}}, {"c", "/c", true, {}}};
  return settings;
}

std::map<std::string, double> shares(const League& league, int draws = 20'000) {
  std::map<std::string, double> counts;
  for (int i = 0; i < draws; ++i) {
    const Player* player = league.draw(Rng(static_cast<std::uint64_t>(i)));
    counts[player == nullptr ? League::kActive : player->name] += 1.0 / draws;
  }
  return counts;
}

json league_settings(const std::string& more = "{}") {
  json settings = test_settings(
      R"({"collectors": 2, "evaluation": {"interval": 10}, "stop_value": 0.5,
          "league": {"self_play": 0, "min_games": 4, "decay": 1}})");
  settings["league"].update(*parse_json(more));
  return settings;
}

json opponent_of(const World& world, const std::string& id) {
  return parameters_in(world.task(id).spec)["opponent"];
}

TEST_CASE("league: games are read in three forms") {
  const auto read = [](const char* text) { return games_of(*parse_json(text)); };
  CHECK(read(R"({"wins": 3, "losses": 1.5, "default": 7})") == Games{3, 0, 1.5});
  CHECK(read(R"({"outcome": "draw"})") == Games{0, 1, 0});
  CHECK(read(R"({"outcome": ["win", "win", "loss"]})") == Games{2, 0, 1});
  for (const char* text : {"1", "{}", R"({"wins": -1})", R"({"wins": "3"})", R"({"wins": 1e300})",
                           R"({"outcome": "lost"})", R"({"outcome": [["win"]]})",
                           R"({"outcome": ["win", 1]})", R"({"wins": 0, "losses": 0})"})
    CHECK(read(text) == std::nullopt);
}

TEST_CASE("league: win rates of decayed counts") {
  LeagueSettings settings = three_players();
  settings.decay = 0.5;
  settings.min_games = 3;
  League league(settings);
  const auto rate = [&] { return league.win_rate(league.players()[0]); };
  CHECK(rate() == 0.5);
  league.add("a", {2, 0, 0});
  CHECK(rate() == 0.5);  // too few
  league.add("a", {1, 1, 0});
  CHECK(league.players()[0].games == Games{2, 1, 0});
  CHECK(rate() == Approx(2.5 / 3));
  league.add("nobody", {0, 0, 100});
  league.add("a", {0, 0, 8});
  CHECK(rate() == Approx((1 + 0.25) / 9.5));
  CHECK(league.hardest()->name == "a");
  CHECK_FALSE(league.beats_hardest());
}

TEST_CASE("league: opponents are drawn by how hard they are") {
  LeagueSettings settings = three_players();
  SECTION("prioritised") {
    League league(settings);
    league.add("a", {9, 0, 1});
    league.add("b", {5, 0, 5});
    league.add("c", {0, 0, 10});
    const double sum = 0.01 + 0.25 + 1;
    auto drawn = shares(league);
    CHECK(drawn["a"] == Approx(0.01 / sum).margin(0.005));
    CHECK(drawn["b"] == Approx(0.25 / sum).margin(0.015));
    CHECK(drawn["c"] == Approx(1 / sum).margin(0.015));
  }
  SECTION("uniform") {
    settings.power = 0;
    League league(settings);
    league.add("a", {10, 0, 0});
    for (const auto& [name, share] : shares(league)) CHECK(share == Approx(1.0 / 3).margin(0.015));
  }
  SECTION("all are beaten always") {
    League league(settings);
    for (const char* name : {"a", "b", "c"}) league.add(name, {10, 0, 0});
    auto drawn = shares(league);
    for (const char* name : {"a", "b", "c"}) CHECK(drawn[name] == Approx(1.0 / 3).margin(0.015));
    CHECK(league.beats_hardest());
  }
  SECTION("one is beaten always") {
    League league(settings);
    league.add("c", {10, 0, 0});
    CHECK(!shares(league).contains("c"));
  }
  SECTION("and a share against itself") {
    settings.self_play = 0.35;
    League league(settings);
    CHECK(shares(league)[League::kActive] == Approx(0.35).margin(0.015));
  }
  SECTION("nobody else is there") {
    settings.given.clear();
    League league(settings);
    CHECK(league.draw(Rng(1)) == nullptr);
    CHECK(league.hardest() == nullptr);
    CHECK_FALSE(league.beats_hardest());
  }
}

TEST_CASE("league: some snapshots become players and the oldest leave") {
  LeagueSettings settings;
  settings.snapshot_every = 2;
  settings.players = 2;
  settings.given = {{"bot", "/bot", true, {}}};
  League league(settings);
  for (const char* path : {"/1", "/1", "/2", "/2", "/3", "/3", "/1", "/4", "/5"})
    league.snapshot(path);
  std::string players;
  for (const Player& each : league.players()) players += each.name + "=" + each.policy + " ";
  CHECK(players == "bot=/bot main-2=/3 main-3=/5 ");
}

TEST_CASE("commander one_vs_one: against itself until there is somebody else") {
  CommandedWorld w("one_vs_one", league_settings());
  CHECK(live_tasks(w) == Ids{"run-learn-1", "run-collect-1", "run-collect-2"});
  CHECK(opponent_of(w, "run-collect-1") ==
        json{{"player", "main"}, {"policy", "/shared/policies/run-learn-1"}});
  w.pass(100);
  CHECK(live_tasks(w, "evaluate").empty());
  report(w, "run-learn-1", {{"snapshot", "/shared/s1"}, {"step", 100}}, "PERIODICAL");
  CHECK(opponent_of(w, "run-evaluate-1") == json{{"player", "main-1"}, {"policy", "/shared/s1"}});
  w.finish("run-collect-1");
  CHECK(opponent_of(w, "run-collect-3") == json{{"player", "main-1"}, {"policy", "/shared/s1"}});
}

TEST_CASE("commander one_vs_one: converged by the metric and against the hardest") {
  CommandedWorld w("one_vs_one",
                   league_settings(R"({"opponents": [{"player": "bot", "policy": "/bot"}]})"));
  CHECK(opponent_of(w, "run-evaluate-1")["player"] == "bot");
  const auto evaluate = [&](const json& value) {
    w.pass(10);
    const Ids live = live_tasks(w, "evaluate");
    REQUIRE(live.size() == 1);
    report(w, live[0], value);
    if (!w.coordinator.board().latched()) w.finish(live[0]);
  };
  evaluate(1);  // not enough games
  CHECK_FALSE(w.commander.done());
  report(w, "run-collect-1", {{"wins", 10}, {"losses", 1}});
  evaluate(0.4);
  CHECK(live_tasks(w, "collect").size() == 2);
  report(w, "run-learn-1", {{"snapshot", "/s1"}}, "PERIODICAL");
  evaluate(1);  // nobody has played against the snapshot
  CHECK(live_tasks(w, "collect").size() == 2);
  w.pass(10);
  const std::string last = live_tasks(w, "evaluate").at(0);
  CHECK(opponent_of(w, last)["player"] == "main-1");
  // Its own games count, too.
  report(w, last, {{"default", 1}, {"outcome", {"win", "win", "win", "draw"}}});
  for (const std::string& id : live_tasks(w)) w.finish(id);
  CHECK(w.coordinator.finished());
  CHECK(w.commander.failure().empty());
}

TEST_CASE("commander one_vs_one: a collector counts once however often it reports") {
  CommandedWorld w("one_vs_one",
                   league_settings(R"({"opponents": [{"player": "bot", "policy": "/bot"}]})"));
  report(w, "run-collect-1", {{"wins", 4}}, "PERIODICAL");
  report(w, "run-collect-1", {{"wins", 2}, {"losses", 3}});
  report(w, "run-collect-1", {{"wins", 4}});
  const json bot = w.commander.save()["own"]["league"]["players"][0];
  CHECK(bot["wins"] == 2.0);
  CHECK(bot["losses"] == 3.0);
}

}  // namespace attune::commander_league_test
