#pragma once
// Results with several objectives: which of them are better, which lie alone.
//
// All are minimised and finite. `rows` holds one result after the other, `objectives` numbers each;
// rows.size() is a multiple of `objectives`, which is at least 1. Any magnitude up to the largest
// double; equal rows may occur. Pure functions: any thread. The answers depend on the order of the
// rows only where equal ones must be told apart: then the first comes first.
#include <cstddef>
#include <span>
#include <vector>

#include "base/standing.h"  // dominates()

namespace attune {

// The front of each row: 0 for those that no other dominates, k for those that only rows of the
// fronts before k dominate. Equal rows share a front.
//
// Zhang, Tian, Cheng, Jin, "An Efficient Approach to Nondominated Sorting for Evolutionary
// Multiobjective Optimization" (IEEE TEC 2015), ENS-BS: O(n log n) for one and two objectives,
// otherwise O(n^2) comparisons at worst.
std::vector<std::size_t> nondominated_fronts(std::span<const double> rows, std::size_t objectives);

// How far apart the neighbours of each row are, of those rows that `front` names (indices, each
// once), in the order of `front`: the sum over the objectives of their distance, in ranges of the
// front. Infinity for the ends of an objective. Deb, Pratap, Agarwal, Meyarivan, "A Fast and
// Elitist Multiobjective Genetic Algorithm: NSGA-II" (IEEE TEC 2002), section III-B.
//
// Of equal rows the first one has it, and the others 0, as they add nothing; otherwise both copies
// of an end would be infinitely valuable (Fortin, Parizeau, GECCO 2013). An objective in which all
// are equal tells nothing.
std::vector<double> crowding_distances(std::span<const double> rows, std::size_t objectives,
                                       std::span<const std::size_t> front);

// All rows, the best first: by their front, then by their crowding distance in it, then by index
// (the crowded comparison of NSGA-II).
std::vector<std::size_t> crowded_order(std::span<const double> rows, std::size_t objectives);

}  // namespace attune
