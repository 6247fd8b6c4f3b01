#include "dispatcher/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dispatcher/metrics.h"

namespace attune {
namespace {

// A request for a million trials is answered in pieces: the tuner sees at most this many ids.
constexpr std::size_t kAskAtOnce = 256;

void append(Replies& all, Replies more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Session::Session(std::unique_ptr<Tuner> tuner, Objective objective, Log log)
    : tuner_(std::move(tuner)), objective_(std::move(objective)), log_(std::move(log)) {}

Result<Replies> Session::set_space(Space space) {
  TRY(tuner_->set_space(space));
  const std::optional<Space> old = std::exchange(space_, std::move(space));
  if (old) {
    auto moved = [&](const Point& point) {
      return tuner_->point_from(*space_, tuner_->parameters(*old, point));
    };
    std::vector<Outcome> kept;
    for (Outcome& outcome : history_) {
      if (auto point = moved(outcome.point)) {
        outcome.point = *std::move(point);
        kept.push_back(std::move(outcome));
      }
    }
    log_.info("new search space: {} of {} results carry over", kept.size(), history_.size());
    history_ = std::move(kept);
    if (!history_.empty()) tuner_->tell(history_);
    for (auto& [id, trial] : trials_) {
      if (!trial.point) continue;
      auto point = moved(*trial.point);
      trial.point = point ? std::optional(*std::move(point)) : std::nullopt;
      if (trial.point && !trial.told) tuner_->adopt(id, *trial.point);
    }
  }
  return answer_pending();
}

Replies Session::request(TrialId first, std::int64_t count) {
  Replies replies;
  bool announced = false;
  for (std::int64_t done = 0; done < count;) {
    std::vector<Ask> asks;
    for (; done < count && asks.size() < kAskAtOnce; ++done) {
      asks.push_back({first + done, first, announced});
    }
    Replies more = answer(std::move(asks));
    announced |= std::ranges::any_of(
        more, [](const Reply& reply) { return std::holds_alternative<NoMore>(reply); });
    append(replies, std::move(more));
  }
  return replies;
}

Replies Session::answer_pending() {
  Replies replies;
  if (!pending_.empty()) replies = answer(std::exchange(pending_, {}));
  return replies;
}

Replies Session::answer(std::vector<Ask> asks) {
  Replies replies;
  if (!space_) {
    pending_.insert(pending_.end(), asks.begin(), asks.end());
    return replies;
  }
  std::vector<TrialId> ids;
  for (const Ask& ask : asks) ids.push_back(ask.id);
  const std::vector<Answer> answers = tuner_->ask(ids);
  ATTUNE_CHECK(answers.size() == asks.size());
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (const auto* proposal = std::get_if<Proposal>(&answers[i])) {
      replies.emplace_back(accept(asks[i], *proposal));
    } else if (std::holds_alternative<Exhausted>(answers[i])) {
      announce_no_more(asks[i], asks, replies);
    }
  }
  std::vector<Ask> waiting;  // collected last: an announcement marks asks on both sides of it
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (std::holds_alternative<NotYet>(answers[i])) waiting.push_back(asks[i]);
  }
  if (!waiting.empty() && untold_ == 0) {
    log_.error("the tuner waits although no trial is running: taken as no more trials");
    for (const Ask& ask : waiting) announce_no_more(ask, waiting, replies);
    waiting.clear();
  }
  pending_.insert(pending_.end(), waiting.begin(), waiting.end());
  return replies;
}

Offer Session::accept(const Ask& ask, const Proposal& proposal) {
  Offer offer{ask.id, proposal.resume.value_or(ask.id), tuner_->parameters(*space_, proposal.point),
              proposal.checkpoint_from};
  if (proposal.budget) offer.parameters["TRIAL_BUDGET"] = *proposal.budget;
  auto [at, is_new] = trials_.try_emplace(offer.trial);
  at->second.point = proposal.point;
  at->second.budget = proposal.budget;
  if (is_new) ++untold_;
  return offer;
}

// Marks the request's other asks, so that it is announced once even when answered in pieces.
void Session::announce_no_more(const Ask& ask, std::vector<Ask>& others, Replies& replies) {
  if (ask.announced) return;
  replies.emplace_back(NoMore{ask.request});
  for (Ask& other : others) other.announced |= other.request == ask.request;
}

Replies Session::final_result(TrialId id, const json& value) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) {
    log_.warning(
        "final result of trial {} ignored: it is not running (unknown, ended, or not ours)", id);
    return {};
  }
  Trial& trial = found->second;
  if (trial.told) {
    log_.warning("final result of trial {} ignored: it had one before", id);
    return {};
  }
  Outcome outcome{.trial = id, .end = End::completed, .budget = trial.budget};
  if (auto metrics = to_metrics(value)) {
    outcome.metrics = *std::move(metrics);
    outcome.loss = loss_of(outcome.metrics);
  } else {
    log_.warning("final result of trial {}: {}", id, metrics.error().message);
  }
  if (!outcome.loss) {
    outcome.end = End::diverged;
    log_.warning("trial {} is told as diverged: no finite \"{}\"", id, objective_.metric);
  }
  return conclude(trial, std::move(outcome));
}

Session::Reported Session::report(const Report& report) {
  Reported result;
  if (!trials_.contains(report.trial)) return result;
  result.decisions = tuner_->on_report(report);
  result.replies = answer_pending();
  return result;
}

Replies Session::trial_end(TrialId id, End end) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) {
    log_.debug("end of trial {} ignored: not running, or not proposed here", id);
    return {};
  }
  Replies replies;
  if (!found->second.told) {
    replies =
        conclude(found->second, Outcome{.trial = id, .end = end, .budget = found->second.budget});
  }
  trials_.erase(id);
  return replies;
}

Replies Session::conclude(Trial& trial, Outcome outcome) {
  trial.told = true;
  --untold_;
  if (!trial.point) {
    log_.info("result of trial {} not used: it does not fit the present search space",
              outcome.trial);
    return answer_pending();
  }
  outcome.point = *trial.point;
  tuner_->tell(std::span(&outcome, 1));
  history_.push_back(std::move(outcome));
  return answer_pending();
}

std::optional<double> Session::loss_of(const Metrics& metrics) const {
  const auto value = finite_metric(metrics, objective_.metric);
  if (!value) return std::nullopt;
  return objective_.maximize ? -*value : *value;
}

Replies Session::import(const std::vector<Imported>& records) {
  if (!space_) {
    log_.error("{} imported results ignored: there is no search space yet", records.size());
    return {};
  }
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto point = tuner_->point_from(*space_, records[i].parameters);
    auto metrics = to_metrics(records[i].value);
    const auto loss = metrics ? loss_of(*metrics) : std::nullopt;
    if (!point || !metrics || !loss) {
      log_.warning("imported result {} of {} left out: {}", i, records.size(),
                   !point     ? point.error().message
                   : !metrics ? metrics.error().message
                              : "the metric is not finite");
      continue;
    }
    outcomes.push_back({.trial = kImportedTrial,
                        .point = *std::move(point),
                        .loss = loss,
                        .metrics = *std::move(metrics),
                        .end = End::imported});
  }
  log_.info("imported {} of {} results", outcomes.size(), records.size());
  if (outcomes.empty()) return {};
  tuner_->tell(outcomes);
  history_.insert(history_.end(), std::make_move_iterator(outcomes.begin()),
                  std::make_move_iterator(outcomes.end()));
  return answer_pending();
}

Result<void> Session::adopt(TrialId id, const json& parameters) {
  if (!space_) return fail("there is no search space yet");
  if (trials_.contains(id)) return fail("trial " + std::to_string(id) + " runs already");
  Point point = TRY(tuner_->point_from(*space_, parameters));
  tuner_->adopt(id, point);
  trials_.emplace(id, Trial{.point = std::move(point), .budget = {}, .told = false});
  ++untold_;
  return {};
}

}  // namespace attune
