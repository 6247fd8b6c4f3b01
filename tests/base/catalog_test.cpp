// Finding an algorithm by name.
#include "base/catalog.h"

#include <catch2/catch.hpp>

namespace attune::catalog_test {

struct Entry {
  std::string name;
  std::vector<std::string> aliases;
};

Catalog<Entry> catalog() {
  Catalog<Entry> made;
  made.add({"Random", {}});
  made.add({"Batch", {"BatchTuner"}});
  made.add({"TPE", {}});
  return made;
}

TEST_CASE("names and aliases are found in either case") {
  const auto known = catalog();
  const char* name = GENERATE("Batch", "batch", "BATCH", "BatchTuner", "batchtuner");
  const auto found = known.find(name, "tuner");
  REQUIRE(found);
  CHECK((*found)->name == "Batch");
}

TEST_CASE("an unknown name lists what there is, and the nearest") {
  const auto known = catalog();
  CHECK(known.find("Randm", "tuner").error().message ==
        R"(unknown tuner "Randm"; did you mean "Random"? Known: Random, Batch, TPE)");
  CHECK(known.find("tpee", "tuner").error().message.find("did you mean \"TPE\"?") !=
        std::string::npos);
  CHECK(known.find("Hyperband", "tuner").error().message ==
        R"(unknown tuner "Hyperband". Known: Random, Batch, TPE)");
  CHECK(known.find("", "assessor").error().message.starts_with(R"(unknown assessor "")"));
  CHECK_FALSE(known.find("Rando", "tuner"));  // a prefix is not a name
}

TEST_CASE("entries keep the order in which they were added") {
  const auto known = catalog();
  REQUIRE(known.entries().size() == 3);
  CHECK(known.entries()[0].name == "Random");
  CHECK(known.entries()[2].name == "TPE");
}

}  // namespace attune::catalog_test
