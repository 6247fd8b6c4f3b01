// Grid search on an ever finer grid (space/grid.h), without what was tried before.
#include "space/grid.h"
#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "tuners/registry.h"

namespace attune {
namespace grid_tuner {
namespace {

class GridSearch final : public Tuner {
 public:
  Result<void> set_space(const Space& space) override {
    if (space.params.empty()) {
      return fail(
          "search_space: empty; GridSearch needs at least one parameter. Add one, or use "
          "the tuner Random, which runs the empty configuration once");
    }
    space_ = space;
    grid_ = Grid(space);
    seen_ = SeenPoints(space);
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId) -> Answer {
      while (auto point = grid_.next()) {
        if (seen_.insert(*point)) return Proposal{.point = *std::move(point)};
      }
      return Exhausted{};
    });
  }

  // A point that was tried is not visited again, whatever its result.
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) seen_.insert(outcome.point);
  }

  void adopt(TrialId, const Point& point) override { seen_.insert(point); }

  json save() const override { return {{"grid", grid_.save()}, {"seen", seen_.save()}}; }

  Result<void> load(const json& state) override {
    Grid grid(space_);
    TRY(grid.load(TRY(object_at(state, "grid"))));
    SeenPoints seen(space_);
    TRY(seen.load(TRY(array_at(state, "seen"))));
    grid_ = std::move(grid);
    seen_ = std::move(seen);
    return {};
  }

 private:
  Space space_;
  Grid grid_{Space{}};
  SeenPoints seen_{Space{}};
};

}  // namespace
}  // namespace grid_tuner

extern const TunerEntry grid_entry = {
    .name = "GridSearch",
    .aliases = {},
    .summary = "every point of a finite space; reals on an ever finer grid",
    .arguments = {},
    .maximizes = true,
    .make = [](const json&, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<grid_tuner::GridSearch>();
    }};

}  // namespace attune
