#pragma once
// Keeps answers small whatever the store holds: a client passes them to a language model, which
// reads a few thousand words.
#include <cstddef>
#include <cstdint>

#include "base/json.h"

namespace attune {

// A part of a list: `limit` elements from number `offset` on, and at most about 40 kB of JSON.
class Page {
 public:
  Page(std::int64_t offset, std::int64_t limit) : offset_(offset), limit_(limit) {}

  // How many elements of the list decide whether there is more.
  std::int64_t wanted() const { return offset_ + limit_ + 1; }
  // Whether the next element of the list stands before the page; then it counts as seen.
  bool skip();
  // Adds the next element, shortened if it is large. False: the page is full and there is more.
  bool add(const json& element);
  // Adds the elements as `key` to an answer, "more", and "next_offset" if there is more.
  void put(json& answer, const char* key) const;

 private:
  std::int64_t offset_, limit_;
  std::int64_t seen_ = 0;
  std::size_t bytes_ = 0;
  bool more_ = false;
  json elements_ = json::array();
};

// Removes all but the last (`newest`) or the first `limit` elements of a list of an answer, and
// shortens the others. Adds how many are missing: "left_out": {key: 33}.
void keep_few(json& answer, const char* key, std::int64_t limit, bool newest);

// The value, if its JSON has at most about `bytes`. Else long texts are cut, and what comes last in
// its objects and arrays is missing; an object then has the member "shortened": true.
json shortened(const json& value, std::size_t bytes);

}  // namespace attune
