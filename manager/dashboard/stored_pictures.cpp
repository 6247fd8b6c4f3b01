#include "manager/dashboard/stored_pictures.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "analysis/curves.h"
#include "analysis/pareto.h"
#include "analysis/posterior.h"
#include "manager/cli/commands/importance.h"
#include "manager/cli/commands/searched_space.h"
#include "manager/dashboard/experiment_facts.h"
#include "manager/dashboard/shown_runs.h"
#include "manager/dashboard/stored_curves.h"
#include "manager/store/stored_values.h"
#include "plots/pictures.h"

namespace attune {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kSlices = 6;

struct Subject {
  StoreReader& reader;
  const StoredExperiment& experiment;
  const PictureQuestion& question;
  const plots::PageSettings& page;
  Objective objective;

  std::string title() const {
    return experiment.name.empty() ? "experiment " + experiment.id : experiment.name;
  }
  plots::Objective shown() const { return {objective.metric, objective.maximize}; }
  plots::Scale scale() const {
    return question.log ? plots::Scale::logarithmic : plots::Scale::linear;
  }
  double result_of(const TrialRecord& trial) const {
    const bool first = objective.metric == experiment.objective().metric;
    return reported_value(trial.final_metric, objective.metric, first).value_or(kNoValue);
  }
  Result<void> succeeded(const std::function<void(const TrialRecord&)>& each) const {
    TrialFilter filter;
    filter.statuses = {TrialStatus::succeeded};
    return reader.trials(experiment, filter, [&](const TrialRecord& trial) {
      each(trial);
      return true;
    });
  }
};

// An axis of a parameter, without values.
plots::Column column_of(const Param& param) {
  plots::Column column{.name = param.path, .values = {}};
  if (const auto* uniform = std::get_if<Uniform>(&param.domain); uniform && uniform->log)
    column.scale = plots::Scale::logarithmic;
  if (const auto* normal = std::get_if<Normal>(&param.domain); normal && normal->log)
    column.scale = plots::Scale::logarithmic;
  if (const auto* choice = std::get_if<Choice>(&param.domain))
    column.names = choice_texts(choice->candidates);
  return column;
}

Result<std::string> history(const Subject& subject) {
  plots::History picture{
      .title = subject.title(), .objective = subject.shown(), .trials = {}, .results = {}};
  picture.scale = subject.scale();
  TRY(subject.succeeded([&](const TrialRecord& trial) {
    picture.trials.push_back(static_cast<double>(trial.sequence));
    picture.results.push_back(subject.result_of(trial));
    const auto standing = standing_of(trial.final_metric, subject.experiment.objectives);
    picture.broken.push_back(!standing || standing->violation > 0);
  }));
  return plots::picture(picture, subject.page);
}

plots::Curve curve_of(std::string name, const std::vector<PlotPoint>& points) {
  plots::Curve curve{.name = std::move(name), .steps = {}, .values = {}};
  for (const PlotPoint& point : thinned(points, kCurvePoints)) {
    curve.steps.push_back(point.x);
    curve.values.push_back(point.y);
  }
  return curve;
}

Result<std::string> curves(const Subject& subject) {
  plots::Curves picture{.title = subject.title(), .objective = subject.shown()};
  picture.scale = subject.scale();
  const StoredCurves stored(subject.experiment, subject.objective.metric);
  const auto count = static_cast<std::int64_t>(subject.question.best);
  for (const TrialRecord& trial : TRY(subject.reader.best(subject.experiment, count)))
    picture.best.push_back(
        curve_of(trial.job_id, TRY(stored.curve(subject.reader, trial.sequence))));
  const auto sample = TRY(stored.sample(subject.reader, kBandTrials));
  for (const BandPoint& point : band(sample, kBandPoints)) {
    picture.band.steps.push_back(point.x);
    picture.band.low.push_back(point.low);
    picture.band.middle.push_back(point.middle);
    picture.band.high.push_back(point.high);
  }
  return plots::picture(picture, subject.page);
}

Result<std::string> parallel(const Subject& subject) {
  const Space space = TRY(searched_space(subject.experiment));
  plots::Parallel picture{.title = subject.title(), .parameters = {}, .results = {}};
  for (const Param& param : space.params) picture.parameters.push_back(column_of(param));
  picture.results = {.name = subject.objective.metric, .values = {}, .scale = subject.scale()};
  picture.maximise = subject.objective.maximize;
  TRY(subject.succeeded([&](const TrialRecord& trial) {
    const auto values = known_values(space, without_budget(space, trial.proposed.parameters));
    for (std::size_t i = 0; i < values.size(); ++i)
      picture.parameters[i].values.push_back(values[i]);
    picture.results.values.push_back(subject.result_of(trial));
  }));
  return plots::picture(picture, subject.page);
}

Result<std::string> importance(const Subject& subject) {
  const ImportanceQuestion question{.method = subject.question.method,
                                    .metric = subject.objective.metric};
  const StoredEvidence stored =
      TRY(stored_evidence(subject.reader, subject.experiment, subject.objective.metric));
  const JudgedImportance judged = judged_importance(stored.evidence, question);
  plots::Importance picture{.title = subject.title(), .shares = {}};
  for (const auto& [name, share] : judged.shares.alone)
    picture.shares.push_back({.name = name, .share = share});
  return plots::picture(picture, subject.page);
}

// A model, and what its pictures need besides.
struct Model {
  StoredEvidence stored;
  Posterior posterior;

  double sign() const { return stored.objective.maximize ? -1 : 1; }
  const Space& space() const { return stored.evidence.space; }
  Result<std::size_t> index_of(const std::string& path) const {
    const auto found = std::ranges::find(space().params, path, &Param::path);
    if (found == space().params.end())
      return fail(fmt::format("the search space has no parameter {}", path));
    return static_cast<std::size_t>(found - space().params.begin());
  }
  // The results as reported, and a parameter of the trials.
  std::vector<double> results() const {
    std::vector<double> all;
    for (const double result : stored.evidence.results) all.push_back(sign() * result);
    return all;
  }
  std::vector<double> values(std::size_t parameter) const {
    std::vector<double> all;
    for (const Point& point : stored.evidence.points) all.push_back(point.values[parameter]);
    return all;
  }
  std::vector<double> mean(const PosteriorSlice& slice) const {
    std::vector<double> all;
    for (const double value : slice.mean) all.push_back(sign() * value);
    return all;
  }
};

Result<Model> model_of(const Subject& subject) {
  StoredEvidence stored =
      TRY(stored_evidence(subject.reader, subject.experiment, subject.objective.metric));
  Posterior posterior = TRY(Posterior::fit(stored.evidence));
  return Model{std::move(stored), std::move(posterior)};
}

// The parameters that were asked for, else those that matter most and are active at the best.
std::vector<std::string> parameters_of(const Subject& subject, const Model& model,
                                       std::size_t most) {
  if (!subject.question.parameters.empty()) return subject.question.parameters;
  std::vector<std::string> names;
  for (const auto& [name, share] : judged_importance(model.stored.evidence, {}).shares.alone) {
    if (names.size() < most && model.posterior.slice(name, model.posterior.best()))
      names.push_back(name);
  }
  return names;
}

Result<std::string> slice(const Subject& subject) {
  const Model model = TRY(model_of(subject));
  plots::Slice picture{.title = subject.title(), .objective = subject.shown(), .panels = {}};
  const Point& best = model.posterior.best();
  for (const std::string& name : parameters_of(subject, model, kSlices)) {
    const std::size_t index = TRY(model.index_of(name));
    const PosteriorSlice along = TRY(model.posterior.slice(name, best));
    plots::Slice::Panel panel{.parameter = column_of(model.space().params[index]),
                              .mean = model.mean(along),
                              .deviation = along.deviation,
                              .trials = model.values(index),
                              .results = model.results(),
                              .at = best.values[index]};
    panel.parameter.values = along.x.values;
    picture.panels.push_back(std::move(panel));
  }
  if (picture.panels.empty()) return fail("no parameter of the best trial varies");
  return plots::picture(picture, subject.page);
}

Result<std::string> contour(const Subject& subject) {
  const Model model = TRY(model_of(subject));
  const std::vector<std::string> names = parameters_of(subject, model, 2);
  if (names.size() != 2) return fail("a contour is over two parameters: name them by -p");
  const std::size_t x = TRY(model.index_of(names[0])), y = TRY(model.index_of(names[1]));
  const Point& best = model.posterior.best();
  const PosteriorSlice grid = TRY(model.posterior.grid(names[0], names[1], best));
  plots::Contour picture{.title = subject.title(),
                         .objective = subject.shown(),
                         .x = column_of(model.space().params[x]),
                         .y = column_of(model.space().params[y]),
                         .mean = model.mean(grid),
                         .trials_x = model.values(x),
                         .trials_y = model.values(y),
                         .best = {best.values[x], best.values[y]}};
  picture.x.values = grid.x.values;
  picture.y.values = grid.y.values;
  return plots::picture(picture, subject.page);
}

// The lanes of one place: trials that ran there at the same time are in different ones.
class Lanes {
 public:
  std::size_t lane_for(const ShownRun& run) {
    const double begin = run.began + overlap_slack(run);
    const auto free = std::ranges::find_if(until_, [&](double time) { return time <= begin; });
    const auto lane = static_cast<std::size_t>(free - until_.begin());
    if (free == until_.end()) until_.push_back(0);
    until_[lane] = std::isnan(run.ended) ? std::numeric_limits<double>::infinity() : run.ended;
    return lane;
  }
  std::size_t count() const { return until_.size(); }

 private:
  std::vector<double> until_;
};

// "w7"; of several GPUs a place for each: "w7 gpu 0", "w7 gpu 1".
std::vector<std::string> places_of(const ShownRun& run) {
  std::vector<std::string> places;
  for (std::size_t begin = 0; begin <= run.gpus.size();) {
    const std::size_t end = std::min(run.gpus.find(',', begin), run.gpus.size());
    places.push_back(place_text(run.worker, run.gpus.substr(begin, end - begin)));
    begin = end + 1;
  }
  return places;
}

// "w2" before "w10", and what has no place at the end.
struct PlaceOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    if (a.empty() != b.empty()) return b.empty();
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  }
};

// All runs of an experiment, in the order of their beginnings.
Result<std::vector<ShownRun>> all_runs(const Subject& subject) {
  struct Outcome {
    TrialStatus status = TrialStatus::running;
    double end = 0;
  };
  std::map<std::int64_t, Outcome> outcomes;  // of those that have started
  std::vector<ShownRun> all;
  std::vector<TrialRun> runs;  // of one trial
  const auto finish = [&] {
    if (runs.empty()) return;
    const Outcome& of = outcomes[runs.front().trial];
    std::ranges::move(shown_runs(of.status, of.end, runs), std::back_inserter(all));
    runs.clear();
  };
  TRY(subject.reader.consistently([&]() -> Result<void> {
    TRY(subject.reader.trials(subject.experiment, {}, [&](const TrialRecord& trial) {
      if (trial.start_time != 0) outcomes[trial.sequence] = {trial.status, trial.end_time};
      return true;
    }));
    return subject.reader.runs(subject.experiment, {}, [&](const TrialRun& run) {
      if (!runs.empty() && runs.front().trial != run.trial) finish();
      runs.push_back(run);
      return true;
    });
  }));
  finish();
  std::ranges::stable_sort(all, {}, &ShownRun::began);
  return all;
}

Result<std::string> timeline(const Subject& subject) {
  const std::vector<ShownRun> runs = TRY(all_runs(subject));
  struct Bar {
    const ShownRun* run;
    Lanes* place;
    std::size_t lane;  // of its place
  };
  std::vector<Bar> bars;
  std::map<std::string, Lanes, PlaceOrder> places;
  for (const ShownRun& run : runs) {
    for (const std::string& place : places_of(run)) {
      Lanes& lanes = places[place];
      bars.push_back({&run, &lanes, lanes.lane_for(run)});
    }
  }
  plots::Timeline picture;
  picture.title = subject.title();
  for (const TrialStatus status : kTrialStatuses)
    picture.state_names.push_back(status_word(status));
  std::map<const Lanes*, std::size_t> first;  // lane of a place
  for (const auto& [place, lanes] : places) {
    first[&lanes] = picture.lane_names.size();
    for (std::size_t i = 1; i <= lanes.count(); ++i)
      picture.lane_names.push_back(place.empty() ? fmt::format("{}", i)
                                   : i == 1      ? place
                                                 : fmt::format("{} ({})", place, i));
  }
  const double zero = subject.experiment.started;
  for (const auto& [run, place, lane] : bars) {
    picture.started.push_back(run->began - zero);
    picture.ended.push_back(run->ended - zero);
    picture.lanes.push_back(first[place] + lane);
    picture.states.push_back(static_cast<std::size_t>(run->status));
    picture.now = std::fmax(picture.now, std::fmax(run->began - zero, run->ended - zero));
  }
  return plots::picture(picture, subject.page);
}

Result<std::string> front(const Subject& subject) {
  const std::vector<Objective>& objectives = subject.experiment.objectives;
  if (objectives.size() < 2)
    return fail(
        fmt::format("experiment {} has one objective; a front needs two", subject.experiment.id));
  plots::Front picture{.title = subject.title(), .objectives = {}, .results = {}, .front = {}};
  for (const Objective& objective : objectives) {
    picture.objectives.push_back({objective.metric, objective.maximize});
    picture.limits.push_back(objective.limit.value_or(kNoValue));
  }
  picture.results.resize(objectives.size());
  std::vector<Standing> standings;
  TRY(subject.succeeded([&](const TrialRecord& trial) {
    auto standing = standing_of(trial.final_metric, objectives);
    if (!standing) return;
    standings.push_back(*std::move(standing));
    for (std::size_t i = 0; i < objectives.size(); ++i)
      picture.results[i].push_back(
          reported_value(trial.final_metric, objectives[i].metric, i == 0).value_or(kNoValue));
  }));
  picture.front = pareto_history(standings).front;
  return plots::picture(picture, subject.page);
}

struct Kind {
  std::string_view name;
  Result<std::string> (*draw)(const Subject& subject);
};
constexpr std::array kKinds = {Kind{"history", history},   Kind{"curves", curves},
                               Kind{"parallel", parallel}, Kind{"importance", importance},
                               Kind{"slice", slice},       Kind{"contour", contour},
                               Kind{"timeline", timeline}, Kind{"front", front}};

}  // namespace

std::vector<std::string_view> picture_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

Result<std::string> stored_picture(StoreReader& reader, const StoredExperiment& experiment,
                                   const PictureQuestion& question,
                                   const plots::PageSettings& page) {
  const auto kind = std::ranges::find(kKinds, question.kind, &Kind::name);
  if (kind == kKinds.end())
    return fail(fmt::format("there is no picture {}; there are: {}", question.kind,
                            fmt::join(picture_kinds(), ", ")));
  const Objective objective = TRY(find_objective(experiment, question.metric));
  return kind->draw({reader, experiment, question, page, objective});
}

}  // namespace attune
