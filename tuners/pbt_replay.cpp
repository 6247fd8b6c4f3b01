// Replays what one trial of population based training has gone through: a single trial, whose
// configuration changes after the same amounts of training. It shows what the schedule alone is
// worth, on other data or with another seed.
//
// Source: Ray Tune, PopulationBasedTrainingReplay. The policy is the text of a pbt_policy file, or
// the lines behind "policy" in the reasons of PopulationBasedTraining (rungs/population_policy.h).
// Unlike Ray, a report that has passed several changes brings the last of them.
#include <fmt/format.h>

#include "base/saved_numbers.h"
#include "rungs/population_policy.h"
#include "rungs/resource.h"
#include "space/saved_point.h"
#include "tuners/parts/explore.h"
#include "tuners/registry.h"

namespace attune {
namespace pbt_replay_tuner {
namespace {

class PbtReplay final : public Tuner {
 public:
  PbtReplay(PopulationPolicy policy, std::string time_attr, Rng rng)
      : policy_(std::move(policy)), time_attr_(std::move(time_attr)), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    Rng rng = rng_;
    std::vector<Point> points = {feasible_sample(space, rng)};
    if (!policy_.initial.is_null()) {
      points[0] = TRY(changed(space, points[0], policy_.initial));
    }
    for (const auto& change : policy_.changes) {
      points.push_back(TRY(changed(space, points.back(), change.config)));
    }
    rng_ = rng;
    space_ = space;
    points_ = std::move(points);
    state_ = State::none;
    reached_ = 0;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      if (state_ == State::none) {
        adopt(id, points_[0]);
        return Proposal{.point = points_[0]};
      }
      if (state_ == State::ended) return Exhausted{};
      if (state_ == State::running) return NotYet{};
      state_ = State::running;
      return Proposal{.point = points_[reached_],
                      .resume = trial_,
                      .reason = fmt::format("step {} of the policy", reached_)};
    });
  }

  // Where the policy says how the trial begins, that counts.
  bool begin_with(const Point& point) override {
    if (state_ == State::none && policy_.initial.is_null()) points_[0] = point;
    return true;
  }

  void withdraw(TrialId id) override {
    if (state_ != State::running || id != trial_) return;
    state_ = State::none;
    if (policy_.initial.is_null()) points_[0] = feasible_sample(space_, rng_);
  }

  void adopt(TrialId id, const Point&) override {
    if (state_ != State::none) return;
    state_ = State::running;
    trial_ = id;
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (state_ != State::none && outcome.trial == trial_) state_ = State::ended;
    }
  }

  std::vector<Decision> on_report(const Report& report) override {
    const auto resource = resource_of(report, time_attr_);
    if (state_ != State::running || report.trial != trial_ || !resource) return {};
    const std::size_t before = reached_;
    while (reached_ < policy_.changes.size() && *resource >= policy_.changes[reached_].at) {
      ++reached_;
    }
    if (reached_ == before) return {};
    state_ = State::paused;
    const std::string reason =
        fmt::format("{} {:g}: change {} of {}, to {}", time_attr_, *resource, reached_,
                    policy_.changes.size(), dump_json(policy_.changes[reached_ - 1].config));
    // A manager that cannot pause needs the checkpoint.
    return {{trial_, Action::checkpoint, reason}, {trial_, Action::pause, reason}};
  }

  json save() const override {
    std::vector<const Point*> points;
    for (const Point& point : points_) points.push_back(&point);
    return {{"rng", to_json(rng_)},
            {"points", save_points(points)},
            {"state", static_cast<int>(state_)},
            {"trial", trial_},
            {"reached", reached_}};
  }

  Result<void> load(const json& saved) override {
    const Rng rng = TRY(rng_from_json(TRY(array_at(saved, "rng"))));
    auto points =
        TRY(load_points(space_, TRY(value_at(saved, "points")), policy_.changes.size() + 1));
    const auto state = TRY(integer_at(saved, "state"));
    const auto trial = TRY(integer_at(saved, "trial"));
    const auto reached = TRY(integer_at(saved, "reached"));
    if (state < 0 || state > static_cast<int>(State::ended) || reached < 0 ||
        reached > static_cast<std::int64_t>(policy_.changes.size())) {
      return fail("saved state: PBTReplay cannot be there");
    }
    rng_ = rng;
    points_ = std::move(points);
    state_ = static_cast<State>(state);
    trial_ = trial;
    reached_ = static_cast<std::size_t>(reached);
    return {};
  }

 private:
  enum class State { none, running, paused, ended };

  // The point with the values that the configuration names.
  static Result<Point> changed(const Space& space, const Point& point, const json& config) {
    json whole = to_json(space, point);
    for (const auto& [name, value] : config.items()) whole[name] = value;
    auto next = point_from_json(space, whole);
    if (!next) {
      return fail("search_space: PBTReplay needs the parameters of its policy: " +
                  next.error().message);
    }
    if (!space.feasible(*next)) {
      return fail("search_space: PBTReplay needs constraints that its policy keeps: " +
                  dump_json(config) + " breaks one");
    }
    return next;
  }

  const PopulationPolicy policy_;
  const std::string time_attr_;
  Rng rng_;
  Space space_;
  std::vector<Point> points_;  // before each change, and after the last
  State state_ = State::none;
  TrialId trial_ = 0;
  std::size_t reached_ = 0;  // changes that have been made
};

}  // namespace
}  // namespace pbt_replay_tuner

extern const TunerEntry pbt_replay_entry = {
    .name = "PBTReplay",
    .aliases = {"PopulationBasedTrainingReplay"},
    .summary = "one trial with the changing configurations of a trial of population based training",
    .arguments = {{.name = "policy",
                   .type = Argument::Type::text,
                   .fallback = nullptr,
                   .help =
                       "the lines of Ray's pbt_policy file; null: a random configuration, which "
                       "stays"},
                  {.name = "time_attr",
                   .type = Argument::Type::text,
                   .fallback = kTrainingIteration,
                   .help = "the metric that says how much a trial has trained"}},
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const Context&, Rng rng) -> Result<std::unique_ptr<Tuner>> {
      PopulationPolicy policy;
      if (args["policy"].is_string()) {
        auto parsed = parse_population_policy(args["policy"].get_ref<const std::string&>());
        if (!parsed) return fail("PBTReplay.policy: " + parsed.error().message);
        policy = *std::move(parsed);
      }
      return std::make_unique<pbt_replay_tuner::PbtReplay>(
          std::move(policy), args["time_attr"].get<std::string>(), rng);
    }};

}  // namespace attune
