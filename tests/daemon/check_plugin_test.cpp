#include "daemon/check_plugin.h"

#include <catch2/catch.hpp>

#include "daemon/options.h"
#include "tests/support/memory_file.h"

namespace attune::check_plugin_test {

struct Printed {
  int code = -1;
  std::string errors;
};

Printed run(const CheckPlugin& command) {
  MemoryFile errors;
  const int code = run_check_plugin(command, stdout, errors.file());
  return {code, errors.text()};
}

TEST_CASE("check-plugin: what cannot be opened, and arguments that are no JSON, end with 2") {
  const Printed missing = run({.plugins = {"./no/such/plug\x1bin.so"}});
  CHECK(missing.code == 2);
  CHECK(missing.errors.find("no/such/plug\\x1bin.so") != std::string::npos);
  const Printed no_json = run({.plugins = {"./x.so"}, .class_args = "{"});
  CHECK(no_json.code == 2);
  CHECK(no_json.errors.starts_with("attuned: --classArgs: "));
}

TEST_CASE("check-plugin: plug-ins and arguments come from the command line") {
  const char* argv[] = {"attuned", "check-plugin", "--classArgs", R"({"k": 2})",
                        "--quick", "a.so",         "python3 b.py"};
  Options options;
  const auto read = read_options(7, argv, {}, 0, options);
  REQUIRE(read);
  CHECK(options.run == Options::Run::check_plugin);
  CHECK(options.check_plugin.plugins == std::vector<std::string>{"a.so", "python3 b.py"});
  CHECK(options.check_plugin.class_args == R"({"k": 2})");
  CHECK(options.check_plugin.quick);
  const char* none[] = {"attuned", "check-plugin"};
  Options empty;
  const auto usage = read_options(2, none, {}, 0, empty);
  REQUIRE_FALSE(usage);
  CHECK(usage.error().exit_code == 2);
}

}  // namespace attune::check_plugin_test
