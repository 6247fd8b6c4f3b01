#pragma once
// Reads the part of an experiment file that describes the search space: searchSpace or
// searchSpaceFile, constraints, initialPoints. Mistakes become findings of the section.
#include <filesystem>
#include <optional>

#include "manager/experiment/section.h"
#include "space/space.h"

namespace attune {

struct SpaceSection {
  json value;  // the search space as given
  // With its constraints. Nothing: there is no search space, or it cannot be read at all. A
  // parameter with a mistake is in it with some domain, so that other checks know its name.
  std::optional<Space> space;
  bool sound = false;  // there is a space, and neither it nor its constraints have a mistake
};

// `base`: the folder to which the path of searchSpaceFile is relative.
SpaceSection read_space_section(const Section& top, const std::filesystem::path& base);

// Reads a search space that stands alone in a YAML or JSON file. Errors: those of read_user_text(),
// and all mistakes in the space, each with its line and column.
Result<json> read_search_space_file(const std::filesystem::path& file);

// Checks that the initial points lie in the space and meet the constraints.
void check_initial_points(const Section& top, const Space& space);

}  // namespace attune
