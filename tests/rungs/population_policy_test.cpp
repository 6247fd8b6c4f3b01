#include "rungs/population_policy.h"

#include "tests/support/scheduler_traces.h"

namespace attune::population_policy_test {

TEST_CASE("policy: as Ray reads it") {
  const json cases = read_trace(traces_folder() / "ray_stoppers_explore_replay.json");
  int checked = 0;
  for (const json& one : cases["pbt_replay_parse"]) {
    CAPTURE(one.dump());
    std::string text;
    for (const json& row :
         one["rows[target_tag,clone_tag,target_iter,clone_iter,old_conf,new_conf]"]) {
      text += row.dump() + "\n";
    }
    const auto policy = parse_population_policy(text);
    REQUIRE(policy);
    CHECK(policy->initial == one["initial_config"]);
    json changes = json::array();
    for (const auto& change : policy->changes) changes.push_back({change.at, change.config});
    CHECK(changes == one["policy[step,config]"]);
    ++checked;
  }
  CHECK(checked == 4);
}

TEST_CASE("policy: lines that are none are named") {
  const std::string good = R"(["0","1",1,2,{},{"x":1}])";
  for (const char* bad : {"x", "[]", R"(["0",1,1,2,{},{}])", R"(["0","1","1",2,{},{}])",
                          R"(["0","1",1,2,{}])", R"(["0","1",1,2,{},[]])", "{}"}) {
    CAPTURE(bad);
    const auto policy = parse_population_policy(good + "\n\n" + bad);
    REQUIRE_FALSE(policy);
    CHECK(policy.error().message.starts_with("line 3: "));
  }
  CHECK(parse_population_policy(" \n" + good + "\r\n").value().changes.size() == 1);
}

}  // namespace attune::population_policy_test
