#pragma once
// Finds the stores below some folders.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "manager/store/store_reader.h"

namespace attune {

struct StoreTree {
  std::vector<std::filesystem::path> stores;  // the folders of attune.sqlite, sorted, canonical
  std::vector<std::pair<std::filesystem::path, std::string>> problems;  // what could not be read
};

// Searches the folders and those below them, but not below a store, behind a symbolic link, or in a
// hidden folder. A root may be the folder of one experiment: its store is that of the working
// directory. `most`: so many folders are read; if there are more, a problem says so.
StoreTree find_stores(const std::vector<std::filesystem::path>& roots, std::size_t most = 10'000);

// Opens a store that only trusted users can write (os/trust.h). Nobody has named it, so it may be
// anybody's, and could be made to hold up or to mislead a program that serves several. Errors name
// the cure.
Result<StoreReader> open_trusted_store(const std::filesystem::path& folder);

}  // namespace attune
