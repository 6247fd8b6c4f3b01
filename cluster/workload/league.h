#pragma once
// The players of a league and how often each was beaten.
//
// Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning",
// Nature 575 (2019), Methods, "Prioritized fictitious self-play" and the pseudocode of the pay-off
// table; DI-engine, ding/league (BattleSharedPayoff, ActivePlayer). One active player, which is not
// in the table; all others are historical: they do not learn.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "cluster/workload/reports.h"

namespace attune {

struct Player {
  std::string name;    // unique for ever
  std::string policy;  // where its policy is
  bool given = false;  // from the settings; never leaves
  Games games;         // of the active player against this one; older ones decayed

  bool operator==(const Player&) const = default;
};

struct LeagueSettings {
  int snapshot_every = 1;      // the first snapshot, then every so many, becomes a player
  double self_play = 0.5;      // share of the games against the active player itself, 0 to 1
  int power = 2;               // exponent of prioritised fictitious self-play; 0: all alike
  double decay = 0.99;         // a report first multiplies its player's counts by this, 0 to 1
  double min_games = 8;        // with fewer games the win rate is taken to be 1/2
  double win_rate = 0.7;       // required against the hardest player
  std::size_t players = 1000;  // players made of snapshots; the oldest leave
  std::vector<Player> given;
};
// `place` is for the errors: "one_vs_one.league".
Result<LeagueSettings> parse_league(const std::string& place, const json& given);

class League {
 public:
  // What the active player is called.
  static constexpr char kActive[] = "main";

  explicit League(LeagueSettings settings);

  // The learner has copied its policy to the path `policy`. Ignored if a player has this path
  // already, or if the last call named it.
  void snapshot(const std::string& policy);
  // Games of the active player against `name`; of a player that has left: ignored.
  void add(const std::string& name, const Games& games);

  const std::vector<Player>& players() const { return players_; }  // the oldest first
  // (wins + draws / 2) / games of the active player against `player`; 1/2 if there are too few
  // games.
  double win_rate(const Player& player) const;
  // With the lowest win rate, of several the oldest; null: there are no players.
  const Player* hardest() const;
  bool beats_hardest() const;
  // Draws an opponent. Null: the active player itself, with probability `self_play` or if there are
  // no players. Otherwise a player, in proportion to (1 - win rate)^power.
  const Player* draw(Rng rng) const;

  json save() const;
  Result<void> load(const json& state);  // on an error nothing has changed

 private:
  LeagueSettings settings_;
  std::vector<Player> players_;
  std::uint64_t snapshots_ = 0, made_ = 0;  // snapshots so far; players made of them
  std::string last_;
};

}  // namespace attune
