#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "examples/cart_pole/shared_files.h"
#include "tests/support/temporary_folder.h"

namespace attune::files_test {

using namespace cart_pole;
using Catch::Contains;

TEST_CASE("segments: are read as they were written") {
  Settings settings;
  Rng rng(1);
  Network network(8, rng);
  Player player(settings, rng);
  std::size_t steps = 0;
  for (int i = 0; i < 30; ++i) {
    const Segment segment = player.play(network, 0.5);
    REQUIRE(segment.states.size() == segment.length() + 1);
    CHECK(parse_segment(to_text(segment)) == segment);
    CHECK(segment.fallen == has_fallen(segment.states.back()));
    steps += segment.length();
    CHECK(player.episode_return() == steps);
    if (player.ended()) steps = 0;
    CHECK((player.ended() || segment.length() == settings.segment));
  }
}

TEST_CASE("segments: what is none is refused") {
  const std::string text =
      GENERATE("", "[]", "{}", R"({"states": "AAAA", "actions": [1], "fallen": false})",
               R"({"states": "", "actions": [], "fallen": false})",
               R"({"states": "", "actions": [7], "fallen": false})");
  CHECK_FALSE(parse_segment(text));
  Segment segment{{{0, 0, 0, 0}, {0, NAN, 0, 0}}, {1}, false};
  CHECK_THAT(parse_segment(to_text(segment)).error().message, Contains("finite"));
  segment = {{{0, 0, 0, 0}, {0, 0, 0, 0}}, {2}, false};
  CHECK_THAT(parse_segment(to_text(segment)).error().message, Contains("actions"));
}

TEST_CASE("players: an episode has so many steps at most and begins anew") {
  Settings settings;
  settings.most_steps = 5;
  settings.segment = 3;
  Rng rng(1);
  Network network(8, rng);
  Player player(settings, rng);
  CHECK(player.play(network, 1).length() == 3);
  const Segment last = player.play(network, 1);
  CHECK(last.length() == 2);
  CHECK_FALSE(last.fallen);  // time was up
  CHECK(player.ended());
  CHECK(player.play(network, 1).states.front() != last.states.back());
  settings.episodes = 4;
  CHECK(evaluate(network, settings, rng) == 5);
}

TEST_CASE("policies: a reader takes the newest one and its width") {
  const TemporaryFolder folder;
  Settings settings;
  settings.policy = folder.path / "policy";
  CHECK(read_policy(settings.policy).value() == std::nullopt);
  Rng rng(1);
  PolicyReader reader(settings, rng);
  REQUIRE(reader.refresh());
  CHECK(reader.train_steps() == 0);
  Network network(8, rng);
  REQUIRE(publish(settings.policy, network, 70));
  REQUIRE(reader.refresh());
  CHECK(reader.train_steps() == 70);
  const State state = {0.1, 0.2, 0.3, 0.4};
  CHECK(reader.network().values(state) == network.values(state));
}

TEST_CASE("policies: what is none is refused") {
  const TemporaryFolder folder;
  Settings settings;
  settings.policy = folder.path / "policy";
  std::ofstream(settings.policy) << GENERATE(
      "", "{}", R"({"train_steps": 1, "hidden": 8, "weights": ""})",
      R"({"train_steps": 1, "hidden": 100000000, "weights": "AAAAAAAA8D8="})");
  PolicyReader reader(settings, Rng(1));
  CHECK_FALSE(reader.refresh());
}

TEST_CASE("payload: only the newest files stay") {
  const TemporaryFolder folder;
  for (int i = 0; i < 10; ++i) {
    const auto path = folder.path / std::to_string(i);
    std::ofstream(path) << i;
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type(std::chrono::seconds(i)));
  }
  remove_oldest(folder.path, 20);
  CHECK(std::filesystem::exists(folder.path / "0"));
  remove_oldest(folder.path, 3);
  for (int i = 0; i < 10; ++i)
    CHECK(std::filesystem::exists(folder.path / std::to_string(i)) == (i >= 7));
  remove_oldest(folder.path / "none", 3);
}

TEST_CASE("settings: are read as they were written and what is wrong has its name") {
  Settings settings;
  settings.hidden = 17;
  settings.learning_rate = 0.5;
  settings.coordinator = "there";
  settings.evaluate = true;
  const auto read = parse_settings(to_json(settings));
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(settings));
  CHECK(parse_settings({{"something", "else"}}).has_value());
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {R"({"hidden": 0})", "hidden: a number from 1.0"},
      {R"({"hidden": 1.5})", "hidden"},
      {R"({"learning_rate": "x"})", "learning_rate"},
      {R"({"policy": 1})", "policy: a text"},
      {R"({"evaluate": 1})", "evaluate: true or false"},
      {R"([])", "an object"},
  }));
  CHECK_THAT(parse_settings(*parse_json(text)).error().message, Contains(reason));
}

}  // namespace attune::files_test
