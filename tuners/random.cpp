// Random search: independent draws from the declared distributions, without repeats where the
// space is finite. (Bergstra, Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 2012.)
#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "space/prior.h"
#include "tuners/registry.h"

namespace attune {
namespace random_tuner {
namespace {

class Random final : public Tuner {
 public:
  explicit Random(Rng rng) : rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    priors_ = Priors(space);
    dedup_ = Deduplicator(space);
    return {};
  }

  bool set_priors(const Space& space) override {
    priors_ = Priors(space);
    return true;
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId) -> Answer {
      auto fresh = dedup_(draw_half_from(priors_, space_, rng_));
      if (fresh) return Proposal{.point = *std::move(fresh)};
      return Exhausted{};
    });
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) dedup_.add(outcome.point);
  }

  void adopt(TrialId, const Point& point) override { dedup_.add(point); }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override { return {{"rng", to_json(rng_)}, {"seen", dedup_.save()}}; }

  Result<void> load(const json& state) override {
    const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    Deduplicator dedup(space_);
    TRY(dedup.load(TRY(object_at(state, "seen"))));
    rng_ = rng;
    dedup_ = std::move(dedup);
    return {};
  }

 private:
  Rng rng_;
  Space space_;
  Priors priors_;
  Deduplicator dedup_{Space{}};
};

}  // namespace
}  // namespace random_tuner

extern const TunerEntry random_entry = {
    .name = "Random",
    .aliases = {},
    .summary = "independent random draws; never repeats in a finite space",
    .arguments = {},
    .maximizes = true,
    .make = [](const json&, const Context&, Rng rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<random_tuner::Random>(rng);
    }};

}  // namespace attune
