#include "rungs/sync_brackets_evolution.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/saved_numbers.h"

namespace attune {

// So many parents has a child.
static constexpr std::size_t kParents = 3;

EvolutionBrackets::EvolutionBrackets(RungSizes first, std::size_t brackets,
                                     std::vector<std::size_t> widths, double factor)
    : first_(std::move(first)),
      cycle_(brackets),
      widths_(std::move(widths)),
      factor_(factor),
      brackets_(nested_brackets(first_, cycle_), SyncBrackets::Promotes::first_bracket),
      completed_(first_.size()) {}

std::size_t EvolutionBrackets::dimensions() const {
  return std::accumulate(widths_.begin(), widths_.end(), std::size_t{0});
}

// The bracket with offset b of a cycle lacks the b lowest levels.
std::size_t EvolutionBrackets::level_index(const Place& place) const {
  return place.rung + static_cast<std::size_t>(place.bracket) % brackets_.cycle();
}

// Who stands in the slot at this level, in the last earlier bracket where somebody does.
std::optional<TrialId> EvolutionBrackets::earlier(std::int64_t bracket, std::size_t level,
                                                  std::size_t slot) const {
  while (--bracket >= 0) {
    const std::size_t offset = static_cast<std::size_t>(bracket) % brackets_.cycle();
    if (level < offset) continue;
    if (const auto one = brackets_.standing({bracket, level - offset, slot})) return one->trial;
  }
  return std::nullopt;
}

std::optional<TrialId> EvolutionBrackets::target(const Place& place) const {
  return earlier(place.bracket, level_index(place), place.slot);
}

std::optional<EvolutionBrackets::Job> EvolutionBrackets::take(bool may_open, bool fresh) {
  const auto place = brackets_.take(may_open, fresh);
  if (!place) return std::nullopt;
  Job job{.place = *place, .kind = Kind::evolve};
  if (const auto trial = brackets_.trial_at(*place)) {
    job.kind = Kind::go_on;
    job.trial = *trial;
  } else if (place->rung == 0 && !target(*place)) {
    job.kind = Kind::fresh;
  }
  return job;
}

// In a first rung: those in the same rung of the bracket before. Else: the best of the rung below,
// as many as the rung has slots. If these are fewer than three, all that have completed the level
// join them, and then those of the other levels, the highest first.
std::vector<std::optional<TrialId>> EvolutionBrackets::pool(const Place& place) const {
  std::vector<std::optional<TrialId>> all;
  const std::size_t level = level_index(place);
  const std::size_t slots = brackets_.slots(place.bracket, place.rung);
  if (place.rung == 0) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      all.push_back(earlier(place.bracket, level, slot));
    }
  } else {
    std::vector<double> losses;
    const std::size_t below = brackets_.slots(place.bracket, place.rung - 1);
    const auto standing = [&](std::size_t slot) {
      return brackets_.standing({place.bracket, place.rung - 1, slot});
    };
    for (std::size_t slot = 0; slot < below; ++slot) {
      const auto one = standing(slot);
      losses.push_back(one ? one->loss : NAN);
    }
    for (const std::size_t slot : best_slots(losses, slots)) {
      const auto one = standing(slot);
      all.push_back(one ? std::optional(one->trial) : std::nullopt);
    }
  }
  const auto join = [&](std::size_t l) {
    all.insert(all.end(), completed_[l].begin(), completed_[l].end());
  };
  if (all.size() < kParents) join(level);
  for (std::size_t l = completed_.size(); l-- > 0 && all.size() < kParents;) {
    if (l != level) join(l);
  }
  return all;
}

// At least one trial is known.
const EvolutionBrackets::Vector& EvolutionBrackets::any_vector(EvolutionDraws& draws) const {
  const auto index = static_cast<std::ptrdiff_t>(draws.any(known_.size()));
  return std::next(known_.begin(), index)->second.x;
}

EvolutionBrackets::Vector EvolutionBrackets::offspring(const Place& place,
                                                       EvolutionDraws& draws) const {
  const auto parents = pool(place);
  Vector mutant(dimensions(), NAN);
  if (parents.size() >= kParents) {
    std::array<const Vector*, kParents> x{};
    const auto positions = draws.parents(parents.size());
    for (std::size_t i = 0; i < kParents; ++i) {
      const auto& trial = parents[positions[i]];
      x[i] = trial ? &known_.at(*trial).x : &any_vector(draws);
    }
    for (std::size_t d = 0; d < mutant.size(); ++d) {
      mutant[d] = ((*x[1])[d] - (*x[2])[d]) * factor_ + (*x[0])[d];
    }
  }
  // NaN, too: after many failures there may be no three parents.
  for (double& x : mutant) {
    if (!(x >= 0 && x <= 1)) x = draws.uniform();
  }
  const auto with = target(place);
  Vector child = with ? known_.at(*with).x : any_vector(draws);
  const std::vector<bool> from_mutant = draws.crossover(widths_.size());
  std::size_t d = 0;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    for (std::size_t k = 0; k < widths_[i]; ++k, ++d) {
      if (from_mutant[i]) child[d] = mutant[d];
    }
  }
  return child;
}

void EvolutionBrackets::begin(TrialId trial, const Job& job, Vector x) {
  if (job.kind == Kind::go_on) x = known_.at(job.trial).x;
  brackets_.begin(trial, job.place);
  known_[trial] = {.x = std::move(x), .child = job.kind == Kind::evolve};
}

std::optional<SyncBrackets::Full> EvolutionBrackets::result(TrialId trial, double loss) {
  Known& own = known_.at(trial);
  const Place place = *brackets_.place_of(trial);
  if (!std::isnan(loss)) {
    own.loss = loss;
    completed_[level_index(place)].push_back(trial);
  }
  const auto against = own.child ? target(place) : std::nullopt;
  const auto theirs = against ? known_.at(*against).loss : std::nullopt;
  if (!theirs || loss < *theirs) return brackets_.result(trial, loss);
  return brackets_.result(trial, loss, SyncBrackets::Standing{*against, *theirs});
}

void EvolutionBrackets::take_back(TrialId trial) {
  brackets_.give_back(trial, false);
  known_.erase(trial);
}

json EvolutionBrackets::save() const {
  json ids = json::array();
  std::vector<double> vectors, losses, children;
  for (const auto& [trial, known] : known_) {
    ids.push_back(trial);
    vectors.insert(vectors.end(), known.x.begin(), known.x.end());
    losses.push_back(known.loss.value_or(NAN));
    children.push_back(known.child ? 1 : 0);
  }
  return {{"brackets", brackets_.save()},       {"trials", std::move(ids)},
          {"vectors", save_numbers(vectors)},   {"losses", save_numbers(losses)},
          {"children", save_numbers(children)}, {"completed", completed_}};
}

Result<void> EvolutionBrackets::load(const json& state) {
  const auto wrong = [](const std::string& what) { return fail("saved state: DEHB: " + what); };
  SyncBrackets brackets =
      TRY(SyncBrackets::load(nested_brackets(first_, cycle_), SyncBrackets::Promotes::first_bracket,
                             TRY(object_at(state, "brackets"))));
  const json ids = TRY(array_at(state, "trials"));
  const auto vectors = TRY(numbers_at(state, "vectors"));
  const auto losses = TRY(numbers_at(state, "losses"));
  const auto children = TRY(numbers_at(state, "children"));
  const std::size_t d = dimensions();
  if (losses.size() != ids.size() || children.size() != ids.size() ||
      vectors.size() != d * ids.size()) {
    return wrong("each trial needs a vector, a loss and a mark");
  }
  std::map<TrialId, Known> known;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto from = vectors.begin() + static_cast<std::ptrdiff_t>(i * d);
    Known one{.x = Vector(from, from + static_cast<std::ptrdiff_t>(d)), .child = children[i] == 1};
    const bool inside = std::ranges::all_of(one.x, [](double x) { return x >= 0 && x <= 1; });
    if (!ids[i].is_number_integer() || !inside || !is_index(children[i], 2) ||
        std::isinf(losses[i])) {
      return wrong("a trial is damaged");
    }
    if (!std::isnan(losses[i])) one.loss = losses[i];
    if (!known.emplace(ids[i].get<TrialId>(), std::move(one)).second) {
      return wrong("a trial stands twice");
    }
  }
  const json completed = TRY(array_at(state, "completed"));
  if (completed.size() != first_.size()) return wrong("one list of trials a level expected");
  std::vector<std::vector<TrialId>> lists;
  for (const json& list : completed) {
    const bool good = list.is_array() && std::ranges::all_of(list, [&](const json& id) {
                        return id.is_number_integer() && known.contains(id.get<TrialId>());
                      });
    if (!good) return wrong("an unknown trial has completed a level");
    lists.push_back(list.get<std::vector<TrialId>>());
  }
  for (const TrialId trial : brackets.trials()) {
    if (!known.contains(trial)) return wrong("an unknown trial stands in a slot");
  }
  brackets_ = std::move(brackets);
  known_ = std::move(known);
  completed_ = std::move(lists);
  return {};
}

}  // namespace attune
