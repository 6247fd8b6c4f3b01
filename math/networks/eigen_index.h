#pragma once
// Include it only in .cpp files: Eigen is slow to compile.
#include <Eigen/Core>
#include <cstddef>

namespace attune {

inline Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

}  // namespace attune
