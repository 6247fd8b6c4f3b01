#pragma once
// Selects the imported results that the tuner can use.
#include <string>
#include <vector>

#include "protocol/command.h"
#include "space/space.h"

namespace attune {

struct FitRecords {
  std::vector<ImportData::Record> good;
  std::size_t left_out = 0;
  std::string why;  // why the first of them was left out
};
// Keeps the records whose value has a number, and whose parameters lie in the space and meet its
// constraints.
FitRecords fit_records(const Space& space, std::vector<ImportData::Record> records);

}  // namespace attune
