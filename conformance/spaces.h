#pragma once
// Search spaces of every kind that there is, for what every tuner must do.
#include <string>
#include <vector>

#include "space/space.h"

namespace attune::conformance {

struct TestSpace {
  std::string name;
  Space space;
};

const std::vector<TestSpace>& test_spaces();

}  // namespace attune::conformance
