#pragma once
// The answers of a journal that the manager may still ask for after a snapshot. docs/journal.md.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>

#include "journal/kept_records.h"

namespace attune {

// Without a word from the manager so many bytes of answers are kept, the last ones.
inline constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

// Of the numbered answers those above `acknowledged`, as `kept`, the last `room` bytes of them.
class KeptAnswers final : public KeptRecords {
 public:
  // `answers`: how many the journal, and what went before it, had numbered by the snapshot.
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
