#include "katib/engine.h"

#include <algorithm>

#include "base/saved_numbers.h"
#include "dispatcher/metrics.h"
#include "dispatcher/repeating_tuner.h"
#include "katib/settings.h"
#include "space/parse.h"
#include "space/sample.h"

namespace attune::katib {
namespace {

// Of a large request; between two pieces it can be cancelled.
constexpr std::size_t kPiece = 64;
constexpr TrialId kLargestId = TrialId{1} << 52;
// Engines that begin later in an experiment get seeds that are this far away from each other.
constexpr std::uint64_t kSeeds = std::uint64_t{1} << 53;

StoppedRule rule_of(const Objective& objective) {
  return {.assume = StoppedTrials::last, .objectives = {objective}};
}

}  // namespace

Engine::Engine(MadeTuner made, const Objective& objective, Space space, Rng rng, Log log)
    : session_(make_repeating(std::move(made.tuner)), objective, log, false, rule_of(objective)),
      space_(std::move(space)),
      rng_(rng),
      log_(std::move(log)) {}

Result<std::unique_ptr<Engine>> Engine::make(const Plan& plan, const TunerRegistry& tuners,
                                             std::uint64_t seed, std::uint64_t part,
                                             const json& saved, Log log) {
  Space space = TRY(parse_space(plan.search_space));
  json arguments = plan.tuner_arguments;
  json& given = arguments["seed"];
  if (given.is_number()) seed = given.get<std::uint64_t>();
  if (part > 0) seed = Rng(seed).fork("part " + std::to_string(part))();
  given = seed % kSeeds;
  const Context context{plan.max_trials, plan.concurrency, {plan.objective}};
  MadeTuner made = TRY(make_tuner(tuners, plan.tuner, arguments, context, 0));
  if (made.wants_reports) {
    return fail(algorithm_name(plan.tuner) +
                ": with these settings it needs reports of running trials, which Katib does not "
                "send");
  }
  const Rng rng = Rng(made.seed).fork("drawn");
  std::unique_ptr<Engine> engine(
      new Engine(std::move(made), plan.objective, space, rng, std::move(log)));
  if (saved.is_null()) {
    TRY(engine->session_.set_space(std::move(space)));
  } else {
    TRY(engine->load(saved));
  }
  return engine;
}

void Engine::take(Replies replies) {
  for (Reply& reply : replies) {
    if (auto* offer = std::get_if<Offer>(&reply)) {
      --waiting_;
      ready_.emplace_back(offer->trial, std::move(offer->parameters));
    } else {
      // It does not say how many asks it answers. Those that still wait are answered all the same.
      waiting_ = 0;
      no_more_ = true;
    }
  }
  waiting_ = std::max<std::int64_t>(waiting_, 0);
}

std::vector<Offered> Engine::ask(const Plan& plan, std::size_t count,
                                 const std::function<bool()>& cancelled) {
  while (ready_.size() < count && !cancelled()) fill_up(std::min(count, ready_.size() + kPiece));
  std::vector<Offered> offered;
  while (offered.size() < count && !ready_.empty()) {
    offered.push_back({ready_.front().first, values_of(plan, ready_.front().second)});
    ready_.pop_front();
  }
  return offered;
}

// Until so many are ready: from the tuner, and where it gives none, drawn.
void Engine::fill_up(std::size_t count) {
  const std::int64_t more = static_cast<std::int64_t>(count - ready_.size()) - waiting_;
  if (more > 0 && !no_more_) {
    const TrialId first = next_id_;
    next_id_ += more;
    waiting_ += more;
    take(session_.request(first, more));
  }
  while (ready_.size() < count) draw();
}

void Engine::draw() {
  const TrialId id = next_id_++;
  json parameters = to_json(space_, sample(space_, rng_));
  auto adopted = session_.adopt(id, parameters);
  if (adopted) {
    take(std::move(adopted->replies));
  } else {
    log_.error("a drawn point is not taken: {}", adopted.error().message);
  }
  ready_.emplace_back(id, std::move(parameters));
}

std::optional<TrialId> Engine::adopt(const json& parameters) {
  const TrialId id = next_id_++;
  auto adopted = session_.adopt(id, parameters);
  if (!adopted) {
    log_.warning("a trial that was not proposed here is ignored: {}", adopted.error().message);
    return std::nullopt;
  }
  take(std::move(adopted->replies));
  return id;
}

void Engine::complete(TrialId trial, const json& value) {
  no_more_ = false;
  take(session_.final_result(trial, value));
  take(session_.trial_end(trial, End::completed));
}

void Engine::stop(TrialId trial, const json& value) {
  no_more_ = false;
  if (auto metrics = to_metrics(value, session_.objective().metric)) {
    session_.stopped_early(trial, *metrics, *metrics);
  }
  take(session_.trial_end(trial, End::stopped));
}

void Engine::end(TrialId trial, End end) {
  no_more_ = false;
  take(session_.trial_end(trial, end));
}

void Engine::import(std::vector<std::pair<json, json>> results) {
  if (results.empty()) return;
  no_more_ = false;
  std::vector<Session::Imported> records;
  records.reserve(results.size());
  for (auto& [parameters, value] : results) {
    // has_job: each is a trial of its own, also where two have the same values.
    records.push_back({.parameters = std::move(parameters),
                       .value = std::move(value),
                       .has_job = true,
                       .index = records.size()});
  }
  take(session_.import(records));
}

json Engine::save() const {
  json ready = json::array();
  for (const auto& [id, parameters] : ready_) ready.push_back({id, parameters});
  json state = {{"next_id", next_id_},
                {"waiting", waiting_},
                {"no_more", no_more_},
                {"ready", std::move(ready)},
                {"rng", to_json(rng_)}};
  state["session"] = session_.save();
  return state;
}

Result<void> Engine::load(const json& state) {
  const json ready = TRY(array_at(state, "ready"));
  for (const json& each : ready) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_number_integer()) {
      return fail("saved state: a proposal is an id and parameters");
    }
    TRY(point_from_json(space_, each[1]));
    ready_.emplace_back(each[0].get<TrialId>(), each[1]);
  }
  next_id_ = TRY(integer_at(state, "next_id"));
  waiting_ = TRY(integer_at(state, "waiting"));
  no_more_ = TRY(boolean_at(state, "no_more"));
  if (next_id_ < 0 || next_id_ > kLargestId || waiting_ < 0 || waiting_ > next_id_) {
    return fail("saved state: an impossible number of proposals");
  }
  rng_ = TRY(rng_from_json(TRY(value_at(state, "rng"))));
  return session_.load(space_, TRY(object_at(state, "session")));
}

}  // namespace attune::katib
