#pragma once
// For the tests of buffers.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/workload/buffer/buffer.h"

namespace attune {

inline BufferPolicy policy_of(const std::string& settings) {
  const auto policy = parse_buffer_policy(*parse_json(settings));
  INFO((policy ? "" : policy.error().message));
  REQUIRE(policy);
  return *policy;
}

inline Buffer buffer_of(const std::string& settings, std::uint64_t seed = 1) {
  return Buffer(policy_of(settings), Rng(seed));
}

inline std::vector<BufferItem> items_of(std::size_t n) {
  std::vector<BufferItem> items(n);
  for (std::size_t i = 0; i < n; ++i) items[i].meta = "m" + std::to_string(i);
  return items;
}

// Takes numbers where the producer stopped.
inline Pushed push(Buffer& buffer, const std::vector<BufferItem>& items,
                   const std::string& producer = "p") {
  const auto pushed = buffer.push(producer, buffer.taken_of(producer) + 1, items);
  REQUIRE(pushed);
  return *pushed;
}

inline Pushed push(Buffer& buffer, std::size_t n, const std::string& producer = "p") {
  return push(buffer, items_of(n), producer);
}

inline std::vector<Drawn> drawn(Buffer& buffer, std::size_t n) {
  auto sampled = buffer.sample(n);
  REQUIRE(sampled);
  REQUIRE(sampled->answer == BufferAnswer::ok);
  REQUIRE(sampled->items.size() == n);
  return std::move(sampled->items);
}

inline std::vector<ItemId> ids_of(const std::vector<Drawn>& batch) {
  std::vector<ItemId> ids;
  for (const Drawn& one : batch) ids.push_back(one.id);
  return ids;
}

inline BufferAnswer sample_answer(Buffer& buffer, std::size_t n) {
  const auto sampled = buffer.sample(n);
  REQUIRE(sampled);
  CHECK(sampled->items.size() == (sampled->answer == BufferAnswer::ok ? n : 0));
  return sampled->answer;
}

}  // namespace attune
