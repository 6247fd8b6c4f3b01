#include "cluster/pool/task.h"

#include <catch2/catch.hpp>

namespace attune::task_test {

using enum TaskState;

TaskSpec full_spec() {
  TaskSpec spec;
  spec.id = "e1-t0001-0";
  spec.kind = "trial";
  spec.client = "e1";
  spec.needs = {2, 0.5, 1e9, {{"licence", 1}}};
  spec.labels = {"fast"};
  spec.worker = "w1";
  spec.owns = {{"b", R"({"policy": "fifo"})"}};
  spec.uses = {"c", "d"};
  spec.priority = -3;
  spec.limits = {1, 2, 3, 4};
  spec.program = R"({"command": "true"})";
  return spec;
}

TEST_CASE("task: a spec is read back as it was written") {
  CHECK(parse_task_spec(to_json(full_spec())) == full_spec());
  TaskSpec least;
  least.id = "a";
  least.kind = "collect";
  CHECK(parse_task_spec(to_json(least)) == least);
}

TEST_CASE("task: what is wrong with a spec is said with the name of the field") {
  const auto [key, value] = GENERATE(table<std::string, std::string>({
      {"id", R"("../x")"},
      {"id", R"("")"},
      {"id", R"(".hidden")"},
      {"kind", "7"},
      {"needs", R"({"cpu": -1})"},
      {"needs", R"({"cpu": Infinity})"},  // JSON has none: no journal could be read back
      {"needs", R"({"custom": {"cpu": 1e400}})"},
      {"needs", R"({"custom": {"cpu": "x"}})"},
      {"labels", "[1]"},
      {"priority", "0.5"},
      {"limits", R"({"attempts": 0})"},
      {"limits", R"({"attempts": 1.5})"},
      {"limits", R"({"run": -1})"},
      {"owns", R"([{"id": "b"}])"},
      {"uses", R"("b")"},
      {"program", "{}"},
  }));
  json object = to_json(full_spec());
  object[key] = *parse_json(value);
  const auto spec = parse_task_spec(object);
  REQUIRE(!spec);
  INFO(spec.error().message);
  const json& inner = object[key];
  const std::string named = inner.is_object() && !inner.empty() ? inner.begin().key() : key;
  CHECK((spec.error().message.find(named) != std::string::npos ||
         spec.error().message.find("cpu") != std::string::npos ||
         spec.error().message.find("settings") != std::string::npos));
  CHECK(!parse_task_spec(json(1)));
}

TEST_CASE("task: no edge leads out of an end, and all states have names") {
  for (const TaskState from :
       {queued, leased, running, closing, succeeded, failed, cancelled, lost}) {
    CHECK(parse_task_state(to_text(from)) == from);
    for (const TaskState to :
         {queued, leased, running, closing, succeeded, failed, cancelled, lost}) {
      if (is_end(from)) CHECK_FALSE(may_become(from, to));
      if (to == from) CHECK_FALSE(may_become(from, to));
    }
    if (!is_end(from)) CHECK(may_become(from, cancelled));
  }
  CHECK_FALSE(parse_task_state("new"));
  CHECK_FALSE(may_become(queued, running));  // not without a lease
  CHECK_FALSE(may_become(running, leased));
}

}  // namespace attune::task_test
