#pragma once
// The answers of a journal that the manager may still ask for after a snapshot. docs/journal.md.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>

#include "journal/kept_records.h"

namespace attune {

// If the manager acknowledges no answers, the last so many bytes of them are kept.
inline constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

// Keeps the numbered answers above `acknowledged`, but at most the last `room` bytes, and returns
// them as records `kept`.
class KeptAnswers final : public KeptRecords {
 public:
  // `answers`: the number of the last answer before the snapshot.
  KeptAnswers(std::uint64_t answers, std::uint64_t acknowledged, std::size_t room = kKeptBytes)
      : open_(answers - std::min(answers, acknowledged)), room_(room) {}

  void add(RecordKind kind, std::string_view payload) override;
  std::optional<JournalRecord> take() override;

 private:
  void drop_first();

  const std::uint64_t open_;  // answers that are not acknowledged
  const std::size_t room_;
  std::deque<std::string> payloads_;  // the last ones
  std::size_t bytes_ = 0;             // of them
};

}  // namespace attune
