#pragma once
// The state of a Study: the core under a lock, and its file. For study.cpp and the optimizer.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/core.h"
#include "study/study.h"
#include "study/study_file.h"

namespace attune {

struct Study::Impl {
  mutable std::mutex mutex = {};
  std::unique_ptr<StudyCore> core = {};
  json header = {};
  std::unique_ptr<StudyFile> file = {};
  std::size_t written = 0;           // events that the file has
  std::optional<Error> broken = {};  // the file lacks something that the core knows
  std::vector<std::string> warnings = {};
  // Trials that ran when the program that wrote the file ended; with their slots.
  std::vector<std::pair<Suggestion, int>> left_over = {};

  // Calls `change` under the lock. When this returns, all events of that call are in the file.
  template <class Change>
  auto change(Change&& change) -> decltype(change(*core)) {
    const std::lock_guard lock(mutex);
    if (broken) return std::unexpected(*broken);
    auto result = change(*core);
    if (auto stored = store(); !stored) return std::unexpected(stored.error());
    return result;
  }

  template <class Look>
  auto look(Look&& look) const {
    const std::lock_guard lock(mutex);
    return look(std::as_const(*core));
  }

  bool is_closed() const {
    const std::lock_guard lock(mutex);
    return broken.has_value();
  }

  Result<void> store();  // under the lock
};

}  // namespace attune
