#include "manager/trials/checkpoint_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attune {
namespace {

const std::string kNone;

// The number in "t0007-2"; 0 for an id of another form.
std::int64_t number_of(const std::string& id) {
  std::int64_t number = 0;
  const auto dash = id.rfind('-');
  if (dash != std::string::npos)
    std::from_chars(id.data() + dash + 1, id.data() + id.size(), number);
  return number;
}

}  // namespace

std::string CheckpointKeeper::next_id(const std::string& job_id) {
  return fmt::format("{}-{}", job_id, ++owners_[job_id].saves);
}

void CheckpointKeeper::restore(const std::string& job_id, const std::string& id, double bytes,
                               bool ended) {
  if (known_.contains(id)) return;
  reserve(job_id, id);
  Owner& owner = owners_[job_id];
  owner.ended = ended;
  owner.ids.push_back(id);
  known_[id] = {job_id, bytes, ++order_};
  by_age_[order_] = id;
  bytes_ += bytes;
}

void CheckpointKeeper::reserve(const std::string& job_id, const std::string& id) {
  Owner& owner = owners_[job_id];
  owner.saves = std::max(owner.saves, number_of(id));
}

CheckpointKeeper::Ids CheckpointKeeper::saved(const std::string& job_id, const std::string& id,
                                              double bytes) {
  Ids gone;
  if (known_.contains(id)) return gone;
  const auto owner = owners_.find(job_id);
  restore(job_id, id, bytes, owner != owners_.end() && owner->second.ended);
  thin(job_id, gone);
  keep_to_budget(gone);
  return gone;
}

CheckpointKeeper::Ids CheckpointKeeper::ended(const std::string& job_id) {
  Ids gone;
  const auto owner = owners_.find(job_id);
  if (owner == owners_.end()) return gone;
  owner->second.ended = true;
  thin(job_id, gone);
  keep_to_budget(gone);
  if (owner->second.ids.empty()) owners_.erase(owner);
  return gone;
}

CheckpointKeeper::Ids CheckpointKeeper::dropped(const std::string& id) {
  Ids gone;
  const auto found = known_.find(id);
  if (found == known_.end()) return gone;
  found->second.held = false;
  if (!needed(id)) take(id, gone);
  return gone;
}

CheckpointKeeper::Ids CheckpointKeeper::release_all() {
  Ids gone;
  for (const std::string& id : held()) {
    for (std::string& one : dropped(id)) gone.push_back(std::move(one));
  }
  return gone;
}

void CheckpointKeeper::hold(const std::string& id) {
  if (const auto found = known_.find(id); found != known_.end()) found->second.held = true;
}

CheckpointKeeper::Ids CheckpointKeeper::held() const {
  Ids ids;
  for (const auto& [order, id] : by_age_) {
    if (known_.at(id).held) ids.push_back(id);
  }
  return ids;
}

void CheckpointKeeper::pin(const std::string& id) {
  if (const auto found = known_.find(id); found != known_.end()) ++found->second.pins;
}

CheckpointKeeper::Ids CheckpointKeeper::unpin(const std::string& id) {
  Ids gone;
  const auto found = known_.find(id);
  if (found == known_.end() || found->second.pins == 0) return gone;
  if (--found->second.pins > 0) return gone;
  thin(std::string(found->second.job_id), gone);
  keep_to_budget(gone);
  return gone;
}

const std::string& CheckpointKeeper::newest(const std::string& job_id) const {
  const auto owner = owners_.find(job_id);
  return owner == owners_.end() || owner->second.ids.empty() ? kNone : owner->second.ids.back();
}

bool CheckpointKeeper::needed(const std::string& id) const {
  const Checkpoint& checkpoint = known_.at(id);
  const Owner& owner = owners_.at(checkpoint.job_id);
  return checkpoint.pins > 0 || checkpoint.held || (!owner.ended && owner.ids.back() == id);
}

void CheckpointKeeper::take(const std::string& id, Ids& gone) {
  const auto node = known_.extract(id);
  const Checkpoint& checkpoint = node.mapped();
  bytes_ -= checkpoint.bytes;
  by_age_.erase(checkpoint.order);
  std::erase(owners_.at(checkpoint.job_id).ids, id);
  gone.push_back(node.key());
}

void CheckpointKeeper::thin(const std::string& job_id, Ids& gone) {
  const Owner& owner = owners_.at(job_id);
  const bool none = owner.ended && rules_.delete_at_end;
  const std::size_t keep = none ? 0 : static_cast<std::size_t>(std::max(rules_.keep, 1));
  std::size_t surplus = owner.ids.size() > keep ? owner.ids.size() - keep : 0;
  for (const std::string& id : Ids(owner.ids)) {  // a copy: take() removes from owner.ids
    if (surplus == 0) return;
    --surplus;
    if (!needed(id)) take(id, gone);
  }
}

// The budget may stay exceeded: needed checkpoints are never taken.
void CheckpointKeeper::keep_to_budget(Ids& gone) {
  if (!rules_.budget) return;
  Ids droppable;
  double left = bytes_;
  for (const auto& [order, id] : by_age_) {
    if (left <= *rules_.budget) break;
    if (needed(id)) continue;
    left -= known_.at(id).bytes;
    droppable.push_back(id);
  }
  for (const std::string& id : droppable) take(id, gone);
}

}  // namespace attune
