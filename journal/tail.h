#pragma once
// What was appended to a journal and is not known to be on the disk: in memory until it is, for the
// operating system may forget what it has taken.
//
// Positions count appended bytes, whatever file they are in; `shift` is what to add for the place
// in the present one.
#include <algorithm>
#include <string>

#include "journal/codec.h"
#include "journal/place.h"

namespace attune {

// One thread.
class JournalTail {
 public:
  JournalTail(std::shared_ptr<const UniqueFd> file, std::uint64_t size)
      : file_(std::move(file)), appended_(size), written_(size), begin_(size) {}

  int fd() const { return file_->get(); }
  const std::shared_ptr<const UniqueFd>& file() const { return file_; }

  void append(const JournalRecord& record) {
    encode_record(record.kind, record.payload, memory_);
    appended_ = begin_ + memory_.size();
  }
  std::uint64_t appended() const { return appended_; }
  std::uint64_t written() const { return written_; }

  std::string_view unwritten() const { return std::string_view(memory_).substr(written_ - begin_); }
  std::uint64_t offset() const { return place(written_); }  // in the file, of what is unwritten
  void wrote(std::size_t bytes) { written_ += bytes; }

  // Need not be in memory any more before `position`, which is written.
  void forget(std::uint64_t position) {
    if (position <= begin_) return;
    memory_.erase(0, position - begin_);
    begin_ = position;
  }

  // What is written before `to`: from the beginning of the file, or from a position on.
  JournalBytes until(std::uint64_t to) const { return bytes(0, begin_, to); }
  JournalBytes between(std::uint64_t from, std::uint64_t to) const {
    return bytes(place(from), from, to);
  }

  // Another file has all that is written, at the same places or with `position` at `offset`.
  void move(std::shared_ptr<const UniqueFd> file) { file_ = std::move(file); }
  void move(std::shared_ptr<const UniqueFd> file, std::uint64_t position, std::uint64_t offset) {
    file_ = std::move(file);
    shift_ = static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(position);
  }

 private:
  std::uint64_t place(std::uint64_t position) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(position) + shift_);
  }
  JournalBytes bytes(std::uint64_t offset, std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t split = std::min(std::max(from, begin_), to);  // from here on: memory
    return {.file = file_,
            .from = offset,
            .to = place(split),
            .memory = split < to ? memory_.substr(split - begin_, to - split) : std::string()};
  }

  std::shared_ptr<const UniqueFd> file_;
  std::int64_t shift_ = 0;
  std::uint64_t appended_, written_;
  std::uint64_t begin_;  // of the memory
  std::string memory_;
};

}  // namespace attune
