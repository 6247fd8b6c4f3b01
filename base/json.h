#pragma once
// JSON as every room sees it. Objects keep their order: the order of a search space is the order of
// sampling and of the keys in `parameters`.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"

namespace attune {

using json = nlohmann::ordered_json;

// Of a text that may come from anywhere. The first two guard the parser, the others the memory: a
// value costs up to some 70 bytes, however short it is written. Files of ours have no need of
// those.
struct JsonLimits {
  std::size_t depth = 256;  // nested arrays and objects; writing JSON is recursive
  // Keys of one object; finding a key is linear in an ordered object. All objects together may be
  // as much work as two such.
  std::size_t keys = 20'000;
  std::size_t string_bytes = SIZE_MAX;  // of one string or key, as it is written
  std::size_t elements = SIZE_MAX;      // of one array
  std::size_t values = SIZE_MAX;        // of the whole text
};

// Strict JSON first (fast). Only when that fails, the dialect of Python managers: NaN, Infinity,
// -Infinity, numbers beyond double (1e400), `#` and `//` comments outside of strings. Duplicate
// keys: the last one wins. Never throws; the error names the byte and shows the text around it, or
// names the limit. Where a byte is named, `wrong_at` is it.
Result<json> parse_json(std::string_view text, const JsonLimits& limits = {},
                        std::optional<std::size_t>* wrong_at = nullptr);

// Compact, pure ASCII (\uXXXX), doubles in shortest round-trip form with a point or an exponent
// (16.0 stays 16.0), invalid UTF-8 replaced. NaN and infinities become null: no reader of ours
// accepts them.
std::string dump_json(const json& value);

bool is_utf8(const std::string& text);

// What the value holds beside itself, in bytes: an estimate, a little high.
std::size_t memory_of(const json& value);

json to_json(const Rng& rng);  // four hexadecimal words
Result<Rng> rng_from_json(const json& value);

// "a number", "an object", ... for messages.
std::string_view json_type_name(const json& value);

}  // namespace attune
