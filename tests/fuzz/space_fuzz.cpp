// Any JSON: parse_space gives an error or a space whose samples can be written and read back.
#include "space/parse.h"
#include "space/sample.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  const auto value = parse_json(input);
  if (!value) return;
  const auto space = parse_space(*value);
  if (!space) return;
  point_count(*space);
  Rng rng(1);
  for (int i = 0; i < 5; ++i) {
    const Point point = sample(*space, rng);
    ATTUNE_CHECK(point.values.size() == space->params.size());
    const json written = to_json(*space, point);
    const auto read = point_from_json(*space, written);
    // Equal candidates are read as the first of them, so compare what a trial sees.
    ATTUNE_CHECK(read && dump_json(to_json(*space, *read)) == dump_json(written));
  }
}
