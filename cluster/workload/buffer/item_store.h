#pragma once
// The items of a buffer: without holes, by place, by id, by age and by staleness. Knows no policy.
//
// Items have places 0 ... size() - 1. When one leaves, the last one takes its place: so that
// drawing a place is drawing an item, and memory is that of the items. Insert, erase and find are
// O(1), with max_staleness O(log n).
//
// A value; not thread safe.
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
  // `by_iteration`: whether first_before() is wanted.
  explicit ItemStore(bool by_iteration) : by_iteration_(by_iteration) {}

  std::size_t size() const { return items_.size(); }
  const StoredItem& at(std::size_t place) const { return items_[place].item; }
  std::optional<std::size_t> find(ItemId id) const;
  std::size_t oldest() const { return oldest_; }  // of the least id; there must be one
  // Of an item with collect_iter below `iteration`, wherever in the order of arrival it stands.
  std::optional<std::size_t> first_before(std::int64_t iteration) const;

  // At the last place. Its id is above all ids that are there.
  void insert(StoredItem item);
  // The last item moves to `place`.
  void erase(std::size_t place);
  std::int64_t count_use(std::size_t place) { return ++items_[place].item.uses; }
  std::string take_meta(std::size_t place) { return std::move(items_[place].item.meta); }

  // All of them, in any order of ids, as place 0, 1, ...; ids are unique.
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
  std::unordered_map<ItemId, Place> places_;  // never walked through: its order is none
  std::set<std::pair<std::int64_t, ItemId>> iterations_;
};

}  // namespace attune
