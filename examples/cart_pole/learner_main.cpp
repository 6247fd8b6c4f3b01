// cart_pole_learner: a task of the coordinator. Samples segments from its buffer, trains, tells the
// buffer how surprising they were, and publishes its policy. It also removes the payload files that
// nobody needs any more, and all of them at its end.
#include <cstdio>
#include <exception>
#include <map>

#include "examples/cart_pole/learner.h"
#include "examples/cart_pole/shared_files.h"
#include "examples/cart_pole/task.h"
#include "os/atomic_file.h"

namespace cart_pole {
namespace {

namespace fs = std::filesystem;
using attune::Result;

constexpr std::size_t kCleanEvery = 20;  // publications

// Segments by the ids of their items, the newest ones.
class Payload {
 public:
  explicit Payload(std::size_t keep) : keep_(keep) {}

  // Null: the file is gone, or is none.
  std::shared_ptr<const Segment> get(const attune::SampledItem& item) {
    auto& known = segments_[item.id];
    if (!known) {
      const auto segment = read(item);
      if (!segment) {
        segments_.erase(item.id);
        return nullptr;
      }
      known = std::make_shared<const Segment>(*segment);
    }
    auto found = known;
    while (segments_.size() > keep_) segments_.erase(segments_.begin());
    return found;
  }

 private:
  static Result<Segment> read(const attune::SampledItem& item) {
    const SegmentMeta meta = TRY(parse_meta(item.meta));
    return parse_segment(TRY(attune::read_file(meta.path)));
  }

  std::size_t keep_;
  std::map<std::uint64_t, std::shared_ptr<const Segment>> segments_;
};

struct Run {
  Task task;
  Learner learner;
  Payload payload;
  double losses = 0;  // since the last report
  std::size_t since = 0;

  // False: the buffer is closed.
  Result<bool> step() {
    const Settings& settings = task.settings;
    const auto items = TRY(task.client.sample(settings.buffer, settings.batch));
    if (!items) return false;
    std::vector<Sample> batch;
    std::vector<std::uint64_t> ids;
    for (const attune::SampledItem& item : *items) {
      if (auto segment = payload.get(item)) {
        batch.push_back({item.id, item.weight, std::move(segment)});
        ids.push_back(item.id);
      }
    }
    if (batch.empty()) return true;
    const Learner::Trained trained = learner.train(batch);
    losses += trained.loss;
    ++since;
    TRY(task.client.update(settings.buffer, ids, trained.priorities));
    if (learner.steps() % settings.publish_every == 0) TRY(publish_policy());
    if (learner.steps() % settings.report_every == 0) {
      TRY(task.trial.report(metrics()));
      losses = 0;
      since = 0;
    }
    return true;
  }

  Result<void> publish_policy() {
    const Settings& settings = task.settings;
    TRY(publish(settings.policy, learner.network(), learner.steps()));
    if (learner.steps() / settings.publish_every % kCleanEvery == 0)
      remove_oldest(settings.folder(), settings.keep_files);
    return task.client.advance(settings.buffer, static_cast<std::int64_t>(learner.steps()));
  }

  attune::json metrics() const {
    return {{"default", since == 0 ? 0 : losses / static_cast<double>(since)},
            {"train_steps", learner.steps()}};
  }

  Result<void> all() {
    const Settings& settings = task.settings;
    fs::create_directories(settings.folder());
    // An earlier attempt has left its last one.
    if (const auto policy = TRY(read_policy(settings.policy)); policy)
      TRY(learner.go_on(policy->weights, policy->train_steps));
    else
      TRY(publish(settings.policy, learner.network(), 0));
    while (learner.steps() < settings.train_steps && !has_sigterm()) {
      const auto open = step();
      if (!open && !has_sigterm()) return std::unexpected(open.error());
      if (!open || !*open) break;
    }
    TRY(publish(settings.policy, learner.network(), learner.steps()));
    // Collectors write into it to the last: away with it first.
    const std::string old = settings.folder() + ".old";
    fs::rename(settings.folder(), old);
    fs::remove_all(old);
    return task.trial.final(metrics());
  }
};

Result<void> run() {
  Task task = TRY(Task::from_environment(0));
  const attune::Rng rng = attune::Rng(task.settings.seed).fork("learner");
  const Settings settings = task.settings;
  return Run{std::move(task), Learner(settings, rng), Payload(settings.keep_files)}.all();
}

}  // namespace
}  // namespace cart_pole

int main() try {
  cart_pole::hold_back_sigterm();
  const auto done = cart_pole::run();
  if (!done) std::fprintf(stderr, "cart_pole_learner: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cart_pole_learner: %s\n", error.what());
  return 1;
}
