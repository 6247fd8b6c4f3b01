// Which stores are found below a folder.
#include "manager/dashboard/store_tree.h"

#include <catch2/catch.hpp>

#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::store_tree_test {

namespace fs = std::filesystem;

TEST_CASE("store tree: the stores of a folder and below it") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path);
  for (const char* name : {"a", "b/c", "b/.hidden", "outside"})
    begin_experiment(root / name, "abcd2345").commit().value();
  fs::create_directories(root / "roots");
  fs::rename(root / "a", root / "roots/a");
  fs::rename(root / "b", root / "roots/b");
  fs::create_directory_symlink(root / "outside", root / "roots/link");
  const StoreTree tree = find_stores({root / "roots"});
  CHECK(tree.stores == std::vector<fs::path>{root / "roots/a", root / "roots/b/c"});
  CHECK(tree.problems.empty());
  CHECK(find_stores({root / "roots/a"}).stores.size() == 1);
  // The folder of an experiment leads to the store of its working directory.
  CHECK(find_stores({root / "roots/a/abcd2345", root / "roots"}).stores == tree.stores);
}

TEST_CASE("store tree: what cannot be searched is told") {
  const TemporaryFolder folder;
  CHECK(find_stores({folder.path}).stores.empty());
  CHECK(find_stores({folder.path}).problems.empty());
  REQUIRE(find_stores({folder.path / "missing"}).problems.size() == 1);
  for (int i = 0; i < 5; ++i) fs::create_directory(folder.path / std::to_string(i));
  REQUIRE(find_stores({folder.path}, 3).problems.size() == 1);
}

}  // namespace attune::store_tree_test
