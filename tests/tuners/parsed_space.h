#pragma once
// A search space of a text that a test has written.
#include <catch2/catch.hpp>
#include <string>

#include "space/parse.h"

namespace attune {

inline Space parse(const std::string& text) {
  const auto value = parse_json(text);
  REQUIRE(value);
  auto space = parse_space(*value);
  if (!space) FAIL(text << ": " << space.error().message);
  return *std::move(space);
}

}  // namespace attune
