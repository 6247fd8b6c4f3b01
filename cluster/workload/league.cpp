#include "cluster/workload/league.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/workload/settings.h"

namespace attune {
namespace {

using enum Argument::Type;

// Not std::pow: its rounding depends on the library, and draws must be the same everywhere.
double power_of(double x, int power) {
  double product = 1;
  for (int i = 0; i < power; ++i) product *= x;
  return product;
}

Result<std::vector<Player>> parse_opponents(const std::string& place, const json& given) {
  std::vector<Player> players;
  if (given.is_null()) return players;
  if (!given.is_array()) return fail_at(place, "a list of {player, policy} expected");
  std::set<std::string> names;
  for (const json& each : given) {
    const json resolved = TRY(resolve_arguments(
        place, {{.name = "player", .type = text}, {.name = "policy", .type = text}}, each));
    Player player;
    player.given = true;
    player.name = text_at(resolved, "player").value_or("");
    player.policy = text_at(resolved, "policy").value_or("");
    if (player.name.empty() || player.policy.empty())
      return fail_at(place, "each needs a player and a policy, two texts");
    if (player.name.starts_with(League::kActive) || !names.insert(player.name).second)
      return fail_at(place,
                     fmt::format("the player \"{}\" needs another name, one that is there once and "
                                 "does not begin with \"{}\"",
                                 player.name, League::kActive));
    players.push_back(std::move(player));
  }
  return players;
}

Result<std::uint64_t> small_count_at(const json& state, std::string_view key) {
  const std::int64_t count = TRY(integer_at(state, key));
  if (count < 0 || count > std::int64_t{1} << 53) return fail(fmt::format("{}: no count", key));
  return static_cast<std::uint64_t>(count);
}

Result<double> games_at(const json& state, std::string_view key) {
  const double games = TRY(number_at(state, key));
  // The limit is beyond what all reports of a run can add up to.
  if (!(games >= 0 && games <= 1e18)) return fail(fmt::format("{}: 0 or more is wanted", key));
  return games;
}

Result<Player> load_player(const json& state) {
  Player player;
  player.name = TRY(text_at(state, "name"));
  player.policy = TRY(text_at(state, "policy"));
  if (player.name.empty() || player.name == League::kActive || player.policy.empty())
    return fail("a player has no name or no policy");
  const json given = TRY(value_at(state, "given"));
  if (!given.is_boolean()) return fail("given: true or false is wanted");
  player.given = given.get<bool>();
  player.games.wins = TRY(games_at(state, "wins"));
  player.games.draws = TRY(games_at(state, "draws"));
  player.games.losses = TRY(games_at(state, "losses"));
  return player;
}

}  // namespace

Result<LeagueSettings> parse_league(const std::string& place, const json& given) {
  const LeagueSettings defaults;
  const json resolved = TRY(resolve_open(
      place,
      {{.name = "snapshot_every",
        .type = integer,
        .fallback = defaults.snapshot_every,
        .low = 1,
        .high = 1e6},
       {.name = "self_play", .fallback = defaults.self_play, .low = 0, .high = 1},
       {.name = "power", .type = integer, .fallback = defaults.power, .low = 0, .high = 16},
       {.name = "decay", .fallback = defaults.decay, .low = 0, .high = 1},
       {.name = "min_games", .fallback = defaults.min_games, .low = 0, .high = 1e9},
       {.name = "win_rate", .fallback = defaults.win_rate, .low = 0, .high = 1},
       {.name = "players",
        .type = integer,
        .fallback = defaults.players,
        .low = 1,
        .high = 100'000},
       {.name = "opponents", .type = object}},
      given));
  LeagueSettings settings;
  settings.snapshot_every = resolved["snapshot_every"].get<int>();
  settings.self_play = resolved["self_play"].get<double>();
  settings.power = resolved["power"].get<int>();
  settings.decay = resolved["decay"].get<double>();
  settings.min_games = resolved["min_games"].get<double>();
  settings.win_rate = resolved["win_rate"].get<double>();
  settings.players = resolved["players"].get<std::size_t>();
  settings.given = TRY(parse_opponents(place + ".opponents", resolved["opponents"]));
  return settings;
}

League::League(LeagueSettings settings)
    : settings_(std::move(settings)), players_(settings_.given) {}

void League::snapshot(const std::string& policy) {
  if (policy == last_ || std::ranges::find(players_, policy, &Player::policy) != players_.end())
    return;
  last_ = policy;
  if (snapshots_++ % static_cast<std::uint64_t>(settings_.snapshot_every) != 0) return;
  const auto snapshots = std::ranges::count(players_, false, &Player::given);
  if (static_cast<std::size_t>(snapshots) >= settings_.players)
    players_.erase(std::ranges::find(players_, false, &Player::given));
  players_.push_back({fmt::format("{}-{}", kActive, ++made_), policy, false, {}});
}

void League::add(const std::string& name, const Games& games) {
  const auto player = std::ranges::find(players_, name, &Player::name);
  if (player == players_.end()) return;
  for (const auto count : {&Games::wins, &Games::draws, &Games::losses})
    player->games.*count = player->games.*count * settings_.decay + games.*count;
}

double League::win_rate(const Player& player) const {
  const double games = player.games.wins + player.games.draws + player.games.losses;
  if (games <= 0 || games < settings_.min_games) return 0.5;
  return (player.games.wins + player.games.draws / 2) / games;
}

const Player* League::hardest() const {
  const auto rate = [&](const Player& player) { return win_rate(player); };
  const auto hardest = std::ranges::min_element(players_, {}, rate);
  return hardest == players_.end() ? nullptr : &*hardest;
}

bool League::beats_hardest() const {
  const Player* player = hardest();
  return player != nullptr && win_rate(*player) >= settings_.win_rate;
}

const Player* League::draw(Rng rng) const {
  // A smaller sum of the weights means that all players are always beaten. Then each is as likely
  // as any other, as in the paper's code.
  constexpr double kNothing = 1e-10;
  if (players_.empty() || rng.uniform() < settings_.self_play) return nullptr;
  double sum = 0;
  std::vector<double> sums;
  for (const Player& each : players_)
    sums.push_back(sum += power_of(1 - win_rate(each), settings_.power));
  if (sum < kNothing) return &players_[rng.index(players_.size())];
  const double at = rng.uniform() * sum;
  const auto drawn = std::ranges::upper_bound(sums, at) - sums.begin();
  // Rounding may make `at` equal to the sum.
  return &players_[std::min(static_cast<std::size_t>(drawn), players_.size() - 1)];
}

json League::save() const {
  json players = json::array();
  for (const Player& each : players_) {
    players.push_back({{"name", each.name},
                       {"policy", each.policy},
                       {"given", each.given},
                       {"wins", each.games.wins},
                       {"draws", each.games.draws},
                       {"losses", each.games.losses}});
  }
  return {
      {"snapshots", snapshots_}, {"made", made_}, {"last", last_}, {"players", std::move(players)}};
}

Result<void> League::load(const json& state) {
  League league(settings_);
  league.players_.clear();
  league.snapshots_ = TRY(small_count_at(state, "snapshots"));
  league.made_ = TRY(small_count_at(state, "made"));
  if (league.made_ > league.snapshots_) return fail("made: more players than snapshots");
  league.last_ = TRY(text_at(state, "last"));
  std::set<std::string> names;
  for (const json& each : TRY(array_at(state, "players"))) {
    Player player = TRY(load_player(each));
    if (!names.insert(player.name).second)
      return fail(fmt::format("the player {} is there twice", player.name));
    league.players_.push_back(std::move(player));
  }
  *this = std::move(league);
  return {};
}

}  // namespace attune
