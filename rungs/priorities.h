#pragma once
// Turns results with several objectives into one order, as MOASHA of Syne Tune does. All numbers
// are minimised and finite. `rows` holds one result after the other, `objectives` >= 1 numbers
// each. A smaller priority is better. Pure functions: any thread.
//
// Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective Asynchronous Successive Halving"
// (2021), section 3.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// The mean of a row's numbers, each times the weight of its objective. No weights: all are 1.
std::vector<double> linear_priorities(std::span<const double> rows, std::size_t objectives,
                                      std::span<const double> weights = {});

// The first number of each row.
std::vector<double> first_priorities(std::span<const double> rows, std::size_t objectives);

// All indices in an order that spreads: first the row with the smallest first number, then always
// the row that is farthest from those before it (by the Euclidean distance to the nearest of them).
// Of equals the first one. O(n^2).
//
// Clarkson, "Nearest-Neighbor Searching and Metric Space Dimensions" (2005), section 2.4.
std::vector<std::size_t> epsilon_net(std::span<const double> rows, std::size_t objectives);

// The place of a row, counted from 0, when all are ordered: by the front of the non-dominated
// sorting (math/pareto.h), and inside of a front as epsilon_net() of it. So no two rows have the
// same place.
//
// Syne Tune 0.13 to 0.15 differ in two ways, both of them errors. They give row i the index of the
// row at place i of the order; so the best of five results can have the worst priority. And inside
// of a front they take the places of the epsilon net for its order.
//
// Cost: O(n log n) for the fronts of one or two objectives, else up to O(n^2); O(f^2) for the order
// of the row's own front of f rows.
std::size_t nondominated_place(std::span<const double> rows, std::size_t objectives,
                               std::size_t row);

// How many of the priorities are smaller than the last one. There is at least one.
std::size_t better_than_last(std::span<const double> priorities);

// How many of the rows are better than the last one: by the mean, by the first number, or by
// nondominated_place(). There is at least one row.
std::size_t better_by_mean(std::span<const double> rows, std::size_t objectives);
std::size_t better_by_first(std::span<const double> rows, std::size_t objectives);
std::size_t better_by_trade_off(std::span<const double> rows, std::size_t objectives);

}  // namespace attune
