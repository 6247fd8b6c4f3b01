// The commander `one_vs_one`: solo, in games of two. Collectors play against historical players or
// the active player itself, evaluations against the hardest. After DI-engine's OneVsOneCommander.
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/workload/factories.h"
#include "cluster/workload/league.h"
#include "cluster/workload/solo.h"

namespace attune {
namespace {

class OneVsOneCommander final : public SoloCommander {
 public:
  OneVsOneCommander(CommonSettings settings, std::optional<EvaluationSettings> evaluation,
                    LeagueSettings league, std::uint64_t seed)
      : SoloCommander(std::move(settings), std::move(evaluation), seed),
        league_(std::move(league)) {}

 private:
  // There is no evaluation before there is a player to measure against.
  json more_parameters(TaskKind kind) const override {
    if (kind == TaskKind::evaluate) {
      const Player* hardest = league_.hardest();
      return hardest == nullptr ? json() : against(*hardest);
    }
    const Player* drawn = league_.draw(rng(kind).fork("opponent"));
    if (drawn != nullptr) return against(*drawn);
    const std::string learner = tasks_.learners().front()->id;
    return against({League::kActive, policy_of(learner), false, {}});
  }

  static json against(const Player& player) {
    return {{"opponent", {{"player", player.name}, {"policy", player.policy}}}};
  }

  // League::add() ignores games of the active player against itself: it is not in the table.
  void reported(const LiveTask& task, const json& value) override {
    if (task.kind == TaskKind::learn) {
      const auto policy = text_at(value, "snapshot");
      if (policy && !policy->empty()) league_.snapshot(*policy);
      return;
    }
    if (const auto games = games_of(value)) league_.add(task.opponent, *games);
    if (task.kind == TaskKind::evaluate && reaches_stop_value(value) && league_.beats_hardest())
      tasks_.decide("");
  }

  json save_own() const override {
    json state = SoloCommander::save_own();
    state["league"] = league_.save();
    return state;
  }

  Result<void> load_own(const json& state) override {
    League league = league_;
    if (auto loaded = league.load(TRY(object_at(state, "league"))); !loaded)
      return fail("league: " + loaded.error().message);
    TRY(SoloCommander::load_own(state));
    league_ = std::move(league);
    return {};
  }

  League league_;
};

}  // namespace

Result<std::unique_ptr<Commander>> make_one_vs_one(const json& settings, std::uint64_t seed) {
  std::vector<Argument> more = evaluation_arguments();
  more.push_back({.name = "league", .type = Argument::Type::object, .help = "of its players"});
  const json resolved = TRY(resolve_settings("one_vs_one", more, settings));
  CommonSettings common = TRY(common_settings("one_vs_one", resolved));
  auto evaluation = TRY(evaluation_settings(resolved, common));
  LeagueSettings league = TRY(parse_league("one_vs_one.league", resolved["league"]));
  return std::make_unique<OneVsOneCommander>(std::move(common), std::move(evaluation),
                                             std::move(league), seed);
}

}  // namespace attune
