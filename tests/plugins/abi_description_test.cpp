// What a shared object says of its algorithms, and what is refused of it.
#include "plugins/abi_description.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::abi_description_test {

// An assessor with one argument, which a test changes.
struct Said {
  Said() {
    algorithm.name = "Mine";
    algorithm.summary = "stops";
    algorithm.arguments = &argument;
    algorithm.argument_count = 1;
    algorithm.create = [](const attune_setup*, void**) -> const char* { return nullptr; };
    algorithm.destroy = [](void*) {};
    algorithm.assessor = &functions;
    functions.assess = [](void*, int64_t, const attune_report*, size_t,
                          attune_decision*) -> const char* { return nullptr; };
  }
  std::string error() const {
    const attune_plugin plugin{&algorithm, 1};
    const auto read = descriptions_of(plugin);
    return read ? "" : read.error().message;
  }
  attune_argument_declaration argument{"width", "how far", ATTUNE_ARGUMENT_NUMBER, "0.5", 0,
                                       1,       nullptr};
  attune_assessor functions{};
  attune_algorithm algorithm{};
};

TEST_CASE("description of a shared object: what is right is read") {
  Said said;
  CHECK(said.error().empty());
  said.algorithm.summary = nullptr;
  said.argument.help = nullptr;
  CHECK(said.error().empty());
}

TEST_CASE("description of a shared object: what makes no sense is an error") {
  using Catch::Contains;
  const auto error = [](auto change) {
    Said said;
    change(said);
    return said.error();
  };
  CHECK_THAT(error([](Said& s) { s.algorithm.name = "a b"; }), Contains("its name \"a b\""));
  CHECK_THAT(error([](Said& s) { s.algorithm.summary = "two\nlines"; }), Contains("its summary"));
  CHECK_THAT(error([](Said& s) { s.algorithm.arguments = nullptr; }), Contains("are missing"));
  CHECK_THAT(error([](Said& s) { s.argument.name = "seed"; }), Contains("the name seed is taken"));
  CHECK_THAT(error([](Said& s) { s.argument.help = "\x1b[2J"; }), Contains("its help"));
  CHECK_THAT(error([](Said& s) { s.argument.fallback = "7"; }), Contains("width"));
  CHECK_THAT(error([](Said& s) { s.argument.type = 77; }), Contains("the type 77"));
  CHECK_THAT(error([](Said& s) { s.functions.assess = nullptr; }), Contains("assess is missing"));
  CHECK_FALSE(descriptions_of(attune_plugin{nullptr, 3}));
}

}  // namespace attune::abi_description_test
