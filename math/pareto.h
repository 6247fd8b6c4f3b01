#pragma once
// Compares results with several objectives: which are better, and which are far from others.
//
// All numbers are minimised and finite, up to the largest double. `rows` holds one result after the
// other, `objectives` >= 1 numbers each. Equal rows may occur. Pure functions: any thread. The
// order of the rows matters only for equal ones: then the first comes first.
#include <cstddef>
#include <span>
#include <vector>

#include "base/standing.h"  // dominates()

namespace attune {

// The front of each row. Front 0 are the rows that no other dominates; front k those that only rows
// of earlier fronts dominate. Equal rows share a front.
//
// Zhang, Tian, Cheng, Jin, "An Efficient Approach to Nondominated Sorting for Evolutionary
// Multiobjective Optimization" (IEEE TEC 2015), ENS-BS: O(n log n) for one and two objectives,
// otherwise O(n^2) comparisons at worst.
std::vector<std::size_t> nondominated_fronts(std::span<const double> rows, std::size_t objectives);

// The crowding distance of each row that `front` names (indices, each once), in the order of
// `front`: the distance between its two neighbours in an objective, divided by the front's range in
// it, summed over the objectives. Infinity for the ends of an objective. Deb, Pratap, Agarwal,
// Meyarivan, "A Fast and Elitist Multiobjective Genetic Algorithm: NSGA-II" (IEEE TEC 2002),
// section III-B.
//
// Of equal rows only the first has this distance; the others have 0, because they add nothing.
// Otherwise both copies of an end would be infinitely valuable (Fortin, Parizeau, GECCO 2013). An
// objective in which all rows are equal is ignored.
std::vector<double> crowding_distances(std::span<const double> rows, std::size_t objectives,
                                       std::span<const std::size_t> front);

// The indices of all rows, the best first: by front, then by crowding distance, then by index (the
// crowded comparison of NSGA-II).
std::vector<std::size_t> crowded_order(std::span<const double> rows, std::size_t objectives);

}  // namespace attune
