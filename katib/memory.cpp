#include "katib/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "katib/reported_trial.h"
#include "katib/trial_name.h"

namespace attune::katib {
namespace {

using namespace api::v1::beta1;

constexpr std::int32_t kMostRequested = 10'000;
constexpr std::size_t kImportedAtOnce = 500;  // their JSON is short-lived, and not small

std::int64_t accepted_by(const GetSuggestionsRequest& request) {
  return std::max<std::int64_t>(
      0, std::int64_t{request.total_request_number()} - request.current_request_number());
}

Result<void> check_numbers(const GetSuggestionsRequest& request) {
  const std::int32_t current = request.current_request_number();
  if (current < 0 || current > kMostRequested) {
    return fail(fmt::format("current_request_number: from 0 to {} expected, not {}", kMostRequested,
                            current));
  }
  if (request.total_request_number() < 0) {
    return fail(fmt::format("total_request_number: 0 or more expected, not {}",
                            request.total_request_number()));
  }
  return {};
}

}  // namespace

std::unique_ptr<Memory> Memory::make(const Plan& plan, const json& saved,
                                     const Surroundings& surroundings) {
  std::unique_ptr<Memory> memory(new Memory(surroundings));
  if (!saved.is_null()) {
    auto loaded = memory->load(plan, saved);
    if (!loaded) {
      surroundings.log.warning("the saved memory of {} is not used: {}", plan.experiment,
                               loaded.error().message);
      memory.reset(new Memory(surroundings));
    }
  }
  memory->identity_ = plan.identity;
  memory->experiment_ = plan.experiment;
  return memory;
}

void Memory::forget() {
  engine_.reset();
  open_.clear();
  open_names_.clear();
  open_values_.clear();
  known_.clear();
  next_ = begun_at_ = accepted_ = deleted_ = unknown_ = 0;
}

void Memory::add_open(std::int64_t number, Open open) {
  open_names_.emplace(trial_name(experiment_, number, open.values), number);
  open_values_.emplace(open.values, number);
  open_.emplace(number, std::move(open));
  next_ = std::max(next_, number + 1);
}

TrialId Memory::take_open(Proposals::iterator at) {
  const auto& [number, open] = *at;
  open_names_.erase(trial_name(experiment_, number, open.values));
  open_values_.erase({open.values, number});
  const TrialId id = open.id;
  open_.erase(at);
  return id;
}

// Whether the request knows of proposals that this memory does not know of: others were made after
// it was saved, or instead of what it remembers.
bool Memory::out_of_date(const Plan& plan, const Request& request,
                         const std::optional<Echo>& echo) const {
  if (!engine_) return true;
  // The experiment was deleted, and one of the same name was made.
  if (request.trials().empty() && accepted_by(request) == 0 && !known_.empty()) return true;
  if (echo && echo->next > next_) return true;
  if (echo) {
    for (const auto& [number, values] : echo->open) {
      const auto mine = open_.find(number);
      if (mine != open_.end() && mine->second.values != values) return true;
    }
  }
  return std::ranges::any_of(request.trials(), [&](const Trial& trial) {
    if (known_.contains(trial.name()) || open_names_.contains(trial.name())) return false;
    const auto number = number_in(experiment_, trial.name());
    return number && *number >= begun_at_ &&
           is_ours(experiment_, trial.name(), values_of(plan, trial));
  });
}

// Whether there is a memory that fits the request: this one, or the one in the echo.
bool Memory::recall(const Plan& plan, const Request& request, const std::optional<Echo>& echo) {
  if (!out_of_date(plan, request, echo)) return true;
  if (!echo || echo->memory.is_null()) return false;
  const auto loaded = load(plan, echo->memory);
  if (!loaded) {
    surroundings_.log.warning("{}: the memory in the setting {} is not used: {}", experiment_,
                              kEchoSetting, loaded.error().message);
  }
  return loaded && !out_of_date(plan, request, echo);
}

// Makes everything anew, from the trials of the request and the open proposals of the echo.
Result<void> Memory::begin(const Plan& plan, const Request& request,
                           const std::optional<Echo>& echo) {
  std::int64_t next = std::max(echo ? echo->next : 0, accepted_by(request));
  for (const Trial& trial : request.trials()) {
    const auto number = number_in(experiment_, trial.name());
    if (number) next = std::max(next, *number + 1);
  }
  // Another part for each number, so that what a lost memory has proposed is not drawn again.
  auto engine = TRY(Engine::make(plan, surroundings_.tuners, hash_of(plan.identity),
                                 static_cast<std::uint64_t>(next), nullptr, surroundings_.log));
  forget();
  engine_ = std::move(engine);
  next_ = begun_at_ = next;
  accepted_ = accepted_by(request);
  if (echo) {
    for (const auto& [number, values] : echo->open) {
      const auto id = engine_->adopt(parameters_of(plan, values));
      if (id) add_open(number, {*id, values});
    }
  }
  learn(plan, request.trials());
  unknown_ = std::max<std::int64_t>(0, unnamed() - std::ssize(open_));
  if (next > 0) {
    surroundings_.log.info("{}: remembered from the request: {} trials, {} proposals without one",
                           experiment_, known_.size(), open_.size());
  }
  return {};
}

// By Katib's numbers: how many accepted proposals are not the trial of any request so far.
std::int64_t Memory::unnamed() const {
  return std::max<std::int64_t>(0, accepted_ - (std::ssize(known_) - deleted_));
}

// The open proposal that has become this trial, if there is one.
Memory::Proposals::iterator Memory::find_open(const Plan& plan, const Trial& trial) {
  const auto by_name = open_names_.find(trial.name());
  if (by_name != open_names_.end()) return open_.find(by_name->second);
  if (open_.empty()) return open_.end();
  // Katib has named it: a version that does not use our names. The oldest proposal comes first.
  const Values values = values_of(plan, trial);
  const auto by_values = open_values_.lower_bound({values, 0});
  const bool found = by_values != open_values_.end() && by_values->first == values;
  return found ? open_.find(by_values->second) : open_.end();
}

// A trial that was not in a request before. A result of one that was not proposed here is left to
// be imported.
Memory::Known Memory::meet(const Plan& plan, const Trial& trial, Results& results) {
  const auto proposed = find_open(plan, trial);
  if (proposed != open_.end()) return {take_open(proposed)};
  if (unknown_ > 0) --unknown_;
  if (trial.status().condition() == TrialStatus::SUCCEEDED) {
    if (!metrics_of(plan, trial).is_null()) {
      results.push_back(&trial);
      return {.told = true};
    }
  }
  return {engine_->adopt(parameters_of(plan, values_of(plan, trial)))};
}

void Memory::learn(const Plan& plan, const Trials& trials) {
  std::vector<std::pair<const Trial*, TrialId>> ended;
  Results results;
  for (const Trial& trial : trials) {
    const auto [at, is_new] = known_.try_emplace(trial.name());
    Known& known = at->second;
    if (is_new) known = meet(plan, trial, results);
    if (known.told || !has_ended(trial)) continue;
    known.told = true;
    if (known.id) ended.emplace_back(&trial, *known.id);
  }
  // After all adoptions, which are slower the more ends the session knows.
  for (const auto& [trial, id] : ended) tell_end(plan, *trial, id);
  import(plan, results);
}

void Memory::import(const Plan& plan, const Results& results) {
  std::vector<std::pair<json, json>> imported;
  for (const Trial* trial : results) {
    imported.emplace_back(parameters_of(plan, values_of(plan, *trial)), metrics_of(plan, *trial));
    if (imported.size() == kImportedAtOnce) engine_->import(std::exchange(imported, {}));
  }
  engine_->import(std::move(imported));
}

void Memory::tell_end(const Plan& plan, const Trial& trial, TrialId id) {
  json value = metrics_of(plan, trial);
  switch (trial.status().condition()) {
    case TrialStatus::SUCCEEDED:
      return engine_->complete(id, value);
    case TrialStatus::EARLYSTOPPED:
      if (!value.is_null()) return engine_->stop(id, value);
      return engine_->end(id, End::stopped);
    case TrialStatus::KILLED:  // by somebody: this says nothing of the values
      return engine_->end(id, End::stopped);
    default:
      return engine_->end(id, End::failed);
  }
}

Result<Memory::Reply> Memory::answer(const Plan& plan, const Request& request,
                                     const std::function<bool()>& cancelled) {
  TRY(check_numbers(request));
  const std::optional<Echo> echo = read_echo(plan);
  if (!recall(plan, request, echo)) {
    TRY(begin(plan, request, echo));
  } else {
    learn(plan, request.trials());
    const std::int64_t accepted = accepted_by(request);
    deleted_ += std::max<std::int64_t>(0, accepted_ - accepted);
    accepted_ = accepted;
    // More was accepted than this memory has proposed.
    if (!echo && unnamed() > std::ssize(open_) + unknown_) TRY(begin(plan, request, echo));
  }
  // What Katib has not accepted is offered again, before anything new.
  auto offer = open_.begin();
  if (echo) {
    offer = open_.lower_bound(echo->next);
  } else {
    const std::int64_t taken = std::clamp<std::int64_t>(unnamed() - unknown_, 0, std::ssize(open_));
    std::advance(offer, taken);
  }
  const auto count = static_cast<std::size_t>(request.current_request_number());
  const auto left = static_cast<std::size_t>(std::distance(offer, open_.end()));
  std::int64_t number = offer == open_.end() ? next_ : offer->first;
  if (count > left) {
    for (Offered& fresh : engine_->ask(plan, count - left, cancelled)) {
      add_open(next_, {fresh.id, std::move(fresh.values)});
    }
  }
  Reply reply;
  for (auto at = open_.lower_bound(number);
       at != open_.end() && reply.parameter_assignments_size() < request.current_request_number();
       ++at) {
    auto& one = *reply.add_parameter_assignments();
    one.set_trial_name(trial_name(experiment_, at->first, at->second.values));
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
      auto& assignment = *one.add_assignments();
      assignment.set_name(plan.parameters[i].name());
      assignment.set_value(at->second.values[i]);
    }
    number = at->first + 1;
  }
  if (reply.parameter_assignments_size() < request.current_request_number()) {
    return fail("the call was cancelled");
  }
  reply.mutable_algorithm()->set_algorithm_name(
      request.experiment().spec().algorithm().algorithm_name());
  write_echo(reply, number);
  return reply;
}

}  // namespace attune::katib
