// Any bytes as a journal of Optuna: each row of what is adopted can be written and read, and its
// parameters are an object.
#include "base/python_json.h"
#include "manager/interchange/optuna_import.h"
#include "space/parse.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  const auto adopted = adopt_optuna_journal(input, "");
  if (!adopted) {
    ATTUNE_CHECK(!adopted.error().message.empty());
    return;
  }
  const auto space = parse_space(adopted->file["searchSpace"]);
  for (const json& row : adopted->rows) {
    ATTUNE_CHECK(row["parameters"].is_object());
    ATTUNE_CHECK(parse_json(dump_python_json(row)).has_value());
    if (space) static_cast<void>(point_from_json(*space, row["parameters"]));
  }
}
