// In which proportions items are drawn, and what they weigh. Seeds are fixed.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <set>

#include "tests/cluster/workload/buffer/buffer_helpers.h"

namespace attune::buffer_sample_test {

// How often each id was drawn in so many batches.
std::vector<double> draws(Buffer& buffer, std::size_t n, int batches) {
  std::vector<double> counts;
  for (int i = 0; i < batches; ++i) {
    for (const ItemId id : ids_of(drawn(buffer, n))) {
      counts.resize(std::max<std::size_t>(counts.size(), id + 1));
      ++counts[id];
    }
  }
  return counts;
}

void check_near(double count, double expected) {
  CHECK(std::abs(count - expected) < 4 * std::sqrt(expected));
}

void set_priorities(Buffer& buffer, const std::vector<double>& priorities) {
  std::vector<ItemId> ids;
  for (ItemId id = 1; id <= priorities.size(); ++id) ids.push_back(id);
  REQUIRE(buffer.update(ids, priorities) == priorities.size());
}

TEST_CASE("buffer: all sets of different items are alike") {
  const std::string uses = GENERATE("", R"(, "max_use": 1000000)");
  Buffer buffer = buffer_of(R"({"policy": "uniform", "batch": 3)" + uses + "}", 11);
  push(buffer, 6);
  std::map<std::set<ItemId>, int> sets;
  for (int i = 0; i < 20'000; ++i) {
    const auto ids = ids_of(drawn(buffer, 3));
    ++sets[std::set<ItemId>(ids.begin(), ids.end())];
  }
  CHECK(sets.size() == 20);
  for (const auto& [set, count] : sets) {
    CHECK(set.size() == 3);
    check_near(count, 1000);
  }
}

TEST_CASE("buffer: draws with replacement are alike and may repeat") {
  Buffer buffer = buffer_of(R"({"policy": "uniform", "replace": true, "batch": 4})", 12);
  push(buffer, 4);
  std::map<std::size_t, int> different;
  std::vector<double> counts(5);
  for (int i = 0; i < 4000; ++i) {
    const auto ids = ids_of(drawn(buffer, 4));
    ++different[std::set<ItemId>(ids.begin(), ids.end()).size()];
    for (const ItemId id : ids) ++counts[id];
  }
  for (std::size_t id = 1; id <= 4; ++id) check_near(counts[id], 4000);
  check_near(different[1], 4000.0 * 4 / 256);  // of 4^4 sequences
  check_near(different[2], 4000.0 * 84 / 256);
  check_near(different[3], 4000.0 * 144 / 256);
  check_near(different[4], 4000.0 * 24 / 256);
}

TEST_CASE("buffer: prioritised draws are in proportion to the power of the priority") {
  const double alpha = GENERATE(0.0, 0.6, 1.0);
  Buffer buffer = buffer_of(
      R"({"policy": "prioritised", "batch": 5, "alpha": )" + std::to_string(alpha) + "}", 13);
  push(buffer, 6);
  const std::vector<double> priorities = {1, 2, 3, 10, 0.5, 0.1};
  set_priorities(buffer, priorities);
  double sum = 0;
  for (const double p : priorities) sum += std::pow(p + 1e-5, alpha);
  const auto counts = draws(buffer, 5, 8000);
  for (std::size_t i = 0; i < priorities.size(); ++i)
    check_near(counts.at(i + 1), 40'000 * std::pow(priorities[i] + 1e-5, alpha) / sum);
}

TEST_CASE("buffer: prioritised draws are one in each equal part of the mass") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "batch": 8, "alpha": 1})", 14);
  push(buffer, 8);
  // Of equal masses each is one part.
  for (int i = 0; i < 200; ++i)
    REQUIRE(ids_of(drawn(buffer, 8)) == std::vector<ItemId>{1, 2, 3, 4, 5, 6, 7, 8});
  // Half of the mass is half of the parts. Independent draws would miss that in 7 of 10 batches.
  set_priorities(buffer, {1, 1, 1, 1, 1, 1, 1, 7 + 6e-5});
  for (int i = 0; i < 200; ++i) {
    const auto ids = ids_of(drawn(buffer, 8));
    REQUIRE(std::ranges::count(ids, ItemId{8}) == 4);
  }
}

TEST_CASE("buffer: nothing is never drawn and new items come first") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "batch": 10, "alpha": 1})", 15);
  push(buffer, 2);
  set_priorities(buffer, {0, 0.01});
  const auto counts = draws(buffer, 2, 10'000);
  check_near(counts.at(1), 20'000 * 1e-5 / 0.01002);
  // The largest priority there ever was, though none is as large any more.
  set_priorities(buffer, {4, 0.01});
  set_priorities(buffer, {1 - 1e-5, 1 - 1e-5});
  push(buffer, 1);
  const auto after = draws(buffer, 3, 6000);
  check_near(after.at(3), 18'000 * 4.00001 / 6.00001);
  // One that comes with its own has that.
  std::vector<BufferItem> own = items_of(1);
  own[0].priority = 2;
  push(buffer, own, "q");
  check_near(draws(buffer, 4, 4000).at(4), 16'000 * 2.00001 / 8.00002);
}

TEST_CASE("buffer: weights undo the priorities and beta grows to 1") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "batch": 6, "anneal": 4})", 16);
  push(buffer, 3);
  const std::vector<double> priorities = {0.3, 1, 5};
  set_priorities(buffer, priorities);
  double sum = 0;
  for (const double p : priorities) sum += std::pow(p + 1e-5, 0.6);
  for (int batch = 0; batch < 8; ++batch) {
    const double beta = std::min(1.0, 0.4 + 0.6 * batch / 4);
    const auto weight = [&](double p) {  // section 3.4, as it is written
      return std::pow(1.0 / 3 * sum / std::pow(p + 1e-5, 0.6), beta);
    };
    for (const Drawn& one : drawn(buffer, 3)) {
      const double p = priorities.at(one.id - 1);
      CHECK(one.weight == Approx(weight(p) / weight(0.3)));
      CHECK(one.weight <= 1);
    }
  }
}

TEST_CASE("buffer: equal priorities weigh 1") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "batch": 8})", 17);
  push(buffer, 20);
  for (const Drawn& one : drawn(buffer, 8)) CHECK(one.weight == 1);
}

TEST_CASE("buffer: priorities as far apart as they may be") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "batch": 4, "alpha": 1, "beta": 1})", 18);
  push(buffer, 4);
  set_priorities(buffer, {0, 1e100, 0, 1e100});
  for (int i = 0; i < 100; ++i) {
    for (const Drawn& one : drawn(buffer, 4)) {
      CHECK(one.id % 2 == 0);
      CHECK(one.weight == Approx(1e-105));
    }
  }
}

}  // namespace attune::buffer_sample_test
