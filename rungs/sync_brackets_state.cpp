// Saves and loads the brackets of synchronous successive halving. What is loaded may be damaged, so
// it must be a state that the rule can reach as far as the rule relies on it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/sync_brackets.h"

namespace attune {
namespace {

std::unexpected<Error> damaged_bracket(const std::string& what) {
  return fail("saved state: brackets: " + what);
}

}  // namespace

json SyncBrackets::save() const {
  json brackets = json::array();
  for (const auto& [id, bracket] : brackets_) {
    json rungs = json::array();
    for (const Rung& rung : bracket.rungs) {
      std::vector<double> states, trials, losses;
      for (const Slot& slot : rung.slots) {
        states.push_back(static_cast<double>(slot.state));
        trials.push_back(slot.trial ? static_cast<double>(*slot.trial) : NAN);
        losses.push_back(slot.loss);
      }
      rungs.push_back({{"limit", rung.limit},
                       {"states", save_numbers(states)},
                       {"trials", save_numbers(trials)},
                       {"losses", save_numbers(losses)}});
    }
    brackets.push_back({{"id", id}, {"current", bracket.current}, {"rungs", std::move(rungs)}});
  }
  json places = json::array();
  for (const auto& [trial, place] : places_) {
    places.push_back({trial, place.bracket, place.rung, place.slot});
  }
  return {{"next", next_}, {"brackets", std::move(brackets)}, {"places", std::move(places)}};
}

Result<SyncBrackets::Rung> SyncBrackets::load_rung(const json& state, const RungSize& size) {
  const std::int64_t limit = TRY(integer_at(state, "limit"));
  if (limit < 0 || static_cast<std::size_t>(limit) > size.slots) {
    return damaged_bracket("a rung is too large");
  }
  const auto states = TRY(numbers_at(state, "states"));
  const auto trials = TRY(numbers_at(state, "trials"));
  const auto losses = TRY(numbers_at(state, "losses"));
  Rung rung{.limit = static_cast<std::size_t>(limit)};
  if (states.size() > rung.limit || trials.size() != states.size() ||
      losses.size() != states.size()) {
    return damaged_bracket("a rung has too many slots, or too few numbers");
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const bool has_trial = !std::isnan(trials[i]);
    if (!is_index(states[i], 3) || (has_trial && !is_whole(trials[i]))) {
      return damaged_bracket("a slot is in no possible state");
    }
    Slot slot{.state = static_cast<State>(static_cast<int>(states[i]))};
    if (has_trial) slot.trial = static_cast<TrialId>(trials[i]);
    slot.loss = losses[i];
    const bool has_result = slot.state == State::occupied && has_trial;
    if (has_result ? !std::isfinite(slot.loss) : !std::isnan(slot.loss)) {
      return damaged_bracket("a slot has a result without a trial, or the reverse");
    }
    if (slot.state == State::free) rung.free.insert(i);
    if (slot.state != State::occupied) ++rung.open;
    if (has_result) rung.losses.insert(slot.loss);
    rung.slots.push_back(slot);
  }
  return rung;
}

Result<void> SyncBrackets::load_bracket(const json& state) {
  const std::int64_t id = TRY(integer_at(state, "id"));
  if (id < 0 || id >= next_ || (!brackets_.empty() && id <= brackets_.rbegin()->first)) {
    return damaged_bracket("they must be in order");
  }
  const std::int64_t current = TRY(integer_at(state, "current"));
  const json rungs = TRY(array_at(state, "rungs"));
  const RungSizes& sizes = this->sizes(id);
  const auto end = static_cast<std::int64_t>(sizes.size());
  const bool keeps = promotes_ == Promotes::first_bracket;
  if (current < 0 || current > end || (current == end && !keeps) || rungs.size() != sizes.size()) {
    return damaged_bracket("one has other rungs than its size says");
  }
  Bracket bracket{.current = static_cast<std::size_t>(current)};
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    Rung rung = TRY(load_rung(rungs[r], sizes[r]));
    const bool empty = rung.slots.empty() && rung.limit == 0;
    const bool fits = r == bracket.current  ? rung.limit > 0 && !rung.full()
                      : r > bracket.current ? empty
                                            : rung.full() && (keeps || empty);
    if (!fits) return damaged_bracket("a rung is full too early, or not full");
    bracket.rungs.push_back(std::move(rung));
  }
  brackets_.emplace(id, std::move(bracket));
  if (current < end) open_.insert(id);
  return {};
}

// Each taken slot has a trial that runs; each trial that waits stands in its slot.
Result<void> SyncBrackets::load_places(const json& state) {
  std::set<Place> seen;
  for (const json& one : state) {
    const bool numbers =
        one.is_array() && one.size() == 4 &&
        std::ranges::all_of(one, [](const json& x) { return x.is_number_integer(); });
    if (!numbers || std::any_of(one.begin() + 1, one.end(), [](const json& x) { return x < 0; })) {
      return damaged_bracket("a trial without its place");
    }
    const auto trial = one[0].get<TrialId>();
    const Place place{one[1], one[2], one[3]};
    if (!open_.contains(place.bracket) || brackets_.at(place.bracket).current != place.rung ||
        place.slot >= brackets_.at(place.bracket).rungs[place.rung].slots.size()) {
      return damaged_bracket("a trial in no slot");
    }
    const Slot& slot = slot_at(place);
    const bool waits = promotes(place) || slot.state == State::free;
    if (slot.state != State::taken && !(waits && slot.trial == trial)) {
      return damaged_bracket("a trial waits where it does not stand");
    }
    if (!seen.insert(place).second || !places_.emplace(trial, place).second) {
      return damaged_bracket("two trials in one slot");
    }
  }
  for (const std::int64_t id : open_) {
    const Bracket& bracket = brackets_.at(id);
    for (std::size_t i = 0; i < bracket.rungs[bracket.current].slots.size(); ++i) {
      const Slot& slot = bracket.rungs[bracket.current].slots[i];
      const Place place{id, bracket.current, i};
      const bool needed = slot.state == State::taken ||
                          (slot.trial && (slot.state == State::free || promotes(place)));
      if (needed && !seen.contains(place)) return damaged_bracket("a slot without its trial");
    }
  }
  return {};
}

Result<SyncBrackets> SyncBrackets::load(std::vector<RungSizes> sizes, Promotes promotes,
                                        const json& state) {
  SyncBrackets loaded(std::move(sizes), promotes);
  loaded.next_ = TRY(integer_at(state, "next"));
  if (loaded.next_ < 0) return damaged_bracket("less than none have opened");
  for (const json& bracket : TRY(array_at(state, "brackets"))) TRY(loaded.load_bracket(bracket));
  const auto count = static_cast<std::int64_t>(loaded.brackets_.size());
  if (promotes == Promotes::first_bracket && count != loaded.next_) {
    return damaged_bracket("one is missing");
  }
  TRY(loaded.load_places(TRY(array_at(state, "places"))));
  return loaded;
}

}  // namespace attune
