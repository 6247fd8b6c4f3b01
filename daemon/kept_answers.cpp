#include "daemon/kept_answers.h"

#include "dispatcher/journal_numbers.h"

namespace attune {

void KeptAnswers::add(RecordKind kind, std::string_view payload) {
  const bool answer = kind == RecordKind::answer || kind == RecordKind::kept;
  if (!answer || !is_numbered(kind, payload)) return;
  payloads_.emplace_back(payload);
  bytes_ += payload.size();
  while (bytes_ > room_) drop_first();
}

std::optional<JournalRecord> KeptAnswers::take() {
  while (payloads_.size() > open_) drop_first();
  if (payloads_.empty()) return {};
  JournalRecord record{RecordKind::kept, payloads_.front()};
  drop_first();
  return record;
}

void KeptAnswers::drop_first() {
  bytes_ -= payloads_.front().size();
  payloads_.pop_front();
}

}  // namespace attune
