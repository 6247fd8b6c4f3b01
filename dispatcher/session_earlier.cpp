#include <algorithm>

#include "dispatcher/session.h"

namespace attune {

void Session::set_earlier(std::vector<EarlierExperiment> earlier) {
  earlier_ = std::move(earlier);
  if (earlier_.empty() || tuner_->learns_from_earlier()) return;
  log_.warning("this tuner cannot learn from earlier experiments (learnFrom): {} are ignored",
               earlier_.size());
  earlier_.clear();
}

void Session::learn_from_earlier() {
  starts_.clear();
  if (earlier_.empty()) return;
  const std::vector<EarlierTask> tasks = tasks_in(*space_, earlier_, log_);
  if (!tasks.empty()) starts_ = tuner_->learn_from(tasks);
}

std::vector<Session::Ask> Session::give_starts(const std::vector<Ask>& asks, Replies& replies) {
  std::vector<Ask> others;
  for (const Ask& ask : asks) {
    while (started_ < starts_.size() && is_tried(starts_[started_])) ++started_;
    if (started_ >= starts_.size()) {
      others.push_back(ask);
      continue;
    }
    const Proposal proposal{.point = starts_[started_++]};
    tuner_->adopt(ask.id, proposal.point);
    replies.emplace_back(offer(ask, ask.id, proposal));
  }
  return others;
}

void Session::skip_ahead() {
  started_ = std::max(started_, starts_.size());
  tuner_->skip_ahead();
}

}  // namespace attune
