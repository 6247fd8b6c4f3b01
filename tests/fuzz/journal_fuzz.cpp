// Any bytes as a journal: records and then an end, a torn tail or an error. The records, written
// again, are the bytes up to where the journal is good; cut there, it is whole.
#include "journal/codec.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

static std::string good_part(std::string_view input, bool whole) {
  RecordScanner scanner(input);
  std::string written;
  while (true) {
    const auto item = scanner.next();
    ATTUNE_CHECK(item || !whole);
    if (!item || !*item) break;
    ATTUNE_CHECK((*item)->offset == written.size());
    encode_record((*item)->kind, (*item)->payload, written);
    ATTUNE_CHECK(scanner.end_of_good() == written.size());
  }
  ATTUNE_CHECK(input.starts_with(written));
  return written;
}

FUZZ_TARGET(input) {
  const std::string good = good_part(input, false);
  ATTUNE_CHECK(good_part(good, true) == good);
}
