#pragma once
// The files of the page, which the build puts into the program (embed_page.py).
#include <span>
#include <string>
#include <string_view>

namespace attune {

struct PageFile {
  std::string_view name;  // "index.html", "page.js", "page.css", "licences.txt"
  std::string_view plain;
  std::string_view gzip, brotli;  // the same, packed
};

std::span<const PageFile> page_files();  // sorted by name

// nullptr: there is no such file.
const PageFile* find_page_file(std::string_view name);

// The Content-Type of a file by its ending.
std::string media_type(std::string_view name);

}  // namespace attune
