// cart_pole_collector: a task of the coordinator. Plays by the newest policy of its learner, leaves
// each segment as a file on the shared directory, and pushes its metadata, until the buffer is
// closed or it is told to stop. With the parameter "evaluate": plays without random actions, and
// reports the mean return.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "examples/cart_pole/shared_files.h"
#include "examples/cart_pole/task.h"

namespace cart_pole {
namespace {

namespace fs = std::filesystem;
using attune::Result;

constexpr std::size_t kReportEvery = 50;     // episodes
constexpr std::size_t kUnacknowledged = 16;  // segments: it plays on while they are under way

Result<void> evaluate_policy(Task& task, PolicyReader& policy, const attune::Rng& rng) {
  TRY(policy.refresh());
  const double mean = evaluate(policy.network(), task.settings, rng.fork("evaluation"));
  return task.trial.final(
      {{"default", mean}, {"reward_mean", mean}, {"train_steps", policy.train_steps()}});
}

struct Count {
  std::size_t episodes = 0, steps = 0;
  double returns = 0;  // of the episodes since the last report, together

  attune::json metrics(std::size_t since) const {
    return {{"default", since == 0 ? 0 : returns / static_cast<double>(since)},
            {"episodes", episodes},
            {"env_steps", steps}};
  }
};

std::string path_of(const Task& task, std::uint64_t number) {
  return task.settings.folder() + "/" + task.trial.id() + "-" +
         std::to_string(task.trial.attempt()) + "-" + std::to_string(number) + ".json";
}

// The learner has removed the folder at its end; what came behind that is ours to remove.
void clean_up(const Task& task, std::uint64_t last) {
  const std::uint64_t first = last > kUnacknowledged ? last - kUnacknowledged : 1;
  std::error_code error;
  for (std::uint64_t i = first; i <= last; ++i) fs::remove(path_of(task, i), error);
  fs::remove(task.settings.folder(), error);  // unless others are in it
}

Result<void> collect(Task& task, PolicyReader& policy, const attune::Rng& rng) {
  const Settings& settings = task.settings;
  fs::create_directories(settings.folder());
  Player player(settings, rng.fork("player"));
  Count count;
  for (std::uint64_t number = 1; !has_sigterm(); ++number) {
    TRY(policy.refresh());
    const Segment segment =
        player.play(policy.network(), exploration(settings, policy.train_steps()));
    count.steps += segment.length();
    const SegmentMeta meta{path_of(task, number), segment.length(), player.episode_return()};
    if (const auto written = write_shared(meta.path, to_text(segment)); !written) {
      if (!fs::exists(settings.folder())) break;  // the learner has just ended
      return written;
    }
    attune::DataItem item{.meta = to_text(meta),
                          .collect_iter = static_cast<std::int64_t>(policy.train_steps())};
    const auto open = task.client.push(settings.buffer, {std::move(item)});
    if (!open && !has_sigterm()) return std::unexpected(open.error());
    if (open && !*open) clean_up(task, number);
    if (!open || !*open) break;
    if (!player.ended()) continue;
    count.returns += static_cast<double>(player.episode_return());
    if (++count.episodes % kReportEvery != 0) continue;
    TRY(task.trial.report(count.metrics(kReportEvery)));
    count.returns = 0;
  }
  return task.trial.final(count.metrics(count.episodes % kReportEvery));
}

Result<void> run() {
  Task task = TRY(Task::from_environment(kUnacknowledged));
  const attune::Rng rng = attune::Rng(task.settings.seed).fork("collector");
  PolicyReader policy(task.settings, rng.fork("policy"));
  return task.settings.evaluate ? evaluate_policy(task, policy, rng) : collect(task, policy, rng);
}

}  // namespace
}  // namespace cart_pole

int main() try {
  cart_pole::hold_back_sigterm();
  const auto done = cart_pole::run();
  if (!done) std::fprintf(stderr, "cart_pole_collector: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cart_pole_collector: %s\n", error.what());
  return 1;
}
