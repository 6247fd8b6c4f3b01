#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace attune {

// Whether `path` is a file that we may execute.
bool is_program(const std::filesystem::path& path);

// The first program `name` in the folders of `path`, which has the form of $PATH. The result is
// absolute.
std::optional<std::filesystem::path> find_in_path(const std::string& name, const std::string& path);

}  // namespace attune
