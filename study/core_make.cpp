// Makes a study core, and takes in what does not come from its own asks: enqueued points, imported
// results, the trials of a file.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "space/constraint.h"
#include "space/parse.h"
#include "study/core.h"

namespace attune {
namespace {

Result<json> directed(const Algorithm& algorithm, bool maximize, std::string_view what) {
  const std::string mode = maximize ? "maximize" : "minimize";
  json arguments = algorithm.arguments.is_null() ? json::object() : algorithm.arguments;
  if (!arguments.is_object()) return arguments;  // the registry says what is wrong
  json& given = arguments["optimize_mode"];
  if (!given.is_null() && given != mode) {
    return fail("options." + std::string(what) + ": the study is to " + mode +
                ", but the optimize_mode of " + algorithm.name + " is " + dump_json(given));
  }
  given = mode;
  return arguments;
}

Result<void> positive(std::optional<int> number, std::string_view name) {
  if (number && *number < 1) return fail("options." + std::string(name) + ": must be at least 1");
  return {};
}

// `maximize` is the direction of the metric "default". Beside objectives it may only agree with
// them.
Result<void> one_direction(const StudyOptions& options) {
  if (!options.maximize || options.objectives.empty() || options.objectives.front().maximize) {
    return {};
  }
  return fail("options.maximize: the study is to minimize \"" + options.objectives.front().metric +
              "\", as options.objectives say");
}

Error at(const std::string& where, const Error& error) { return {where + ": " + error.message}; }

Result<void> check_readable(const std::string& where, const json& value) {
  if (auto fits = attune::check_readable(value); !fits) {
    return std::unexpected(at(where, fits.error()));
  }
  return {};
}

Result<void> check_objectives(const std::vector<Objective>& objectives) {
  if (objectives.front().limit) {
    return fail("options.objectives[0].limit: the first objective is what trials are ranked by");
  }
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const Objective& objective = objectives[i];
    const std::string where = "options.objectives[" + std::to_string(i) + "]";
    if (objective.metric.empty()) return fail(where + ".metric: empty");
    if (objective.limit && !std::isfinite(*objective.limit)) {
      return fail(where + ".limit: a finite number expected");
    }
    const auto same = [&](const Objective& other) { return other.metric == objective.metric; };
    if (std::any_of(objectives.begin(), objectives.begin() + static_cast<std::ptrdiff_t>(i),
                    same)) {
      return fail(where + ": \"" + objective.metric + "\" is an objective already");
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<StudyCore>> StudyCore::make(const json& space_json,
                                                   const StudyOptions& options,
                                                   const TunerRegistry& tuners,
                                                   const AssessorRegistry& assessors) {
  TRY(positive(options.max_trials, "max_trials"));
  TRY(positive(options.concurrency, "concurrency"));
  TRY(one_direction(options));
  TRY(check_readable("search_space", space_json));
  TRY(check_readable("options.tuner", options.tuner.arguments));
  if (options.assessor) TRY(check_readable("options.assessor", options.assessor->arguments));
  Space space = TRY(parse_space(space_json));
  const bool grows = space_json.is_object() && space_json.empty();
  if (grows && !options.constraints.empty()) {
    return fail("options.constraints: need a search space with the parameters that they name");
  }
  TRY(set_constraints(space, options.constraints));
  Context context{options.max_trials, options.concurrency, options.objectives};
  if (context.objectives.empty()) context.objectives = {{"default", options.maximize}};
  TRY(check_objectives(context.objectives));
  const bool maximize = context.objectives.front().maximize;
  MadeTuner made =
      TRY(make_tuner(tuners, options.tuner.name, TRY(directed(options.tuner, maximize, "tuner")),
                     context, options.seed));
  std::unique_ptr<Assessor> assessor;
  if (options.assessor) {
    assessor = TRY(make_assessor(assessors, options.assessor->name,
                                 TRY(directed(*options.assessor, maximize, "assessor")), context,
                                 made.seed));
  }
  const std::uint64_t seed = made.seed;
  std::unique_ptr<StudyCore> core(new StudyCore(std::move(made), std::move(context.objectives),
                                                std::move(assessor), space, options.max_trials,
                                                seed));
  if (grows) {
    core->declared_ = json::object();
  } else {
    TRY(core->session_.set_space(std::move(space)));
  }
  for (std::size_t i = 0; i < options.initial_points.size(); ++i) {
    if (auto known = core->enqueue(options.initial_points[i]); !known) {
      return std::unexpected(
          at("options.initial_points[" + std::to_string(i) + "]", known.error()));
    }
  }
  core->events_.clear();  // the options hold the initial points already
  return core;
}

Result<void> StudyCore::enqueue(const json& parameters) {
  TRY(attune::check_readable(parameters));
  if (grows()) {
    if (!parameters.is_object()) return fail("parameters must be an object");
  } else if (!space_.feasible(TRY(tuner_.point_from(space_, parameters)))) {
    return fail(dump_json(parameters) + " breaks a constraint of the search space");
  }
  enqueued_.push_back(parameters);
  add_event({.kind = Event::Kind::enqueue, .body = parameters});
  return {};
}

Result<void> StudyCore::import(const std::vector<std::pair<json, json>>& results) {
  std::vector<Session::Imported> records;
  json body = json::array();
  for (const auto& [given, value] : results) {
    const std::string where = "results[" + std::to_string(records.size()) + "]";
    TRY(check_readable(where, given));
    json parameters = given;
    if (grows()) {
      if (!given.is_object()) return fail(where + ": parameters must be an object");
      for (const auto& [name, ignored] : given.items()) {
        if (!declared_.contains(name))
          return fail(where + ": nothing has declared \"" + name + "\"");
      }
      parameters = completed(kImportedTrial, given, declared_, space_);
    }
    if (auto point = tuner_.point_from(space_, parameters); !point) {
      return std::unexpected(at(where, point.error()));
    }
    auto known = read(value);
    if (!known) return std::unexpected(at(where, known.error()));
    body.push_back({{"parameters", given}, {"value", known->stored}});
    records.push_back({.parameters = std::move(parameters),
                       .value = std::move(known->stored),
                       .index = records.size()});
  }
  no_more_.reset();
  take(session_.import(records));
  add_event({.kind = Event::Kind::import, .body = std::move(body)});
  return {};
}

Result<void> StudyCore::adopt(const Event& ask) {
  for (const json& trial : ask.body) {
    const TrialId id = trial["id"].get<TrialId>();
    const json& parameters = trial["parameters"];
    const StudyTrial* known = record(id);
    if (known && known->state != TrialState::paused) {
      return fail("trial " + std::to_string(id) + " was asked for before");
    }
    if (!known && !(grows() && declared_.empty())) TRY(session_.adopt(id, parameters));
    const json wished = grows() ? trial.value("wished", json::object()) : parameters;
    if (!enqueued_.empty() && enqueued_.front() == wished) enqueued_.pop_front();
    give({id, parameters}, ask.slot);
    if (grows()) trials_.at(id).wished = wished;
    next_id_ = std::max(next_id_, id + 1);
  }
  add_event(ask);
  return {};
}

}  // namespace attune
