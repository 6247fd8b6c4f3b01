#include "dispatcher/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dispatcher/metrics.h"

namespace attune {

void append(Replies& all, Replies more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

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

Replies Session::request(TrialId first, std::int64_t count, TrialId request) {
  Replies replies = end_doubtful();
  if (pending_.empty() && !announced_.contains(request)) announced_.clear();
  std::vector<Ask> asks;
  for (std::int64_t i = 0; i < count; ++i) asks.push_back({first + i, request});
  append(replies, answer(std::move(asks)));
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
  std::vector<Ask> waiting;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (const auto* proposal = std::get_if<Proposal>(&answers[i])) {
      replies.emplace_back(accept(asks[i], *proposal));
    } else if (std::holds_alternative<Exhausted>(answers[i])) {
      announce_no_more(asks[i], replies);
    } else {
      waiting.push_back(asks[i]);
    }
  }
  if (!waiting.empty() && untold_ == 0) {
    log_.error("the tuner waits although no trial is running: taken as no more trials");
    for (const Ask& ask : waiting) announce_no_more(ask, replies);
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

// Once a request, though its asks are answered in pieces and at different times.
void Session::announce_no_more(const Ask& ask, Replies& replies) {
  if (announced_.insert(ask.request).second) replies.emplace_back(NoMore{ask.request});
}

// A trial that something is heard of; nothing when it has ended, or is not ours.
Session::Trial* Session::live(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return nullptr;
  found->second.in_doubt = false;
  return &found->second;
}

Replies Session::final_result(TrialId id, const json& value) {
  Trial* const known = live(id);
  if (!known) {
    log_.warning(
        "final result of trial {} ignored: it is not running (unknown, ended, or not ours)", id);
    return {};
  }
  Trial& trial = *known;
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
  if (!live(report.trial)) return result;
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

}  // namespace attune
