#include "backends/report/tune_metric.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/json.h"

namespace attune::tune_metric_test {

TEST_CASE("tune metric: lines as Syne Tune reads them") {
  std::ifstream stream(ATTUNE_TEST_DATA "/syne_report_retrieve.json");
  const json cases = json::parse(stream);
  REQUIRE(cases.size() == 2);
  for (const json& recorded : cases) {
    json parsed = json::array();
    int errors = 0;
    for (const json& line : recorded.at("lines")) {
      const std::string text = line;
      const auto found = find_tune_metric(text);
      if (!found) continue;
      auto value = parse_json(*found);
      errors += value ? 0 : 1;
      if (value) parsed.push_back(*std::move(value));
    }
    // Where Syne Tune raises for the whole text, ours loses the line that is wrong.
    const bool raises = recorded.at("parsed").is_string();
    CHECK(errors == (raises ? 1 : 0));
    CHECK(parsed == (raises ? cases[0] : recorded).at("parsed"));
  }
}

TEST_CASE("tune metric: braces that are no report") {
  CHECK_FALSE(find_tune_metric("[tune-metric]: {").has_value());
  CHECK_FALSE(find_tune_metric("} [tune-metric]: {").has_value());
}

}  // namespace attune::tune_metric_test
