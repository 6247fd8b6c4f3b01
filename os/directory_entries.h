#pragma once
#include <filesystem>
#include <vector>

namespace attune {

// What is in a folder, in no order; as far as it can be read. Never throws, as a range-for over a
// directory_iterator does when the folder goes away meanwhile.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace attune
