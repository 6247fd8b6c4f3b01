#include "conformance/run.h"

#include <catch2/catch.hpp>

#include "tests/conformance/faulty_tuner.h"
#include "tests/support/memory_file.h"

namespace attune::run_test {

using conformance::Run;

struct Printed {
  int code = -1;
  std::string text;
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

Printed run(const TunerRegistry& tuners, const Run& what) {
  MemoryFile out;
  const int code = run_conformance(tuners, builtin_assessors(), what, out.file());
  return {code, out.text()};
}

TunerRegistry only(TunerFault fault, bool saves = true) {
  TunerEntry entry = faulty_tuner(fault);
  entry.saves = saves;
  TunerRegistry registry;
  registry.add(std::move(entry));
  return registry;
}

TEST_CASE("conformance: built-in algorithms are ok, each check on a line") {
  const Printed printed = run(builtin_tuners(), {.names = {"Random", "Medianstop"}, .quick = true});
  INFO(printed.text);
  CHECK(printed.code == 0);
  CHECK(printed.has("tuner Random\n  ok              declares its arguments"));
  CHECK(printed.has("\nassessor Medianstop\n  ok              arguments are declared"));
  CHECK(printed.has("17 ok, 0 failed, 0 not applicable\n"));
}

TEST_CASE("conformance: a tuner and an assessor of one name are checked once") {
  TunerEntry entry = *builtin_tuners().find("Random", "tuner").value();
  entry.name = "Medianstop";
  TunerRegistry registry;
  registry.add(std::move(entry));
  const Printed printed = run(registry, {.names = {"Medianstop", "Medianstop"}, .quick = true});
  INFO(printed.text);
  CHECK(printed.has("17 ok, 0 failed, 0 not applicable\n"));
}

TEST_CASE("conformance: a failure shows the demand, the place, and what came, and the code is 1") {
  const Printed printed =
      run(only(TunerFault::fails_after_many_requests), {.names = {"Faulty"}, .quick = false});
  INFO(printed.text);
  CHECK(printed.code == 1);
  CHECK(
      printed.has("  failed          very many requests without a result\n"
                  "      A thousand proposals in a row"));
  // What could move a terminal's cursor becomes text.
  CHECK(printed.has("expected an answer, came: out of \\x1b numbers\n"));
  CHECK(printed.has(" 1 failed,"));
}

TEST_CASE("conformance: what does not apply is said, and is no failure") {
  const Printed printed =
      run(only(TunerFault::ignores_the_seed, /*saves=*/false), {.names = {"Faulty"}});
  INFO(printed.text);
  CHECK(printed.code == 0);
  CHECK(
      printed.has("  not applicable  same seed and calls, same answers\n"
                  "      it says that it does not save"));
  CHECK(printed.has("      in part: it says that it does not save"));
  CHECK(printed.has("8 ok, 0 failed, 3 not applicable\n"));
}

TEST_CASE("conformance: a tuner that checks its arguments itself gets what the user wrote") {
  TunerEntry entry = faulty_tuner(TunerFault::none);
  entry.arguments.clear();
  entry.any_arguments = true;
  entry.make = [make = entry.make](const json& args, const auto& context, Rng rng) {
    return args == json{{"mine", 1}} ? make(json::object(), context, rng)
                                     : Result<std::unique_ptr<Tuner>>(fail("not mine"));
  };
  TunerRegistry registry;
  registry.add(std::move(entry));
  const Printed printed =
      run(registry, {.names = {"Faulty"}, .arguments = {{"mine", 1}}, .quick = true});
  INFO(printed.text);
  CHECK(printed.code == 0);
  CHECK(printed.has("      in part: it checks its arguments itself"));
}

TEST_CASE("conformance: an unknown name and a wrong argument are failures") {
  CHECK(run(builtin_tuners(), {.names = {"Randon"}}).code == 1);
  const Printed wrong = run(builtin_tuners(), {.names = {"Random"}, .arguments = {{"no_such", 1}}});
  CHECK(wrong.code == 1);
  CHECK(wrong.has("no_such"));
  CHECK(wrong.has("0 ok, 1 failed, 0 not applicable\n"));
}

}  // namespace attune::run_test
