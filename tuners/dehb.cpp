// DEHB: synchronous Hyperband whose later brackets are filled by differential evolution instead of
// new random configurations.
//
// Awad, Mallik, Hutter, "DEHB: Evolutionary Hyperband for Scalable, Robust and Efficient
// Hyperparameter Optimization" (IJCAI 2021). The rule is that of Syne Tune's
// DifferentialEvolutionHyperbandScheduler: rungs/sync_brackets_evolution.h. Trials of the first
// bracket pause at their rungs, as in SyncHyperband. All others are complete at their level.
//
// No configuration is tried twice: of 25 children that all repeat one, a random configuration takes
// the place. In a finite space that may be tried whole, the brackets shrink to what there is.
#include <algorithm>
#include <numeric>

#include "base/saved_numbers.h"
#include "rungs/sync_brackets_evolution.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/unit_cube.h"
#include "tuners/parts/bracket_arguments.h"
#include "tuners/parts/bracket_pauses.h"
#include "tuners/registry.h"

namespace attune {
namespace dehb_tuner {
namespace {

class RandomDraws final : public EvolutionDraws {
 public:
  RandomDraws(Rng& rng, double crossover_probability)
      : rng_(rng), probability_(crossover_probability) {}

  std::array<std::size_t, 3> parents(std::size_t pool) override {
    std::array<std::size_t, 3> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      do {
        all[i] = rng_.index(pool);
      } while (std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]) !=
               all.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return all;
  }
  std::size_t any(std::size_t count) override { return rng_.index(count); }
  double uniform() override { return rng_.uniform(); }
  std::vector<bool> crossover(std::size_t parameters) override {
    std::vector<bool> mask(parameters);
    for (std::size_t i = 0; i < parameters; ++i) mask[i] = rng_.uniform() < probability_;
    const bool none = std::ranges::find(mask, true) == mask.end();
    if (none && parameters > 0) mask[rng_.index(parameters)] = true;
    return mask;
  }

 private:
  Rng& rng_;
  double probability_;
};

// How many coordinates of the unit cube each parameter has.
std::vector<std::size_t> widths_of(const Space& space) {
  std::vector<std::size_t> widths;
  for (const Param& param : space.params) {
    std::size_t width = 1;
    if (const auto* choice = std::get_if<Choice>(&param.domain)) width = choice->candidates.size();
    if (const auto* subset = std::get_if<Subset>(&param.domain)) width = subset->candidates.size();
    widths.push_back(width);
  }
  return widths;
}

class Dehb final : public PausingTuner {
 public:
  struct Rule {
    RungSizes first;
    std::size_t brackets = 1;
    double mutation_factor = 0.5, crossover_probability = 0.5;
  };

  Dehb(Setup setup, Rule rule, Rng rng)
      : PausingTuner(std::move(setup)), rule_(std::move(rule)), rng_(rng) {}

  void skip_ahead() override {
    PausingTuner::skip_ahead();
    rng_ = rng_.fork("skip ahead");
  }

 private:
  using Kind = EvolutionBrackets::Kind;
  static constexpr int kChildren = 25;  // that are tried for a slot

  Answer next(TrialId id) override {
    bool searcher_waits = false, begins = !all_begun();
    while (const auto job = take_place(evolution_, exhausted_, searcher_waits, begins)) {
      const auto level = static_cast<double>(evolution_.brackets().level(job->place));
      const bool pauses = job->place.bracket == 0 && !evolution_.brackets().is_top(job->place);
      if (job->kind == Kind::go_on) {
        Continued continued = go_on(id, job->trial, level, pauses);
        evolution_.begin(continued.trial, *job, {});
        return std::move(continued.proposal);
      }
      Answer answer = exhausted_                 ? Answer(Exhausted{})
                      : job->kind == Kind::fresh ? searcher().ask(id)
                                                 : child(id, *job);
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        if (job->kind == Kind::fresh) {
          seen_.add(proposal->point);
          evolution_.begin(id, *job, cube_.to_cube(proposal->point));
        }
        return start(id, proposal->point, level, pauses);
      }
      evolution_.give_back(job->place);
      if (std::holds_alternative<NotYet>(answer)) {
        searcher_waits = true;  // others may still go on
      } else {
        exhausted_ = true;
        for (const auto& full : evolution_.vacate()) judge(full);
      }
    }
    return searcher_waits ? Answer(NotYet{}) : nothing_now();
  }

  // A child that was not tried before. The search algorithm hears of it as of a custom trial.
  Answer child(TrialId id, const EvolutionBrackets::Job& job) {
    RandomDraws draws(rng_, rule_.crossover_probability);
    EvolutionBrackets::Vector x;
    Point point;
    bool repeats = true;
    for (int i = 0; i < kChildren && repeats; ++i) {
      x = evolution_.offspring(job.place, draws);
      point = cube_.from_cube(x);
      repeats = seen_.repeats(point);
    }
    if (repeats) {
      auto fresh = seen_(sample(searcher().space(), rng_));
      if (!fresh) return Exhausted{};
      point = *std::move(fresh);
      x = cube_.to_cube(point);
    }
    seen_.add(point);
    searcher().adopt(id, point);
    evolution_.begin(id, job, std::move(x));
    return Proposal{.point = std::move(point)};
  }

  void reached(TrialId trial, double loss) override { close(evolution_.result(trial, loss)); }
  std::string waiting_text(TrialId trial, double loss) const override {
    return waits_in(evolution_.brackets(), trial, loss);
  }
  void again(TrialId trial) override { evolution_.again(trial); }
  void lost(TrialId trial) override { close(evolution_.lost(trial)); }
  void take_back(TrialId trial) override { evolution_.take_back(trial); }
  void close(const std::optional<SyncBrackets::Full>& full) {
    if (full) judge(*full);
  }
  void noticed(const Point& point) override { seen_.add(point); }

  void forget_rule() override {
    const Space& space = searcher().space();
    cube_ = UnitCube(space);
    seen_ = Deduplicator(space, Deduplicator::Remember::always);
    evolution_ = brackets();
    exhausted_ = false;
  }

  EvolutionBrackets brackets() const {
    return {rule_.first, rule_.brackets, widths_of(searcher().space()), rule_.mutation_factor};
  }

  json save_brackets() const override {
    return {{"exhausted", exhausted_},
            {"rng", to_json(rng_)},
            {"seen", seen_.save()},
            {"evolution", evolution_.save()}};
  }

  Result<std::function<void()>> load_brackets(const json& state, const Runs& runs) override {
    const bool exhausted = TRY(boolean_at(state, "exhausted"));
    const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    Deduplicator seen(searcher().space(), Deduplicator::Remember::always);
    TRY(seen.load(TRY(object_at(state, "seen"))));
    EvolutionBrackets evolution = brackets();
    TRY(evolution.load(TRY(object_at(state, "evolution"))));
    if (runs_of(evolution.brackets()) != runs) return fail("saved state: a trial without its slot");
    return [this, exhausted, rng, seen, evolution] {
      exhausted_ = exhausted;
      rng_ = rng;
      seen_ = seen;
      evolution_ = evolution;
    };
  }

  const Rule rule_;
  Rng rng_;
  UnitCube cube_{Space{}};
  Deduplicator seen_{Space{}};
  EvolutionBrackets evolution_{rule_.first, rule_.brackets, {}, rule_.mutation_factor};
  bool exhausted_ = false;  // there are no new configurations any more
};

}  // namespace
}  // namespace dehb_tuner

static std::vector<Argument> dehb_arguments() {
  auto all = sync_bracket_arguments();
  all.push_back({.name = "mutation_factor",
                 .type = Argument::Type::number,
                 .fallback = 0.5,
                 .help = "how much of the difference of two parents is added to the third",
                 .low = 0,
                 .high = 1});
  all.push_back({.name = "crossover_probability",
                 .type = Argument::Type::number,
                 .fallback = 0.5,
                 .help = "with this probability a parameter of a child comes from the mutant",
                 .low = 0,
                 .high = 1});
  return all;
}

extern const TunerEntry dehb_entry = {
    .name = "DEHB",
    .aliases = {},
    .summary = "synchronous Hyperband, with differential evolution in place of random draws",
    .arguments = dehb_arguments(),
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      const auto sizes = TRY(sync_bracket_sizes("DEHB", args));
      const auto max_t = static_cast<double>(sizes[0].back().level);
      auto setup = TRY(bracket_setup("DEHB", args, context, rng, "resource_attr", max_t));
      return std::make_unique<dehb_tuner::Dehb>(
          std::move(setup),
          dehb_tuner::Dehb::Rule{sizes[0], sizes.size(), args["mutation_factor"].get<double>(),
                                 args["crossover_probability"].get<double>()},
          rng.fork("evolution"));
    }};

}  // namespace attune
