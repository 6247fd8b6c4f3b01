#include "rungs/pasha.h"

#include <algorithm>

#include "base/saved_numbers.h"

namespace attune {

void PashaRanking::insert(double upper, std::uint64_t order, double lower) {
  const std::size_t a = upper_.insert({upper, order, lower});
  const std::size_t b = lower_.insert({lower, order, lower});
  // Between its two ranks the others have moved by one in one of the two orders only.
  const auto [low, high] = std::minmax(a, b);
  if (first_ == end_) {
    first_ = low;
    end_ = high + 1;
  } else {
    first_ = std::min(first_, low);
    end_ = std::max(end_ + 1, high + 1);
  }
}

bool PashaRanking::stable(double epsilon) {
  // A smaller epsilon may change the verdict anywhere.
  if (epsilon < epsilon_) {
    first_ = 0;
    end_ = upper_.size();
  }
  epsilon_ = epsilon;
  if (first_ == end_) return true;
  const auto upper = upper_.copy(first_, end_ - 1), lower = lower_.copy(first_, end_ - 1);
  for (std::size_t i = 0; i < upper.size(); ++i) {
    const double loss = upper[i].lower, expected = lower[i].lower;
    if (loss > expected + epsilon || loss < expected - epsilon) return false;
  }
  first_ = end_ = 0;
  return true;
}

Pasha::Pasha(const PromotionRungs& rungs, std::size_t objectives) : rankings_(objectives) {
  place(rungs, 1, rungs.size() < 2);
}

// Compares rung `top` with the one below it from now on.
void Pasha::place(const PromotionRungs& rungs, std::size_t top, bool is_last) {
  top_ = top;
  is_last_ = is_last;
  limit_ = rungs.level(is_last ? rungs.size() : top);
  if (rungs.size() < 2) return;
  for (Ranking& one : rankings_) {
    one.noise.set_window(static_cast<double>(rungs.level(top - 1)),
                         static_cast<double>(rungs.level(top)));
    one.ranking = {};
  }
  for (const auto& [trial, place] : rungs.places(top)) enter(rungs, top, trial);
}

// Failures and broken limits say nothing of the noise: such trials are left out.
void Pasha::enter(const PromotionRungs& rungs, std::size_t rung, TrialId trial) {
  if (is_last_ || rung != top_) return;
  const auto* upper = rungs.place(rung, trial);
  const auto* lower = rungs.place(rung - 1, trial);
  if (!upper || !lower || upper->value.violation > 0 || lower->value.violation > 0) return;
  if (rankings_.size() == 1) {
    rankings_[0].ranking.insert(upper->value.loss, upper->order, lower->value.loss);
    return;
  }
  for (std::size_t i = 0; i < rankings_.size(); ++i) {
    rankings_[i].ranking.insert(upper->values[i], upper->order, lower->values[i]);
  }
}

void Pasha::report(TrialId trial, double resource, std::span<const double> losses) {
  for (std::size_t i = 0; i < rankings_.size(); ++i) {
    rankings_[i].noise.report(trial, resource, losses[i]);
  }
}

void Pasha::end(TrialId trial) {
  for (Ranking& one : rankings_) one.noise.end(trial);
}

bool Pasha::stable() {
  return std::ranges::all_of(rankings_,
                             [](Ranking& one) { return one.ranking.stable(one.noise.epsilon()); });
}

bool Pasha::grow(const PromotionRungs& rungs) {
  if (is_last_ || stable()) return false;
  if (top_ + 1 < rungs.size()) {
    place(rungs, top_ + 1, false);
  } else {
    is_last_ = true;
    limit_ = rungs.level(rungs.size());
  }
  return true;
}

json Pasha::save() const {
  json noise = json::array();
  for (const Ranking& one : rankings_) noise.push_back(one.noise.save());
  return {{"top", top_}, {"is_last", is_last_}, {"noise", std::move(noise)}};
}

Result<void> Pasha::load(const json& state, const PromotionRungs& rungs) {
  const auto top = TRY(integer_at(state, "top"));
  const json is_last = TRY(value_at(state, "is_last"));
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(rungs.size(), 2));
  if (top < 1 || top >= most || !is_last.is_boolean()) {
    return fail("saved state: PASHA compares rungs that are not there");
  }
  const bool at_end = is_last.get<bool>();
  if ((rungs.size() < 2 && !at_end) || (at_end && rungs.size() >= 2 && top != most - 1)) {
    return fail("saved state: PASHA compares rungs that are not there");
  }
  const json noise = TRY(array_at(state, "noise"));
  if (noise.size() != rankings_.size())
    return fail("saved state: PASHA needs the noise it measured");
  Pasha loaded(rungs, rankings_.size());
  loaded.place(rungs, static_cast<std::size_t>(top), at_end);
  for (std::size_t i = 0; i < noise.size(); ++i) TRY(loaded.rankings_[i].noise.load(noise[i]));
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
