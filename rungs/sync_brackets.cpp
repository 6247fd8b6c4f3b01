#include "rungs/sync_brackets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace attune {

SyncBrackets::SyncBrackets(std::vector<RungSizes> sizes, Promotes promotes)
    : sizes_(std::move(sizes)), promotes_(promotes) {
  ATTUNE_CHECK(!sizes_.empty());
}

const RungSizes& SyncBrackets::sizes(std::int64_t bracket) const {
  return sizes_[static_cast<std::size_t>(bracket) % sizes_.size()];
}

std::size_t SyncBrackets::slots(std::int64_t bracket, std::size_t rung) const {
  return brackets_.at(bracket).rungs[rung].limit;
}

bool SyncBrackets::promotes(const Place& place) const {
  return (promotes_ == Promotes::every_bracket || place.bracket == 0) && !is_top(place);
}

SyncBrackets::Slot& SyncBrackets::slot_at(const Place& place) {
  return brackets_.at(place.bracket).rungs[place.rung].slots[place.slot];
}

SyncBrackets::Bracket& SyncBrackets::add_bracket(std::int64_t id) {
  Bracket& bracket = brackets_[id];
  bracket.rungs.resize(sizes(id).size());
  bracket.rungs[0].limit = sizes(id)[0].slots;
  open_.insert(id);
  return bracket;
}

std::optional<SyncBrackets::Place> SyncBrackets::take(bool may_open, bool fresh) {
  const auto take_from = [&](std::int64_t id, Bracket& bracket) -> std::optional<Place> {
    Rung& rung = bracket.rungs[bracket.current];
    const auto found = std::ranges::find_if(
        rung.free, [&](std::size_t slot) { return fresh || rung.slots[slot].trial; });
    Place place{id, bracket.current, rung.slots.size()};
    if (found != rung.free.end()) {
      place.slot = *found;
      rung.free.erase(found);
    } else if (fresh && rung.slots.size() < rung.limit) {
      rung.slots.emplace_back();
      ++rung.open;
    } else {
      return std::nullopt;
    }
    rung.slots[place.slot].state = State::taken;
    return place;
  };
  for (const std::int64_t id : open_) {
    if (const auto place = take_from(id, brackets_.at(id))) return place;
  }
  if (!may_open || !fresh) return std::nullopt;
  const std::int64_t id = next_++;
  return take_from(id, add_bracket(id));
}

void SyncBrackets::give_back(const Place& place) {
  slot_at(place).state = State::free;
  brackets_.at(place.bracket).rungs[place.rung].free.insert(place.slot);
}

std::optional<TrialId> SyncBrackets::trial_at(const Place& place) const {
  return brackets_.at(place.bracket).rungs[place.rung].slots[place.slot].trial;
}

void SyncBrackets::begin(TrialId trial, const Place& place) {
  Slot& slot = slot_at(place);
  if (slot.trial) {
    places_.erase(*slot.trial);
    slot.trial = trial;
  }
  places_[trial] = place;
}

void SyncBrackets::give_back(TrialId trial, bool keep) {
  const Place place = places_.at(trial);
  give_back(place);
  slot_at(place).trial = keep ? std::optional(trial) : std::nullopt;
  if (!keep) places_.erase(trial);
}

void SyncBrackets::occupy(const Place& place, std::optional<Standing> standing) {
  Rung& rung = brackets_.at(place.bracket).rungs[place.rung];
  Slot& slot = rung.slots[place.slot];
  if (slot.state == State::free) rung.free.erase(place.slot);
  if (slot.state != State::occupied) --rung.open;
  if (slot.state == State::occupied && slot.trial) rung.losses.erase(slot.loss);
  slot = {.state = State::occupied};
  if (!standing) return;
  slot.trial = standing->trial;
  slot.loss = standing->loss;
  rung.losses.insert(slot.loss);
}

std::optional<SyncBrackets::Full> SyncBrackets::result(TrialId trial, double loss,
                                                       std::optional<Standing> stands) {
  const Place place = places_.at(trial);
  if (!stands && !std::isnan(loss)) stands = {trial, loss};
  occupy(place, stands);
  if (!stands || !promotes(place)) places_.erase(trial);
  return close_if_full(place.bracket);
}

std::optional<SyncBrackets::Full> SyncBrackets::lost(TrialId trial) {
  const Place place = places_.at(trial);
  occupy(place, std::nullopt);
  places_.erase(trial);
  return close_if_full(place.bracket);
}

std::vector<SyncBrackets::Full> SyncBrackets::vacate() {
  std::vector<Full> all;
  for (const std::int64_t id : std::set(open_)) {
    Bracket& bracket = brackets_.at(id);
    Rung& rung = bracket.rungs[bracket.current];
    rung.limit = rung.slots.size();
    for (const std::size_t slot : std::set(rung.free)) {
      if (!rung.slots[slot].trial) occupy({id, bracket.current, slot}, std::nullopt);
    }
    if (auto full = close_if_full(id)) all.push_back(*std::move(full));
  }
  return all;
}

// Goes on to the next rung of the bracket, if the present one is full.
std::optional<SyncBrackets::Full> SyncBrackets::close_if_full(std::int64_t id) {
  Bracket& bracket = brackets_.at(id);
  const std::size_t r = bracket.current;
  Rung& rung = bracket.rungs[r];
  if (!rung.full()) return std::nullopt;
  const bool goes_on = promotes({id, r, 0});
  Full full{.level = sizes(id)[r].level};
  std::vector<double> losses;
  for (const Slot& slot : rung.slots) {
    losses.push_back(slot.loss);
    if (slot.trial) ++full.results;
  }
  const bool top = r + 1 == bracket.rungs.size();
  const std::size_t next = top ? 0 : std::min(sizes(id)[r + 1].slots, full.results);
  if (goes_on) {
    const auto order = best_slots(losses, full.results);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const TrialId trial = *rung.slots[order[k]].trial;
      (k < next ? full.best : full.rest).push_back({trial, losses[order[k]], k + 1});
      if (k < next) {
        places_[trial] = {id, r + 1, k};
        bracket.rungs[r + 1].slots.push_back({.trial = trial});
        bracket.rungs[r + 1].free.insert(k);
      } else {
        places_.erase(trial);
      }
    }
    bracket.rungs[r + 1].open = next;
  }
  if (!top) bracket.rungs[r + 1].limit = next;
  if (promotes_ == Promotes::every_bracket) rung = {};  // nobody asks for it any more
  bracket.current = next == 0 ? bracket.rungs.size() : r + 1;
  if (next > 0) return full;
  open_.erase(id);
  if (promotes_ == Promotes::every_bracket) brackets_.erase(id);
  return full;
}

const SyncBrackets::Place* SyncBrackets::place_of(TrialId trial) const {
  const auto found = places_.find(trial);
  return found == places_.end() ? nullptr : &found->second;
}

bool SyncBrackets::runs(TrialId trial) const {
  const Place* place = place_of(trial);
  if (!place) return false;
  const Rung& rung = brackets_.at(place->bracket).rungs[place->rung];
  return rung.slots[place->slot].state == State::taken;
}

std::optional<SyncBrackets::Standing> SyncBrackets::standing(const Place& place) const {
  const auto bracket = brackets_.find(place.bracket);
  if (bracket == brackets_.end() || place.rung >= bracket->second.rungs.size()) return std::nullopt;
  const Rung& rung = bracket->second.rungs[place.rung];
  if (place.slot >= rung.slots.size()) return std::nullopt;
  const Slot& slot = rung.slots[place.slot];
  if (slot.state != State::occupied || !slot.trial) return std::nullopt;
  return Standing{*slot.trial, slot.loss};
}

std::optional<SyncBrackets::Filling> SyncBrackets::filling(TrialId trial) const {
  const Place* const place = place_of(trial);
  if (!place) return std::nullopt;
  const Rung& rung = brackets_.at(place->bracket).rungs[place->rung];
  return Filling{.level = level(*place),
                 .rank = rung.losses.count_below(rung.slots[place->slot].loss) + 1,
                 .of = rung.losses.size(),
                 .missing = rung.limit - rung.slots.size() + rung.open};
}

std::vector<TrialId> SyncBrackets::trials() const {
  std::vector<TrialId> all;
  for (const auto& [trial, place] : places_) all.push_back(trial);
  for (const auto& [id, bracket] : brackets_) {
    for (const Rung& rung : bracket.rungs) {
      for (const Slot& slot : rung.slots) {
        if (slot.trial) all.push_back(*slot.trial);
      }
    }
  }
  return all;
}

}  // namespace attune
