#include "manager/dashboard/store_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "manager/store/schema.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr int kDepth = 12;  // below a root

struct Search {
  std::size_t left = 0;
  StoreTree found = {};

  // Whether the folder holds a store.
  bool add(const fs::path& folder) {
    std::error_code error;
    const fs::path file = fs::canonical(folder / kStoreFile, error);
    if (error) return false;
    found.stores.push_back(file.parent_path());
    return true;
  }

  void enter(const fs::path& folder, int depth) {
    if (add(folder) || depth > kDepth) return;
    if (left == 0) return;
    --left;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
      const std::string name = each->path().filename().string();
      std::error_code ignored;
      if (name.starts_with(".") || each->is_symlink(ignored) || !each->is_directory(ignored))
        continue;
      enter(each->path(), depth + 1);
    }
    if (error && depth == 0) found.problems.emplace_back(folder, error.message());
  }
};

}  // namespace

StoreTree find_stores(const std::vector<fs::path>& roots, std::size_t most) {
  Search search{most};
  for (const fs::path& root : roots) search.enter(root, 0);
  if (search.left == 0 && !roots.empty())
    search.found.problems.emplace_back(
        roots.front(),
        fmt::format("more than {} folders: name the folders that hold experiments", most));
  auto& stores = search.found.stores;
  std::ranges::sort(stores);
  stores.erase(std::ranges::unique(stores).begin(), stores.end());
  return std::move(search.found);
}

Result<StoreReader> open_trusted_store(const fs::path& folder) {
  TRY(check_trusted(folder / kStoreFile));
  return StoreReader::open(folder);
}

}  // namespace attune
