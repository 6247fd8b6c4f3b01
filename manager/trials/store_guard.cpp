#include "manager/trials/store_guard.h"

#include <utility>

namespace attune {

StoreGuard::Change StoreGuard::note(const Result<Kept>& answer) {
  if (!answer) return Change::lost;
  if (answer->trouble.empty())
    return std::exchange(stalled_since_, std::nullopt) ? Change::resumed : Change::none;
  const double now = clock_.now();
  retry_at_ = now + retry_seconds_;
  if (!stalled_since_) {
    stalled_since_ = now;
    return Change::stalled;
  }
  return now >= *stalled_since_ + patience_seconds_ ? Change::lost : Change::none;
}

}  // namespace attune
