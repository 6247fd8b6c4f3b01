#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace attune {

// A file that may be executed.
bool is_program(const std::filesystem::path& path);

// The first program `name` in the folders of `path`, which is as in the environment. Absolute.
std::optional<std::filesystem::path> find_in_path(const std::string& name, const std::string& path);

}  // namespace attune
