#include "manager/cli/commands/pool_text.h"

#include <catch2/catch.hpp>

#include "tests/manager/cli/printed.h"

namespace attune::pool_text_test {

TEST_CASE("pool: workers and tasks and buffers in tables") {
  const Printed printed;
  const json worker = {{"worker", "w1"},         {"host", "node7"},
                       {"state", "ready"},       {"capacity", {{"cpu", 4.0}}},
                       {"used", {{"cpu", 2.5}}}, {"labels", {"fast", "big"}},
                       {"tasks", {"a", "b"}}};
  const json runs = {{"task", "a"},  {"kind", "trial"}, {"state", "running"},
                     {"attempt", 1}, {"seconds", 60},   {"worker", "w1"}};
  const json waits = {{"task", "c"},  {"kind", "learn"}, {"state", "queued"},
                      {"attempt", 0}, {"seconds", 0},    {"waits", "no worker may have it"}};
  const json buffer = {{"size", 7},     {"capacity", 10},      {"pushed", 9},
                       {"sampled", 20}, {"waiting_pushes", 0}, {"waiting_samples", 1}};
  const json status = {{"workers", {worker}},
                       {"tasks", {runs, waits}},
                       {"task_count", 5},
                       {"buffers", {{"c.buffer", buffer}}}};
  CHECK(pool_text(status, printed.console).value() ==
        "WORKER  HOST   STATE  TASKS  IN USE        LABELS\n"
        "w1      node7  ready  2      2.5 of 4 cpu  fast,big\n"
        "\n"
        "TASK  KIND   STATE    FOR         ATTEMPT  WORKER  REASON\n"
        "a     trial  running  1 min 00 s  1        w1\n"
        "c     learn  queued   0.0 s       0                no worker may have it\n"
        "\n"
        "BUFFER    ITEMS  CAPACITY  PUSHED  SAMPLED  WAITING\n"
        "c.buffer  7      10        9       20       0 to push, 1 to sample\n"
        "... and 3 more tasks\n");
  CHECK_THAT(pool_text({{"workers", json::array()},
                        {"tasks", json::array()},
                        {"task_count", 0},
                        {"buffers", json::object()}},
                       printed.console)
                 .value(),
             Catch::StartsWith("no workers"));
}

TEST_CASE("pool: what is no status is an error") {
  const Printed printed;
  CHECK_FALSE(pool_text(json::object(), printed.console));
  CHECK_FALSE(pool_text({{"workers", {1}}}, printed.console));
  CHECK_FALSE(pool_text({{"workers", json::array()},
                         {"tasks", {{{"task", 3}}}},
                         {"task_count", 0},
                         {"buffers", json::object()}},
                        printed.console));
}

}  // namespace attune::pool_text_test
