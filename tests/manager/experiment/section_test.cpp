#include "manager/experiment/section.h"

#include <catch2/catch.hpp>

namespace attune::section_test {

TEST_CASE("bytes") {
  CHECK(parse_bytes(1000).value() == 1000);
  CHECK(parse_bytes("512MB").value() == 512e6);
  CHECK(parse_bytes("1.5 GiB").value() == 1.5 * 0x1p30);
  CHECK(parse_bytes("2k").value() == 2000);
  CHECK(parse_bytes("0").value() == 0);
  for (const json& wrong : {json("MB"), json(-1), json("1 PB"), json("1e999"), json(true)}) {
    CAPTURE(wrong.dump());
    CHECK_FALSE(parse_bytes(wrong).has_value());
  }
}

TEST_CASE("durations") {
  CHECK(parse_duration(90).value() == 90);
  CHECK(parse_duration("90").value() == 90);
  CHECK(parse_duration("100s").value() == 100);
  CHECK(parse_duration("10m").value() == 600);
  CHECK(parse_duration("1d").value() == 86400);
  for (const json& wrong : {json("m"), json(""), json("1w"), json("inf"), json("nanh"), json(true),
                            json(0), json("1h30m")}) {
    CAPTURE(wrong.dump());
    CHECK_FALSE(parse_duration(wrong).has_value());
  }
}

}  // namespace attune::section_test
