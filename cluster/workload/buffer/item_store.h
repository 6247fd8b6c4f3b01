#pragma once
// The items of a buffer. Finds them by place, by id, by age and by staleness; knows no policy.
//
// Items have the places 0 ... size() - 1, without holes: when one leaves, the last one moves to its
// place. So to draw a place is to draw an item, and memory grows with the present items only.
// Insert, erase and find are O(1), with max_staleness O(log n).
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attune {

using ItemId = std::uint64_t;

struct StoredItem {
  ItemId id = 0;
  std::string meta;
  std::optional<std::int64_t> collect_iter;
  std::int64_t uses = 0;
};

class ItemStore {
 public:
  // `by_iteration`: whether first_before() will be used.
  explicit ItemStore(bool by_iteration) : by_iteration_(by_iteration) {}

  std::size_t size() const { return items_.size(); }
  const StoredItem& at(std::size_t place) const { return items_[place].item; }
  std::optional<std::size_t> find(ItemId id) const;
  std::size_t oldest() const { return oldest_; }  // place of the least id; there must be an item
  // The place of an item whose collect_iter is below `iteration`, whatever its age; absent: none.
  std::optional<std::size_t> first_before(std::int64_t iteration) const;

  // Puts the item at the last place. Its id must be above all present ones.
  void insert(StoredItem item);
  // The last item moves to `place`.
  void erase(std::size_t place);
  std::int64_t count_use(std::size_t place) { return ++items_[place].item.uses; }
  std::string take_meta(std::size_t place) { return std::move(items_[place].item.meta); }

  // Replaces all items: they get the places 0, 1, ... in the given order. Their ids must be unique,
  // and may be in any order.
  void restore(std::vector<StoredItem> items);

 private:
  using Place = std::uint32_t;
  static constexpr Place kNone = std::numeric_limits<Place>::max();
  struct Slot {
    StoredItem item;
    Place older = kNone, newer = kNone;
  };
  void link(Place place, Place older, Place newer);
  void index(Place place);

  bool by_iteration_;
  std::vector<Slot> items_;
  Place oldest_ = kNone, newest_ = kNone;
  std::unordered_map<ItemId, Place> places_;  // never iterated: its order is arbitrary
  std::set<std::pair<std::int64_t, ItemId>> iterations_;
};

}  // namespace attune
