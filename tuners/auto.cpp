// The default tuner: several search algorithms share one experiment. Each hears of every trial, and
// they propose in turns, because none of them is the best on every kind of problem (Benjamins et
// al., "carps: A Framework for Comparing N Hyperparameter Optimizers on M Benchmarks", 2025).
//
// The rule of turns, measured in docs/tuners.md:
// * The first ten proposals are those of the local search (TuRBO), which needs the fewest random
//   results. Then it takes turns with the Gaussian process of the whole space (GP) and the
//   multivariate Parzen estimator (TPE).
// * In a space of branches (space/branch.h), GP has the next turns, two for each branch: it looks
//   into each of them, which a local search does not.
// * While losses fall over decades, the local search proposes alone, except in a space of branches.
//   They do if the lowest is positive and below a hundredth of the median of the first ten
//   (tuners/parts/loss_span.h).
// * While many trials run, from the first proposal on, only the local search and GP take turns: the
//   estimator does not spread a batch by expected results.
// * With several objectives GP proposes alone: the local search seeks no trade-offs, and with turns
//   of the estimator less of them is found. With limits, only the evolution strategy has no turns.
// * After 300 proposals an evolution strategy (CMA-ES) has five turns of six, and the local search
//   has one. The models hold 500 results at most. The strategy uses all of them: it begins at the
//   best tenth. In a space of branches less is found with it, and it has no turns.
// * In spaces where a fit of a process would take seconds, the estimator proposes alone.
//
// FreezeThaw takes the place of all of them where trials can be paused:
// * from the start if the experiment says how far a full training goes (its key `fidelity`, or the
//   argument max_t);
// * else once a trial that reports its iteration, and all objectives, has saved a checkpoint.
//   FreezeThaw then learns how far a full training goes from the trials that end by themselves. An
//   experiment of few trials (kEnough) does not begin this: they are used better if each one is
//   trained in full.
#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "base/saved_numbers.h"
#include "base/standing.h"
#include "rungs/resource.h"
#include "space/branch.h"
#include "space/features.h"
#include "tuners/parts/freeze_thaw.h"
#include "tuners/parts/loss_span.h"
#include "tuners/parts/portfolio.h"

namespace attune {

extern const TunerEntry gp_entry, tpe_entry, turbo_entry, cma_es_entry, freeze_thaw_entry;

namespace auto_tuner {
namespace {

enum Member : std::size_t { process, estimator, region, strategy };

constexpr std::int64_t kStart = 10;
constexpr std::array kTurns = {region, process, region, process, region, estimator};
constexpr std::int64_t kMostLooks = 20;  // into branches, two into each
constexpr std::int64_t kLate = 300;
constexpr std::array kLateTurns = {strategy, strategy, strategy, strategy, strategy, region};
// With so many running trials (the one that is asked for not counted), the estimator has no turns.
constexpr std::size_t kMany = 3;
constexpr std::int64_t kMostProposed = std::int64_t{1} << 53;  // the largest count in a saved state
// With more, proposals of a Gaussian process take too long: with 2,000 dimensions 0.1 to 0.2 s.
constexpr std::size_t kMostDimensions = 2000;
// FreezeThaw begins about ten trials in the time of one full training.
constexpr int kEnough = 500;
// Each level of training is so many times the one before, and so are the iterations at which a
// trial is asked for a checkpoint.
constexpr double kFactor = 3;

// plain: trials are not paused. watching: nobody knows yet whether they can be. pausing: they can.
enum class Stage { plain, watching, pausing };

class Auto final : public Tuner {
 public:
  static Result<std::unique_ptr<Tuner>> make(const json& args, const TunerContext& context,
                                             Rng rng) {
    const bool may_pause = args["pause"].get<bool>();
    if (!args["max_t"].is_null() && may_pause) {
      const json its = {{"max_t", args["max_t"]}, {"resource_attr", args["resource_attr"]}};
      return freeze_thaw_entry.make(
          TRY(resolve_arguments("auto", freeze_thaw_entry.arguments, its)), context, rng);
    }
    auto tuner = std::make_unique<Auto>();
    tuner->several_ = context.objectives.size() > 1;
    tuner->trade_offs_ = several(context.objectives);
    TRY(tuner->members_.add(gp_entry, context, rng));
    TRY(tuner->members_.add(tpe_entry, context, rng));
    if (!tuner->trade_offs_) TRY(tuner->members_.add(turbo_entry, context, rng));
    if (!tuner->several_) TRY(tuner->members_.add(cma_es_entry, context, rng));
    if (may_pause && context.pauses && !context.assessed &&
        context.max_trials.value_or(kEnough) >= kEnough) {
      tuner->attribute_ = args["resource_attr"];
      tuner->others_ = {context.objectives.begin() + 1, context.objectives.end()};
      std::erase_if(tuner->others_, [](const Objective& each) { return each.limit.has_value(); });
      tuner->stage_ = Stage::watching;
      tuner->curves_.emplace(CurveLedger(CurveMetrics(tuner->attribute_, context.objectives),
                                         CurveLevels(kFactor), {}, CurveLedger::Begin::watching),
                             context.max_trials, rng.fork(freeze_thaw_entry.name));
    }
    tuner->wants_reports_ = tuner->curves_.has_value();
    return tuner;
  }

  bool wants_reports() const override { return wants_reports_; }
  bool pauses_at_budget() const override { return wants_reports_; }

  Result<void> set_space(const Space& space) override {
    TRY(members_.set_space(space));
    if (curves_) TRY(curves_->set_space(space));
    large_ = Features(space).size() > kMostDimensions;
    looks_ = 0;
    if (const auto root = root_choice(space)) {
      const auto& options = std::get<Choice>(space.params[*root].domain).candidates;
      looks_ = std::min(kMostLooks, 2 * std::ssize(options));
    }
    proposed_ = 0;
    losses_ = {};
    running_.clear();
    return {};
  }

  bool set_priors(const Space& space) override { return members_.set_priors(space); }

  bool learns_from_earlier() const override { return true; }
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks) override {
    return members_.learn_from(tasks);
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    if (stage_ == Stage::pausing) return curves_->ask(ids);
    return ask_each(ids, [this](TrialId id) {
      running_.erase(id);
      std::size_t who = turn();
      Answer answer = members_.ask(id, who);
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        ++proposed_;
        running_.insert(id);
        if (curves_) curves_->take(id, proposal->point);
      }
      return answer;
    });
  }

  bool begin_with(const Point& point) override {
    return stage_ == Stage::pausing && curves_->begin_with(point);
  }
  void withdraw(TrialId id) override {
    members_.withdraw(id);
    if (curves_) curves_->withdraw(id);
    running_.erase(id);
  }
  void tell(std::span<const Outcome> outcomes) override {
    members_.tell(outcomes);
    if (curves_) curves_->tell(outcomes);
    for (const Outcome& outcome : outcomes) {
      running_.erase(outcome.trial);
      if (outcome.usable()) losses_.add(*outcome.loss);
      if (outcome.trial == probed_) probed_.reset();
      // It was trained in full, and no checkpoint has been seen.
      if (stage_ == Stage::watching && outcome.end == End::completed) stop_watching();
    }
  }
  void adopt(TrialId id, const Point& point) override {
    members_.adopt(id, point);
    if (curves_) curves_->adopt(id, point);
    running_.insert(id);
  }
  std::vector<Decision> on_report(const Report& report) override;
  void on_checkpoint(TrialId id, bool saved) override;
  void skip_ahead() override {
    members_.skip_ahead();
    if (curves_) curves_->skip_ahead();
  }

  json save() const override;
  Result<void> load(const json& state) override;

 private:
  void stop_watching() {
    stage_ = Stage::plain;
    curves_.reset();
    probed_.reset();
  }

  std::size_t turn() const {
    if (large_) return estimator;
    if (trade_offs_) return process;
    const auto turn = static_cast<std::size_t>(proposed_);
    const bool late = proposed_ >= kLate && members_.size() > strategy && looks_ == 0;
    const bool falling = losses_.has_decades() && looks_ == 0;
    const Member member = falling                       ? region
                          : late                        ? kLateTurns[turn % kLateTurns.size()]
                          : running_.size() >= kMany    ? kTurns[turn % 2]
                          : proposed_ < kStart          ? region
                          : proposed_ < kStart + looks_ ? process
                                                        : kTurns[turn % kTurns.size()];
    return member < members_.size() ? member : process;
  }

  Portfolio members_;
  bool several_ = false;     // objectives, or limits
  bool trade_offs_ = false;  // of two or more objectives that have no limit
  bool large_ = false;
  std::int64_t looks_ = 0;  // of GP into branches
  std::int64_t proposed_ = 0;
  LossSpan losses_;
  std::set<TrialId> running_;

  bool wants_reports_ = false;
  Stage stage_ = Stage::plain;
  std::string attribute_;          // the metric that counts how far a trial is
  std::vector<Objective> others_;  // those behind the first, without limits
  // Looks on while stage_ is watching. It proposes in place of the members while it is pausing, and
  // is not there while it is plain.
  std::optional<FreezeThaw> curves_;
  std::optional<TrialId> probed_;  // was asked for a checkpoint, which has not come yet
  double next_probe_ = 1;          // asks a trial that has got so far
};

std::vector<Decision> Auto::on_report(const Report& report) {
  if (!curves_) return {};
  std::vector<Decision> decisions = curves_->on_report(report);
  const auto iteration = metric_in(report.metrics, attribute_);
  const bool has_others = std::ranges::all_of(others_, [&](const Objective& each) {
    return metric_in(report.metrics, each.metric).has_value();
  });
  if (stage_ == Stage::watching && !probed_ && iteration && has_others &&
      *iteration >= next_probe_ && *iteration <= CurveLevels::kMost) {
    probed_ = report.trial;
    next_probe_ = kFactor * *iteration;
    decisions.push_back({report.trial, Action::checkpoint,
                         "to see whether trials save what they need to go on later"});
  }
  return decisions;
}

void Auto::on_checkpoint(TrialId id, bool saved) {
  if (stage_ != Stage::watching || probed_ != id) return;
  probed_.reset();
  if (!saved) return;
  stage_ = Stage::pausing;
  members_ = Portfolio();
  running_.clear();
  curves_->begin_pauses(id);
}

json Auto::save() const {
  json state = {{"members", members_.save()},
                {"turns", {{"proposed", proposed_}, {"losses", losses_.save()}}},
                {"running", running_}};
  if (!wants_reports_) return state;
  state["stage"] = static_cast<int>(stage_);
  if (curves_) state["curves"] = curves_->save();
  if (probed_) state["probed"] = *probed_;
  state["next_probe"] = next_probe_;
  return state;
}

Result<void> Auto::load(const json& state) {
  // A former version looked at no losses.
  const bool former = !state.contains("turns");
  const json turns = former ? state : TRY(object_at(state, "turns"));
  const auto proposed = TRY(integer_at(turns, "proposed"));
  LossSpan losses;
  if (!former) TRY(losses.load(turns, "losses"));
  if (proposed < 0 || proposed > kMostProposed) return fail("saved state: impossible proposed");
  auto running = TRY(trials_at(state, "running"));
  Stage stage = Stage::plain;
  std::optional<FreezeThaw> curves = curves_;
  std::optional<TrialId> probed;
  double next_probe = 1;
  // With several objectives or limits, a former version paused no trials and saved no stage.
  if (wants_reports_ && !state.contains("stage") && several_) {
    curves.reset();
  } else if (wants_reports_) {
    const auto number = TRY(integer_at(state, "stage"));
    if (number < 0 || number > static_cast<int>(Stage::pausing)) {
      return fail("saved state: impossible stage");
    }
    stage = static_cast<Stage>(number);
    next_probe = TRY(number_at(state, "next_probe"));
    if (state.contains("probed")) probed = TRY(integer_at(state, "probed"));
    if (stage == Stage::plain) {
      curves.reset();
    } else if (!curves) {
      return fail("saved state: impossible stage");
    } else {
      TRY(curves->load(TRY(object_at(state, "curves"))));
    }
  }
  if (stage == Stage::pausing) {
    members_ = Portfolio();
  } else {
    json members = TRY(object_at(state, "members"));
    // A former version had no evolution strategy, and with limits no local search: a new one hears
    // of what comes from now on.
    const std::string& newest = several_ ? turbo_entry.name : cma_es_entry.name;
    const json fresh = members_.save();
    if (fresh.contains(newest) && !members.contains(newest)) members[newest] = fresh[newest];
    TRY(members_.load(members));
  }
  proposed_ = proposed;
  losses_ = std::move(losses);
  running_ = std::move(running);
  stage_ = stage;
  curves_ = std::move(curves);
  probed_ = probed;
  next_probe_ = next_probe;
  return {};
}

}  // namespace
}  // namespace auto_tuner

extern const TunerEntry auto_tuner_entry = {
    .name = "auto",
    .aliases = {},
    .summary =
        "the default: Gaussian processes, a Parzen estimator and CMA-ES in turns, on every space",
    .arguments = {{.name = "max_t",
                   .type = Argument::Type::integer,
                   .fallback = nullptr,
                   .help =
                       "resource_attr at the end of a full training; then trials are paused and "
                       "resumed, as FreezeThaw does",
                   .low = 1,
                   .high = 1e9},
                  {.name = "resource_attr",
                   .type = Argument::Type::text,
                   .fallback = kTrainingIteration,
                   .help = "the metric that counts how far a trial is"},
                  {.name = "pause",
                   .type = Argument::Type::boolean,
                   .fallback = true,
                   .help =
                       "pause and resume trials that report resource_attr and save checkpoints"}},
    .maximizes = false,
    .make = auto_tuner::Auto::make};

}  // namespace attune
