// The commander `naive`: keeps a number of learners, each with a buffer of its own, and a number of
// collectors, until enough learners have succeeded. After DI-engine's NaiveCommander, whose
// learners share one buffer.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/workload/factories.h"
#include "cluster/workload/task_commander.h"

namespace attune {
namespace {

class NaiveCommander final : public TaskCommander {
 public:
  NaiveCommander(CommonSettings settings, int learners, int successes, std::uint64_t seed)
      : TaskCommander(std::move(settings), seed), learners_(learners), wanted_(successes) {}

  std::optional<TaskSpec> next(double /*now*/) const override {
    if (tasks_.decided()) return std::nullopt;
    // No more learners than successes that are still wanted.
    if (tasks_.count(TaskKind::learn) < std::min(learners_, wanted_ - succeeded_))
      return learner_task();
    const std::vector<const LiveTask*> learners = tasks_.learners();
    if (learners.empty() || !wants_collector()) return std::nullopt;
    return playing_task(TaskKind::collect, settings_.collector, least_served(learners),
                        json::object());
  }

  double next_time() const override { return std::numeric_limits<double>::infinity(); }
  std::vector<std::vector<TaskSpec>> together() const override {
    return with_learners(std::min(learners_, wanted_), nullptr);
  }

 private:
  // With the fewest collectors; of several the oldest.
  std::string least_served(const std::vector<const LiveTask*>& learners) const {
    std::map<std::string, int> collectors;
    for (const LiveTask& each : tasks_.live()) {
      if (each.kind == TaskKind::collect) ++collectors[each.learner];
    }
    const auto of = [&](const LiveTask* learner) { return collectors[learner->id]; };
    return (*std::ranges::min_element(learners, {}, of))->id;
  }

  void reported(const LiveTask& /*task*/, const json& /*value*/) override {}

  void learner_ended(const Task& task) override {
    if (task.state == TaskState::succeeded) ++succeeded_;
    if (succeeded_ >= wanted_) tasks_.decide("");
  }

  json save_own() const override { return {{"succeeded", succeeded_}}; }

  Result<void> load_own(const json& state) override {
    const std::int64_t succeeded = TRY(integer_at(state, "succeeded"));
    if (succeeded < 0 || succeeded > wanted_)
      return fail("succeeded: a count of those that are wanted is wanted");
    succeeded_ = static_cast<int>(succeeded);
    return {};
  }

  const int learners_, wanted_;
  int succeeded_ = 0;
};

}  // namespace

Result<std::unique_ptr<Commander>> make_naive(const json& settings, std::uint64_t seed) {
  using enum Argument::Type;
  const json resolved = TRY(resolve_settings("naive",
                                             {{.name = "learners",
                                               .type = integer,
                                               .fallback = 1,
                                               .help = "that are live at a time",
                                               .low = 1,
                                               .high = 1000},
                                              {.name = "successes",
                                               .type = integer,
                                               .fallback = 1,
                                               .help = "of learners with which all is done",
                                               .low = 1,
                                               .high = 1'000'000}},
                                             settings));
  CommonSettings common = TRY(common_settings("naive", resolved));
  return std::make_unique<NaiveCommander>(std::move(common), resolved["learners"].get<int>(),
                                          resolved["successes"].get<int>(), seed);
}

}  // namespace attune
