// The point that the user wants to have tried first.
#include <algorithm>
#include <utility>

#include "dispatcher/session.h"
#include "space/first_point.h"

namespace attune {

// Returns the asks that are left.
std::vector<Session::Ask> Session::offer_first(std::vector<Ask> asks, Replies& replies) {
  if (asks.empty() || !std::exchange(first_due_, false)) return asks;
  const auto point = first_point(*space_);
  if (!point || is_tried(*point)) return asks;
  if (!space_->feasible(*point)) {
    log_.warning("the defaults of the search space break a constraint: they are not tried");
    return asks;
  }
  if (tuner_->begin_with(*point)) return asks;
  tuner_->adopt(asks.front().id, *point);
  replies.emplace_back(
      offer(asks.front(), asks.front().id, {.point = *point, .reason = "the default values"}));
  asks.erase(asks.begin());
  return asks;
}

bool Session::is_tried(const Point& point) const {
  return std::ranges::any_of(history_, [&](const Outcome& o) { return o.point == point; }) ||
         std::ranges::any_of(trials_, [&](const auto& one) { return one.second.point == point; });
}

}  // namespace attune
