// Quasi-Monte Carlo search: the points of a scrambled Sobol sequence (math/sobol.h), which leave
// smaller gaps than independent draws. (Bousquet et al., "Critical Hyper-Parameters: No Random, No
// Cry", 2017.)
#include <algorithm>

#include "base/saved_numbers.h"
#include "math/sobol.h"
#include "space/dedup.h"
#include "space/unit_cube.h"
#include "tuners/registry.h"

namespace attune {
namespace qmc_tuner {
namespace {

constexpr double kMostPoints = 9007199254740992.0;

// The coordinates of the sequence that a parameter uses. A choice has one, cut into a slice for
// each candidate. A subset has one for each candidate, and takes those with the largest numbers.
std::size_t coordinates_of(const Domain& domain) {
  const auto* subset = std::get_if<Subset>(&domain);
  return subset ? subset->candidates.size() : 1;
}

class Qmc final : public Tuner {
 public:
  explicit Qmc(Rng rng) : rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    cube_ = UnitCube(space);
    dedup_ = Deduplicator(space);
    begin(rng_());
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId) -> Answer {
      if (auto fresh = dedup_(next())) return Proposal{.point = *std::move(fresh)};
      return Exhausted{};
    });
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) dedup_.add(outcome.point);
  }

  void adopt(TrialId, const Point& point) override { dedup_.add(point); }

  // A new scrambling, because the lost proposals came from the former one.
  void skip_ahead() override {
    rng_ = rng_.fork("skip ahead");
    begin(rng_());
  }

  json save() const override {
    return {{"rng", to_json(rng_)},
            {"seen", dedup_.save()},
            {"scrambling", seed_},
            {"points", sobol_.count()}};
  }

  Result<void> load(const json& state) override {
    const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    Deduplicator dedup(space_);
    TRY(dedup.load(TRY(object_at(state, "seen"))));
    const json seed = TRY(value_at(state, "scrambling"));
    if (!seed.is_number_integer()) return fail("saved state: scrambling must be an integer");
    const auto points = TRY(integer_at(state, "points"));
    if (!is_index(static_cast<double>(points), kMostPoints)) {
      return fail("saved state: the number of points is impossible");
    }
    rng_ = rng;
    dedup_ = std::move(dedup);
    begin(seed.get<std::uint64_t>());
    sobol_.skip_to(static_cast<std::uint64_t>(points));
    return {};
  }

 private:
  void begin(std::uint64_t seed) {
    seed_ = seed;
    std::size_t coordinates = 0;
    for (const Param& param : space_.params) coordinates += coordinates_of(param.domain);
    sobol_ = Sobol(coordinates, seed);
  }

  Point next();

  Rng rng_;
  Space space_;
  UnitCube cube_{Space{}};
  Deduplicator dedup_{Space{}};
  std::uint64_t seed_ = 0;
  Sobol sobol_{0};
};

Point Qmc::next() {
  const std::vector<double> point = sobol_.next();
  auto from = point.begin();
  std::vector<double> x;
  x.reserve(cube_.dimensions());
  for (const Param& param : space_.params) {
    const auto n = static_cast<std::ptrdiff_t>(coordinates_of(param.domain));
    if (const auto* choice = std::get_if<Choice>(&param.domain)) {
      const auto begin = x.size();
      x.resize(begin + choice->candidates.size());
      const auto slices = static_cast<double>(choice->candidates.size());
      const auto chosen = std::min(static_cast<std::size_t>(*from * slices),
                                   choice->candidates.size() - 1);  // *from * slices may round up
      x[begin + chosen] = 1;
    } else {
      x.insert(x.end(), from, from + n);
    }
    from += n;
  }
  return cube_.from_cube(x);
}

}  // namespace
}  // namespace qmc_tuner

extern const TunerEntry qmc_entry = {
    .name = "QMC",
    .aliases = {"Sobol"},
    .summary = "a scrambled Sobol sequence: like random draws, but evenly spread",
    .arguments = {},
    .maximizes = false,
    .make = [](const json&, const Context&, Rng rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<qmc_tuner::Qmc>(rng);
    }};

}  // namespace attune
