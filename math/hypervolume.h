#pragma once
// How much results with several objectives cover. All are minimised and finite, of any magnitude up
// to the largest double; `rows` holds one after the other.
#include <cstddef>
#include <span>

namespace attune {

// The volume of what the rows dominate and `reference` (of `objectives` numbers) does not exceed.
// Rows that are not better than the reference everywhere add nothing. Infinity or 0 only where it
// is beyond the doubles.
//
// Two and three objectives: a sweep over the last one (Fonseca, Paquete, Lopez-Ibanez, "An Improved
// Dimension-Sweep Algorithm for the Hypervolume Indicator", CEC 2006, its base case), O(n log n),
// O(n^2) at worst. More: While, Bradstreet, Barone, "A Fast Way of Calculating Exact Hypervolumes"
// (IEEE TEC 2012), with slicing: each row adds what it covers beyond those after it, which is a
// volume of one dimension less. Exponential in the number of objectives.
double hypervolume(std::span<const double> rows, std::size_t objectives,
                   std::span<const double> reference);

}  // namespace attune
