// Any tuner on any space with any outcomes. The first byte chooses the tuner and the next four a
// random space and the seeds; then each byte is an event: requests, results of all kinds, trials
// that were not proposed here, saving and loading. A second tuner is replaced by a loaded copy of
// itself now and then, and must answer the same all the time.
#include <map>

#include "space/parse.h"
#include "space/sample.h"
#include "tests/fuzz/fuzz.h"
#include "tests/space/space_helpers.h"
#include "tuners/registry.h"

using namespace attune;

namespace {

constexpr std::size_t kMostEvents = 60;  // a model's fit costs milliseconds
constexpr std::array<double, 8> kLosses = {0, 1, -1, 0.5, 1e308, -1e308, 1e-308, 3};

class TunerPair {
 public:
  TunerPair(const TunerEntry& entry, std::uint64_t seed)
      : entry_(entry), seed_(seed), rng_(seed), one_(make()), two_(make()) {
    RandomSpace options;
    options.finite = rng_.index(3) == 0;
    space_ = parse_space(random_space(rng_, options)).value();
  }

  bool set_space() {
    const bool accepted = one_->set_space(space_).has_value();
    ATTUNE_CHECK(two_->set_space(space_).has_value() == accepted);
    return accepted;
  }

  void event(std::uint8_t what) {
    switch (what % 16) {
      case 0:
        return load();
      case 1:
        return tell({kImportedTrial, sample(space_, rng_), loss(), metrics(), End::imported, {}});
      case 2: {
        const Point point = sample(space_, rng_);
        for (const auto& each : {one_.get(), two_.get()}) each->adopt(next_, point);
        running_[next_++] = point;
        return;
      }
      case 3: {
        if (running_.empty()) return;
        const auto chosen = any();
        for (const auto& each : {one_.get(), two_.get()}) each->withdraw(chosen->first);
        running_.erase(chosen);
        return;
      }
      case 4:
        return end(End::failed);
      case 5:
        return end(End::diverged);
      case 6:
        return end(End::stopped);
      case 7:
      case 8:
      case 9:
      case 10:
        return end(End::completed);
      default:
        return ask(1 + rng_.index(what < 128 ? 2 : 8));
    }
  }

 private:
  std::unique_ptr<Tuner> make() const {
    Context context;
    context.objectives = {{"a", false}, {"b", true}, {"c", false, 0.5}};
    if (seed_ % 2 == 0) context.objectives.resize(1);
    return make_tuner(registry(), entry_.name, {}, context, seed_).value().tuner;
  }
  static const TunerRegistry& registry() {
    static const TunerRegistry all = builtin_tuners();
    return all;
  }

  double loss() { return rng_.index(2) == 0 ? rng_.normal() : kLosses[rng_.index(8)]; }
  Metrics metrics() { return {{"a", 1}, {"b", loss()}, {"c", loss()}}; }
  std::map<TrialId, Point>::iterator any() {
    return std::next(running_.begin(), static_cast<std::ptrdiff_t>(rng_.index(running_.size())));
  }

  void tell(const Outcome& outcome) {
    for (const auto& each : {one_.get(), two_.get()}) each->tell({&outcome, 1});
  }

  void end(End how) {
    if (running_.empty()) return;
    const auto chosen = any();
    Outcome outcome{chosen->first, chosen->second, {}, {}, how, {}};
    if (how == End::completed) {
      outcome.loss = loss();
      outcome.metrics = metrics();
    }
    running_.erase(chosen);
    tell(outcome);
  }

  void ask(std::size_t count) {
    std::vector<TrialId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(next_++);
    const auto answers = one_->ask(ids), others = two_->ask(ids);
    ATTUNE_CHECK(answers.size() == count && others.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      ATTUNE_CHECK(answers[i].index() == others[i].index());
      const auto* proposal = std::get_if<Proposal>(&answers[i]);
      if (proposal == nullptr) continue;
      ATTUNE_CHECK(proposal->point == std::get<Proposal>(others[i]).point);
      ATTUNE_CHECK(in_space(space_, proposal->point));
      running_[ids[i]] = proposal->point;
    }
  }

  void load() {
    const std::string saved = dump_json(two_->save());
    auto loaded = make();
    ATTUNE_CHECK(loaded->set_space(space_).has_value());
    ATTUNE_CHECK(loaded->load(parse_json(saved).value()).has_value());
    ATTUNE_CHECK(dump_json(loaded->save()) == saved);
    two_ = std::move(loaded);
  }

  const TunerEntry& entry_;
  std::uint64_t seed_;
  Rng rng_;
  Space space_;
  std::unique_ptr<Tuner> one_, two_;
  std::map<TrialId, Point> running_;
  TrialId next_ = 0;
};

}  // namespace

FUZZ_TARGET(input) {
  if (input.size() < 6) return;
  static const TunerRegistry all = builtin_tuners();
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(input[i]); };
  const TunerEntry& entry = all.entries()[byte(0) % all.entries().size()];
  if (entry.name == "Batch") return;  // takes no such space
  std::uint64_t seed = 0;
  for (std::size_t i = 1; i < 5; ++i) seed = seed << 8 | byte(i);
  TunerPair pair(entry, seed);
  if (!pair.set_space()) return;
  for (std::size_t i = 5; i < std::min(input.size(), 5 + kMostEvents); ++i) pair.event(byte(i));
}
