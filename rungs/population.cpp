#include "rungs/population.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/saved_numbers.h"

namespace attune {
namespace {

bool is_ready(Population::Status status) {
  return status == Population::Status::waiting || status == Population::Status::paused;
}

}  // namespace

Population::Population(PopulationRule rule)
    : rule_(rule), next_sync_(std::max(rule.interval, rule.burn_in)) {}

Population::Member Population::add() {
  const Member member = members_.size();
  members_.emplace_back();
  live_.insert({0, member});
  ready_.insert({0, member});
  return member;
}

void Population::place(Member member, Status status, double trained) {
  State& state = members_[member];
  live_.erase({state.trained, member});
  ready_.erase({state.trained, member});
  state.status = status;
  state.trained = trained;
  if (status != Status::ended) live_.insert({trained, member});
  if (is_ready(status)) ready_.insert({trained, member});
}

void Population::set_status(Member member, Status status) {
  if (members_[member].status != Status::ended) place(member, status, members_[member].trained);
}

Population::Step Population::report(Member member, double resource, double loss, const Draw& draw) {
  Step step;
  State& state = members_[member];
  if (state.status != Status::running || resource < rule_.burn_in ||
      resource - state.perturbed < rule_.interval) {
    return step;
  }
  step.recorded = true;
  state.loss = std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
  state.has_loss = true;
  ranks_.set(member, state.loss);
  place(member, state.status, resource);
  if (rule_.synchronous) {
    if (!others_are_behind(member)) round(resource, draw, step);
    step.verdict = state.status == Status::paused ? Verdict::exploited : Verdict::pause;
    return step;
  }
  state.perturbed = resource;
  step.judged = true;
  // Others wait for the place of this one.
  step.verdict = ready_.empty() ? Verdict::keep_going : Verdict::pause;
  checkpoint_or_exploit(member, quantile(), draw, step);
  if (state.status == Status::paused) step.verdict = Verdict::exploited;
  return step;
}

Population::Step Population::end(Member member, const Draw& draw) {
  Step step;
  ranks_.erase(member);
  place(member, Status::ended, members_[member].trained);
  const bool complete = !live_.empty() && live_.begin()->first >= next_sync_;
  if (rule_.synchronous && complete) round(live_.rbegin()->first, draw, step);
  return step;
}

bool Population::others_are_behind(Member member) const {
  auto first = live_.begin();
  if (first != live_.end() && first->second == member) ++first;
  return first != live_.end() && first->first < next_sync_;
}

std::size_t Population::behind() const {
  return static_cast<std::size_t>(
      std::distance(live_.begin(), live_.lower_bound({next_sync_, Member{0}})));
}

// The best come first, so that their states are saved before others copy them.
void Population::round(double resource, const Draw& draw, Step& step) {
  step.judged = true;
  const std::size_t count = quantile();
  std::vector<Member> order = ranks_.best(count);
  for (Member member = 0; member < members_.size(); ++member) {
    if (members_[member].status == Status::ended) continue;
    if (!ranks_.is_best(member, count) && !ranks_.is_worst(member, count)) order.push_back(member);
  }
  for (const Member member : ranks_.worst(count)) order.push_back(member);
  for (const Member member : order) {
    members_[member].perturbed = resource;
    checkpoint_or_exploit(member, count, draw, step);
  }
  const double farthest = live_.rbegin()->first;
  next_sync_ = std::max(next_sync_ + rule_.interval, farthest);
  if (live_.begin()->first < next_sync_) return;
  // A small interval may vanish in the sum.
  next_sync_ = std::max(farthest + rule_.interval, std::nextafter(farthest, HUGE_VAL));
}

// Of the states of one trial only the newest is kept, so a trial can be copied as long as it was
// among the best at its own last judgement.
void Population::checkpoint_or_exploit(Member member, std::size_t count, const Draw& draw,
                                       Step& step) {
  State& state = members_[member];
  state.saved = ranks_.is_best(member, count);
  if (state.saved) step.saved.push_back(member);
  if (!ranks_.is_worst(member, count)) return;
  const auto drawn = draw(member, count);
  if (!drawn) return;
  const Member donor = ranks_.best_at(*drawn, count);
  const State& from = members_[donor];
  if (!from.saved || !std::isfinite(from.loss)) return;
  step.exploits.push_back({member, donor});
  state.perturbed = from.perturbed;
  place(member, Status::paused, from.trained);
}

std::optional<Population::Member> Population::next() const {
  if (ready_.empty()) return std::nullopt;
  const auto& [trained, member] = *ready_.begin();
  if (rule_.synchronous && trained >= next_sync_) return std::nullopt;
  return member;
}

json Population::save() const {
  std::vector<double> numbers;  // six each
  for (const State& state : members_) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(state.status), state.has_loss ? 1.0 : 0.0,
                    state.saved ? 1.0 : 0.0, state.loss, state.trained, state.perturbed});
  }
  return {{"members", save_numbers(numbers)}, {"next_sync", save_numbers(std::array{next_sync_})}};
}

Result<void> Population::load(const json& state) {
  const auto numbers = TRY(numbers_at(state, "members"));
  const auto next_sync = TRY(numbers_at(state, "next_sync"));
  const auto is_resource = [](double x) { return std::isfinite(x) && x >= 0; };
  if (numbers.size() % 6 != 0 || next_sync.size() != 1 || !is_resource(next_sync[0])) {
    return fail("saved state: not the numbers of a population");
  }
  constexpr double kStatuses = static_cast<double>(Status::ended) + 1;
  Population loaded(rule_);
  for (auto n = numbers.begin(); n != numbers.end(); n += 6) {
    if (!is_index(n[0], kStatuses) || !is_index(n[1], 2) || !is_index(n[2], 2) ||
        std::isnan(n[3]) || !is_resource(n[4]) || !is_resource(n[5])) {
      return fail("saved state: an impossible member of a population");
    }
    const Member member = loaded.add();
    const auto status = static_cast<Status>(n[0]);
    loaded.place(member, status, n[4]);
    State& one = loaded.members_[member];
    one.has_loss = n[1] == 1;
    one.saved = n[2] == 1;
    one.loss = n[3];
    one.perturbed = n[5];
    if (one.has_loss && status != Status::ended) loaded.ranks_.set(member, one.loss);
  }
  loaded.next_sync_ = next_sync[0];
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
