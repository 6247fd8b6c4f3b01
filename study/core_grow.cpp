// A study core without a search space: trials declare their parameters while they run.
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "base/rng.h"
#include "space/parse.h"
#include "space/sample.h"
#include "study/core.h"
#include "study/growing_space.h"

namespace attune {

// The parameters of a trial in a space that has grown: those that it has asked for, those that were
// proposed, and drawn ones. They are drawn anew each time, from the number of the trial alone, so
// that a replay draws the same.
json StudyCore::completed(TrialId id, const json& parameters, const json& declared,
                          const Space& space) const {
  const StudyTrial* const known = record(id);
  json drawn, whole = json::object();
  for (const auto& [name, ignored] : declared.items()) {
    if (known && known->parameters.contains(name)) {
      whole[name] = known->parameters[name];
    } else if (parameters.contains(name)) {
      whole[name] = parameters[name];
    } else {
      if (drawn.is_null()) {
        const std::string own = id == kImportedTrial ? dump_json(parameters) : fmt::to_string(id);
        Rng rng = Rng(seed_).fork(own);
        drawn = to_json(space, sample(space, rng));
      }
      whole[name] = drawn[name];
    }
  }
  return whole;
}

Result<void> StudyCore::declare(const json& added) {
  if (!grows()) {
    return fail(
        "the study has a search space, to which nothing can be added; make it with an "
        "empty one");
  }
  TRY(check_readable(added));
  json grown = TRY(merged(declared_, added));
  if (grown == declared_) return {};
  Space space = TRY(parse_space(grown));
  Effects effects = TRY(session_.set_space(space, [&](TrialId id, const json& parameters) {
    return completed(id, parameters, grown, space);
  }));
  declared_ = std::move(grown);
  space_ = std::move(space);
  no_more_.reset();
  take(std::move(effects.replies));
  carry_out(effects.decisions);
  for (auto& [id, trial] : trials_) {
    if (trial.record.state != TrialState::running) continue;
    auto now = session_.parameters(id);
    if (!now) {  // it began before there was any parameter
      now = completed(id, json::object(), declared_, space_);
      if (auto adopted = session_.adopt(id, *now)) take(std::move(adopted->replies));
    }
    trial.proposed.update(*now);
  }
  for (Suggestion& ready : ready_) {
    if (const auto now = session_.parameters(ready.id)) ready.parameters.update(*now);
  }
  add_event({.kind = Event::Kind::declare, .body = added});
  return {};
}

Result<json> StudyCore::suggest(TrialId id, const std::string& name, const json& declared) {
  Trial& trial = *TRY(live(id));
  json& parameters = trial.record.parameters;
  if (grows()) {
    const auto known = declared_.find(name);
    if (known == declared_.end() || *known != declared) {
      json one = json::object();
      one[name] = declared;
      TRY(declare(one));
    }
  }
  if (const auto found = parameters.find(name); found != parameters.end()) return *found;
  if (!grows()) {
    return fail(
        fmt::format("trial {} has no parameter \"{}\", because the search space of the "
                    "study lacks it; add it there, or make the study without a space",
                    id, name));
  }
  json value = fitted(trial.proposed[name], declared);
  if (const auto wish = trial.wished.find(name); wish != trial.wished.end()) {
    json one = json::object(), wished = json::object();
    one[name] = declared;
    wished[name] = *wish;
    const Space space = TRY(parse_space(one));
    auto point = point_from_json(space, wished);
    if (!point) {
      return fail(fmt::format("trial {}: its enqueued or given value cannot be used: {}", id,
                              point.error().message));
    }
    value = to_json(space, *point)[name];
  }
  take_value(id, trial, name, value);
  json body = json::object();
  body[name] = value;
  add_event({.kind = Event::Kind::suggest, .trial = id, .body = std::move(body)});
  return value;
}

Result<void> StudyCore::give(TrialId id, const std::string& name, const json& declared,
                             const json& value) {
  Trial& trial = *TRY(live(id));
  const json& parameters = trial.record.parameters;
  if (const auto found = parameters.find(name); found != parameters.end()) {
    if (*found == value) return {};
    return fail(fmt::format("trial {}: {} is {} already; a value is given before it is asked for",
                            id, name, dump_json(*found)));
  }
  const json former = trial.wished;
  trial.wished[name] = value;
  auto taken = suggest(id, name, declared);
  if (taken) return {};
  trial.wished = former;
  return std::unexpected(taken.error());
}

Result<void> StudyCore::repeat_suggestion(const Event& suggestion) {
  Trial& trial = *TRY(live(suggestion.trial));
  for (const auto& [name, value] : suggestion.body.items()) {
    take_value(suggestion.trial, trial, name, value);
  }
  add_event(suggestion);
  return {};
}

// The trial tries this value, which may be another one than the tuner has proposed: one that the
// user wants, or the nearest one in the trial's bounds. The tuner is to learn of the value that was
// tried.
void StudyCore::take_value(TrialId id, Trial& trial, const std::string& name, const json& value) {
  trial.record.parameters[name] = value;
  if (const auto found = trial.proposed.find(name); found == trial.proposed.end()) return;
  if (std::exchange(trial.proposed[name], value) == value) return;
  json tried = json::object();
  for (const auto& [known, ignored] : declared_.items()) tried[known] = trial.proposed[known];
  // An error: it is no point of the space, and the proposed one stays.
  std::ignore = session_.correct(id, tried);
}

// A trial with parameters of the user. Some may be missing, or not be declared yet.
Suggestion StudyCore::give_wished(const json& wished, int slot) {
  const TrialId id = next_id_++;
  json whole = completed(id, wished, declared_, space_);
  if (!declared_.empty()) {
    auto adopted = session_.adopt(id, whole);
    if (!adopted) {  // a value lies outside of what is declared so far: suggest() will tell
      whole = completed(id, json::object(), declared_, space_);
      adopted = session_.adopt(id, whole);
    }
    if (adopted) take(std::move(adopted->replies));
  }
  Suggestion given = give({id, std::move(whole)}, slot);
  trials_.at(id).wished = wished;
  return given;
}

}  // namespace attune
