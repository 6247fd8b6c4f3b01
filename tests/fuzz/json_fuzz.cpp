// Any bytes: parse_json gives an error or a value that survives being written and read.
#include "base/json.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  const auto value = parse_json(input);
  if (!value) return;
  const std::string written = dump_json(*value);
  for (const char c : written) ATTUNE_CHECK(c >= 0x20 && c < 0x7f);
  const auto again = parse_json(written);
  ATTUNE_CHECK(again && dump_json(*again) == written);
}
