#pragma once
// The part of an experiment file that says what may be tried: searchSpace or searchSpaceFile,
// constraints, initialPoints.
#include <filesystem>
#include <optional>

#include "manager/experiment/section.h"
#include "space/space.h"

namespace attune {

struct SpaceSection {
  json value;  // the search space as given
  // With its constraints; nothing when there is none that can be read. A parameter that is wrong is
  // in it, with some domain.
  std::optional<Space> space;
  bool sound = false;  // there is a space, and nothing in it or in its constraints is wrong
};

// `base`: what the path of a file is relative to.
SpaceSection read_space_section(const Section& top, const std::filesystem::path& base);

// Whether the points to try first lie in the space and meet the constraints.
void check_initial_points(const Section& top, const Space& space);

}  // namespace attune
