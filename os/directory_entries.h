#pragma once
#include <filesystem>
#include <vector>

namespace attune {

// The entries of a folder, in no order, as far as they can be read. Never throws; a range-for over
// a directory_iterator throws if the folder is deleted meanwhile.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace attune
