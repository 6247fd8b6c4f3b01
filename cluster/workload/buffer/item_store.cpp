#include "cluster/workload/buffer/item_store.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace attune {

std::optional<std::size_t> ItemStore::find(ItemId id) const {
  const auto found = places_.find(id);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> ItemStore::first_before(std::int64_t iteration) const {
  if (iterations_.empty() || iterations_.begin()->first >= iteration) return std::nullopt;
  return find(iterations_.begin()->second);
}

// Puts `place` between two neighbours in the list of ages; kNone: it has none on that side.
void ItemStore::link(Place place, Place older, Place newer) {
  (older == kNone ? oldest_ : items_[older].newer) = place;
  (newer == kNone ? newest_ : items_[newer].older) = place;
  items_[place].older = older;
  items_[place].newer = newer;
}

void ItemStore::index(Place place) {
  const StoredItem& item = items_[place].item;
  places_[item.id] = place;
  if (by_iteration_ && item.collect_iter) iterations_.emplace(*item.collect_iter, item.id);
}

void ItemStore::insert(StoredItem item) {
  const auto place = static_cast<Place>(items_.size());
  ATTUNE_CHECK(newest_ == kNone || items_[newest_].item.id < item.id);
  items_.push_back({std::move(item)});
  link(place, newest_, kNone);
  index(place);
}

void ItemStore::erase(std::size_t place) {
  const Slot& leaving = items_[place];
  if (leaving.item.collect_iter) iterations_.erase({*leaving.item.collect_iter, leaving.item.id});
  places_.erase(leaving.item.id);
  (leaving.older == kNone ? oldest_ : items_[leaving.older].newer) = leaving.newer;
  (leaving.newer == kNone ? newest_ : items_[leaving.newer].older) = leaving.older;
  // The last item moves into the hole: its neighbours and its index must lead there.
  if (place + 1 != items_.size()) {
    items_[place] = std::move(items_.back());
    link(static_cast<Place>(place), items_[place].older, items_[place].newer);
    places_[items_[place].item.id] = static_cast<Place>(place);
  }
  items_.pop_back();
}

void ItemStore::restore(std::vector<StoredItem> items) {
  *this = ItemStore(by_iteration_);
  items_.reserve(items.size());
  for (StoredItem& item : items) items_.push_back({std::move(item)});
  std::vector<Place> by_age(items_.size());
  std::iota(by_age.begin(), by_age.end(), Place{0});
  std::ranges::sort(by_age, {}, [&](Place place) { return items_[place].item.id; });
  for (const Place place : by_age) {
    link(place, newest_, kNone);
    index(place);
  }
}

}  // namespace attune
