#pragma once
// JSON as all rooms use it. Objects keep the order of their keys: the order of a search space is
// the order of sampling and of the keys in `parameters`.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"

namespace attune {

using json = nlohmann::ordered_json;

// Limits for a text from an untrusted source. The first two guard the parser. The others guard the
// memory, because a value needs up to some 70 bytes however short its text is; our own files do not
// need them.
struct JsonLimits {
  std::size_t depth = 256;  // nested arrays and objects; writing JSON is recursive
  // Keys of one object: finding a key is linear in an ordered object. All objects together may
  // cause as much work as two objects of this size.
  std::size_t keys = 20'000;
  std::size_t string_bytes = SIZE_MAX;  // of one string or key, as written
  std::size_t elements = SIZE_MAX;      // of one array
  std::size_t values = SIZE_MAX;        // of the whole text
};

// Parses strict JSON; if that fails, the dialect of Python managers: NaN, Infinity, -Infinity,
// numbers beyond double (1e400), and `#` and `//` comments outside of strings. Of duplicate keys
// the last one wins. Never throws. An error names the byte and shows the text around it, or names
// the limit. If it names a byte of a syntax error, `wrong_at` is set to it.
Result<json> parse_json(std::string_view text, const JsonLimits& limits = {},
                        std::optional<std::size_t>* wrong_at = nullptr);

// Writes compact, pure ASCII (\uXXXX). Doubles have the shortest form that reads back as the same
// number, with a point or an exponent (16.0 stays 16.0). Invalid UTF-8 is replaced. NaN and
// infinities become null, because no reader of ours accepts them.
std::string dump_json(const json& value);

bool is_utf8(const std::string& text);

// The memory that the value owns besides itself, in bytes: an estimate, a little high.
std::size_t memory_of(const json& value);

json to_json(const Rng& rng);  // four hexadecimal words
Result<Rng> rng_from_json(const json& value);

// "a number", "an object", ... for messages.
std::string_view json_type_name(const json& value);

}  // namespace attune
