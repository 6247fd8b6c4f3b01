// The examples of docs/plugin-protocol.md are what attuned writes and reads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "plugins/process/messages.h"
#include "space/parse.h"

namespace attune::protocol_page_test {

// The JSON values of the page's examples; a line that begins with a brace begins one.
std::vector<json> examples() {
  std::ifstream page(PROTOCOL_PAGE);
  REQUIRE(page);
  std::vector<std::string> texts;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```json";
    } else if (inside) {
      if (line.starts_with("{")) texts.emplace_back();
      texts.back() += line;
    }
  }
  std::vector<json> values;
  for (const std::string& text : texts) values.push_back(parse_json(text).value());
  return values;
}

// The requests of the page that are as `request` is, with the answers that stand below them.
json answer_to(const json& request) {
  const std::vector<json> all = examples();
  const auto found = std::ranges::find(all, request);
  INFO(dump_json(request));
  REQUIRE(found != all.end());
  REQUIRE(found + 1 != all.end());
  return found[1];
}

TEST_CASE("the protocol page has what is written, and what is read") {
  const Space space =
      parse_space(json{{"lr", {{"_type", "loguniform"}, {"_value", {0.0001, 1.0}}}}}).value();
  const auto described = read_describe(answer_to(describe_request())).value();
  CHECK((described.at(0).name == "Mine" && described.at(0).saves));
  Context context{.max_trials = 100, .concurrency = 4, .objectives = {{}}};
  context.fidelity = Fidelity{.max = 27};
  context.assessed = true;
  answer_to(init_request(described[0], {{{"width", 0.2}}, context, 7}, &space));

  const auto answers =
      read_ask(space, answer_to(ask_request(std::vector<TrialId>{4, 5, 6})), 3).value();
  CHECK(std::get<Proposal>(answers.at(0)).point.values == std::vector{0.01});
  CHECK(std::get<Proposal>(answers.at(1)).budget == 9.0);
  CHECK(std::holds_alternative<NotYet>(answers.at(2)));
  const Outcome outcome{
      .trial = 4, .point = {{0.01}}, .loss = 0.3, .metrics = {{"default", 0.3}, {"seconds", 12.0}}};
  answer_to(tell_request(space, {&outcome, 1}));
  answer_to(adopt_request(space, -2, {{0.02}}));
  answer_to({{"op", "withdraw"}, {"id", 5}});
  answer_to({{"op", "skip_ahead"}});
  const auto decisions = read_report(
      answer_to(report_request({.trial = 6, .step = 0, .metrics = {{"default", 0.7}}})));
  CHECK(decisions.value().at(0).action == Action::stop);
  const json state = read_save(answer_to({{"op", "save"}})).value();
  answer_to({{"op", "load"}, {"state", state}});

  const std::vector<Report> reports = {{6, 0, {{"default", 0.7}}}, {6, 1, {{"default", 0.6}}}};
  const auto decision = read_assess(6, answer_to(assess_request(6, reports, 1)));
  CHECK(decision.value().reason == "no progress");
  answer_to(trial_end_request(6, End::stopped));
}

}  // namespace attune::protocol_page_test
