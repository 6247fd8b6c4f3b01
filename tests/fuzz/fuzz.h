#pragma once
// What a fuzz target is made of. A target never rejects input: refusing it with an error is a good
// answer, a crash, a hang or a broken property is the finding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"

// FUZZ_TARGET(input) { ... }: the body sees the input as text.
#define FUZZ_TARGET(input)                                                            \
  static void fuzz_one(std::string_view input);                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_one({reinterpret_cast<const char*>(data), size});                            \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_one([[maybe_unused]] std::string_view input)
