#include "rungs/population_syne.h"

#include <cmath>
#include <limits>

#include "base/saved_numbers.h"

namespace attune {

SynePopulation::Member SynePopulation::add() {
  members_.emplace_back();
  return members_.size() - 1;
}

SynePopulation::Step SynePopulation::report(Member member, double resource, double loss,
                                            const Draw& draw) {
  State& state = members_[member];
  if (state.ended) return {};
  if (rule_.max_resource && resource >= *rule_.max_resource) {
    end(member);
    return {.verdict = Verdict::complete};
  }
  if (resource - state.judged < rule_.interval) return {};
  state.judged = resource;
  state.loss = std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
  state.has_loss = true;
  ranks_.set(member, state.loss);
  const std::size_t count = ranks_.count(rule_.fraction);
  if (!ranks_.is_worst(member, count)) return {};
  const Member donor = ranks_.best_at(draw(count), count);
  if (!std::isfinite(members_[donor].loss)) return {};
  const Step step{.verdict = Verdict::exploit,
                  .donor = donor,
                  .rank = ranks_.rank(member),
                  .of = ranks_.size(),
                  .worst = count,
                  .donor_rank = ranks_.rank(donor)};
  end(member);
  return step;
}

void SynePopulation::end(Member member) {
  members_[member].ended = true;
  ranks_.erase(member);
}

json SynePopulation::save() const {
  std::vector<double> numbers;  // four each
  for (const State& state : members_) {
    numbers.insert(numbers.end(),
                   {state.ended ? 1.0 : 0.0, state.has_loss ? 1.0 : 0.0, state.loss, state.judged});
  }
  return {{"members", save_numbers(numbers)}};
}

Result<void> SynePopulation::load(const json& state) {
  const auto numbers = TRY(numbers_at(state, "members"));
  if (numbers.size() % 4 != 0) return fail("saved state: not the numbers of a population");
  SynePopulation loaded(rule_);
  for (auto n = numbers.begin(); n != numbers.end(); n += 4) {
    if (!is_index(n[0], 2) || !is_index(n[1], 2) || std::isnan(n[2]) || !std::isfinite(n[3])) {
      return fail("saved state: an impossible member of a population");
    }
    const Member member = loaded.add();
    loaded.members_[member] = {
        .ended = n[0] == 1, .has_loss = n[1] == 1, .loss = n[2], .judged = n[3]};
    if (n[1] == 1 && n[0] == 0) loaded.ranks_.set(member, n[2]);
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
