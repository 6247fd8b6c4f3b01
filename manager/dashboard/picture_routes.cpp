// The routes that give numbers for pictures: columns, learning curves, importance, trade-offs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/curves.h"
#include "analysis/pareto.h"
#include "manager/cli/commands/importance.h"
#include "manager/control/schema.h"
#include "manager/dashboard/stored_curves.h"
#include "manager/dashboard/stored_view.h"

namespace attune {
namespace {

constexpr std::int64_t kUsualRows = 65'536, kMostRows = 131'072;
constexpr std::size_t kReadAtOnce = 16'384;  // new trials in one call, so that none takes long
constexpr std::size_t kMostCurves = 50;
// Trials of which importance is computed; of so many a forest takes a few seconds.
constexpr std::int64_t kEvidence = 100'000, kForest = 20'000;

ApiResult columns(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  TrialColumns& kept = call.view.columns(found);
  const bool more = TRY(kept.update(found.reader, found.experiment, kReadAtOnce));
  const std::int64_t total = TRY(found.reader.next_sequence(found.experiment));
  return HttpResponse::text(
      200, "application/octet-stream",
      kept.changes(call.query.value("after", ""),
                   static_cast<std::size_t>(call.query.value("limit", kUsualRows)), more, total));
}

// "3,17,4": numbers of trials. Error: 400.
std::expected<std::vector<std::int64_t>, ApiError> numbers_in(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto [stop, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (stop != end && *stop != ',') || stop + 1 == end)
      return std::unexpected(ApiError(400, "?trials: write numbers of trials, as in 3,17,4"));
    at = stop == end ? end : stop + 1;
  }
  if (numbers.size() > kMostCurves)
    return std::unexpected(
        ApiError(400, fmt::format("?trials: at most {} trials at once", kMostCurves)));
  return numbers;
}

json curve_json(std::int64_t trial, const std::vector<PlotPoint>& points) {
  json steps = json::array(), values = json::array();
  for (const PlotPoint& point : thinned(points, kCurvePoints)) {
    steps.push_back(point.x);
    values.push_back(point.y);
  }
  return {{"trial", trial}, {"steps", steps}, {"values", values}};
}

json band_json(const std::vector<std::vector<PlotPoint>>& curves) {
  json steps = json::array(), low = steps, middle = steps, high = steps, count = steps;
  for (const BandPoint& point : band(curves, kBandPoints)) {
    steps.push_back(point.x);
    low.push_back(point.low);
    middle.push_back(point.middle);
    high.push_back(point.high);
    count.push_back(point.curves);
  }
  if (steps.empty()) return nullptr;
  return {{"steps", steps}, {"low", low}, {"middle", middle}, {"high", high}, {"curves", count}};
}

ApiResult curves(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  std::vector<std::int64_t> wanted = TRY(numbers_in(call.query.value("trials", "")));
  const std::string metric = call.query.value("metric", found.experiment.objective().metric);
  const std::int64_t best = call.query.value("best", std::int64_t{0});
  if (best > 0) {
    for (const TrialRecord& trial : TRY(found.reader.best(found.experiment, best)))
      if (std::ranges::find(wanted, trial.sequence) == wanted.end())
        wanted.push_back(trial.sequence);
  }
  const StoredCurves stored(found.experiment, metric);
  json list = json::array();
  for (const std::int64_t number : wanted)
    list.push_back(curve_json(number, TRY(stored.curve(found.reader, number))));
  json answer = {
      {"metric", metric}, {"best", best}, {"curves", list}, {"band", nullptr}, {"of", 0}};
  if (call.query.value("band", false)) {
    const auto sample = TRY(stored.sample(found.reader, kBandTrials));
    answer["band"] = band_json(sample);
    answer["of"] = sample.size();
  }
  return json_answer(answer);
}

ApiResult importance(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  const std::string method = call.query.value("method", "ped-anova");
  const ImportanceQuestion question{.method = method,
                                    .metric = call.query.value("metric", ""),
                                    .pairs = call.query.value("pairs", false),
                                    .most = method == "fanova" ? kForest : kEvidence};
  auto answer = importance_json(found.reader, found.experiment, question);
  // Too few results yet, or a search space that only the tuner can read.
  if (!answer) return std::unexpected(ApiError(409, answer.error().message));
  return json_answer(*answer);
}

ApiResult front(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  std::vector<Standing> standings;
  std::vector<std::int64_t> numbers;
  TrialFilter filter;
  filter.statuses = {TrialStatus::succeeded};
  TRY(found.reader.trials(found.experiment, filter, [&](const TrialRecord& trial) {
    if (auto standing = standing_of(trial.final_metric, found.experiment.objectives)) {
      standings.push_back(*std::move(standing));
      numbers.push_back(trial.sequence);
    }
    return true;
  }));
  const ParetoHistory history = pareto_history(standings);
  json trials = json::array(), results = json::array(), volume = results, sizes = results;
  for (const std::size_t index : history.front) trials.push_back(numbers[index]);
  for (const Coverage& step : history.steps) {
    results.push_back(step.results);
    volume.push_back(step.volume);
    sizes.push_back(step.front);
  }
  json metrics = json::array();
  for (const Objective& objective : found.experiment.objectives)
    if (!objective.limit) metrics.push_back(objective.metric);
  return json_answer({{"metrics", metrics},
                      {"front", trials},
                      {"coverage", {{"results", results}, {"volume", volume}, {"front", sizes}}}});
}

ApiResult posterior(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  if (!call.query.contains("x"))
    return std::unexpected(ApiError(400, "?x: name a parameter of the search space"));
  const PosteriorQuestion question{.x = call.query.value("x", ""),
                                   .y = call.query.value("y", ""),
                                   .metric = call.query.value("metric", ""),
                                   .at = call.query.value("at", "")};
  auto answer = call.view.posterior().slice(found.reader, found.experiment, question);
  // Too few results yet, or nothing that a model could say of this parameter.
  if (!answer) return std::unexpected(ApiError(409, answer.error().message));
  return json_answer(*answer);
}

}  // namespace

std::vector<Route> picture_routes() {
  const json metric = text_schema("An objective; without it the first.");
  return {
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/columns",
       .summary = "The trials as columns of numbers: those that changed since a cursor",
       .query = {{"after", text_schema("`next` of the answer before; without it all.")},
                 {"limit",
                  with_default(integer_schema("At most so many rows.", 1, kMostRows), kUsualRows)}},
       .answer = "application/octet-stream",
       .call = columns},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/curves",
       .summary = "Learning curves of some trials, and the band in which the others lie",
       .query = {{"trials", text_schema("Numbers of trials, as in 3,17,4.")},
                 {"best", integer_schema("The best so many, too.", 0,
                                         static_cast<std::int64_t>(kMostCurves))},
                 {"band", flag_schema("The band, too.")},
                 {"metric", metric}},
       .heavy = true,
       .call = curves},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/importance",
       .summary = "How much each parameter matters",
       .query = {{"method",
                  with_default(word_schema("How it is computed.", {"ped-anova", "fanova"}),
                               "ped-anova")},
                 {"metric", metric},
                 {"pairs", flag_schema("Pairs of parameters, too; only by fanova.")}},
       .heavy = true,
       .call = importance},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/front",
       .summary = "The trade-offs, and how much they covered over time",
       .heavy = true,
       .call = front},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/posterior",
       .summary = "What a Gaussian process expects along one parameter, or over two",
       .query = {{"x", text_schema("A parameter.")},
                 {"y", text_schema("Another parameter.")},
                 {"metric", metric},
                 {"at", text_schema("The trial that fixes the other parameters; without it the "
                                    "best.")}},
       .heavy = true,
       .call = posterior},
  };
}

}  // namespace attune
