#pragma once
// Pictures of a stored experiment as files, for attune plot: the same as the dashboard shows.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/store/store_reader.h"
#include "plots/canvas.h"

namespace attune {

struct PictureQuestion {
  std::string kind;                          // one of picture_kinds()
  std::string metric = {};                   // an objective; empty: the first
  std::vector<std::string> parameters = {};  // of slice and contour; empty: those that matter most
  std::size_t best = 6;                      // curves: of so many of the best trials
  std::string method = "ped-anova";          // importance
  bool log = false;                          // results on a logarithmic scale
};

// "history", "curves", ...: in the order in which users read of them.
std::vector<std::string_view> picture_kinds();

// The bytes of the picture. Errors say what is missing: results, a second objective, ...
Result<std::string> stored_picture(StoreReader& reader, const StoredExperiment& experiment,
                                   const PictureQuestion& question,
                                   const plots::PageSettings& page);

}  // namespace attune
