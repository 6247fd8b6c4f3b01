#include <algorithm>
#include <array>
#include <utility>

#include "dashboard/page_files.h"

namespace attune {

const PageFile* find_page_file(std::string_view name) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

std::string media_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
  }};
  for (const auto& [ending, type] : kTypes)
    if (name.ends_with(ending)) return std::string(type);
  return "text/plain; charset=utf-8";
}

}  // namespace attune
