// What lies between io and the workers survives a state that is written as strict JSON.
#include <catch2/catch.hpp>
#include <cmath>

#include "dispatcher/messages_json.h"
#include "tests/support/through_text.h"

namespace attune::messages_json_test {

template <class Message>
Message reload(const Message& message) {
  const json state = through_text(save_message(message));
  const auto loaded = load_message(state);
  if (!loaded) FAIL(loaded.error().message);
  CHECK(save_message(*loaded) == state);
  return std::get<Message>(*loaded);
}

Decided decided_on(TrialId trial, Action action, const std::string& reason, const json& value) {
  Decided decided;
  decided.decision = {trial, action, reason};
  decided.last_value = value;
  return decided;
}

TEST_CASE("messages: every kind comes back as it was") {
  const json parameters = parse_json(
                              R"({"i": 1, "r": 1.0, "z": -0.0, "big": 18446744073709551615,
                                  "n": NaN, "list": [Infinity, {"deep": -Infinity}],
                                  "t": "\u0000attune:nan é", "none": null, "yes": true})")
                              .value();
  const auto same = [](const json& one, const json& other) {
    CHECK(one.dump() == other.dump());  // the order of members, 1 and 1.0 and -0.0 too
    CHECK(std::isnan(one["n"].get<double>()));
    CHECK(one["list"][0] == HUGE_VAL);
    CHECK(one["list"][1]["deep"] == -HUGE_VAL);
  };
  reload(SpaceSet{});
  CHECK(reload(Noted{"[1,\"a\",[[0.5]]]\n"}).notes == "[1,\"a\",[[0.5]]]\n");

  const Offer offer = reload(Offer{7, 3, parameters, 5});
  CHECK(offer.asked == 7);
  CHECK(offer.trial == 3);
  CHECK(offer.checkpoint_from == 5);
  same(offer.parameters, parameters);
  CHECK(offer.reason.empty());
  CHECK_FALSE(reload(Offer{7, 7, parameters, {}}).checkpoint_from);
  CHECK(reload(Offer{7, 3, parameters, {}, "the best of 3"}).reason == "the best of 3");

  const NoMore no_more = reload(NoMore{9, "\"no\" more"});
  CHECK(no_more.asked == 9);
  CHECK(no_more.reason == "\"no\" more");

  const ParameterForJob parameter = reload(ParameterForJob{4, "job", 2, parameters});
  CHECK(parameter.id == 4);
  CHECK(parameter.trial_job_id == "job");
  CHECK(parameter.parameter_index == 2);
  same(parameter.parameters, parameters);
  CHECK(reload(ParameterForJob{4, "job", 2, nullptr}).parameters.is_null());

  for (const Action action : {Action::keep_going, Action::checkpoint, Action::pause, Action::stop,
                              Action::drop_checkpoint}) {
    const Decided decided = reload(decided_on(-3, action, "why", parameters));
    CHECK(decided.decision.trial == -3);
    CHECK(decided.decision.action == action);
    CHECK(decided.decision.reason == "why");
    same(decided.last_value, parameters);
  }
  CHECK(reload(decided_on(1, Action::stop, "", nullptr)).last_value.is_null());
  Decided complete = decided_on(1, Action::stop, "27 of 27", 0.5);
  CHECK_FALSE(reload(complete).decision.complete);
  complete.decision.complete = true;
  CHECK(reload(complete).decision.complete);
  CHECK(reload(decided_on(1, Action::stop, "", HUGE_VAL)).last_value == HUGE_VAL);

  Decided expecting = decided_on(1, Action::stop, "", 0.5);
  CHECK(reload(expecting).expected.is_null());
  expecting.expected = parameters;
  same(reload(expecting).expected, parameters);

  CHECK(reload(Passed{12}).number == 12);
}

TEST_CASE("messages: damage is an error that names the member") {
  const std::vector<WorkerMessage> all = {Offer{7, 3, json::object(), 5}, NoMore{9, "x"},
                                          ParameterForJob{4, "job", 2, nullptr},
                                          decided_on(1, Action::stop, "", nullptr), Passed{12}};
  for (const WorkerMessage& message : all) {
    const json good = save_message(message);
    for (const auto& [key, value] : good.items()) {
      for (const json& replacement : {json(1.5), json::array(), json(), json(-1), json("{")}) {
        json damaged = good;
        damaged[key] = replacement;
        const bool fits = value.is_number_integer() && replacement == -1 && key != "number";
        const bool text = replacement == "{" && (key == "reason" || key == "trial_job_id");
        if (fits || text) continue;
        CAPTURE(key, dump_json(replacement));
        CHECK_FALSE(load_message(damaged));
      }
      json damaged = good;
      damaged.erase(key);
      if (key != "checkpoint_from") {
        const auto loaded = load_message(damaged);
        REQUIRE_FALSE(loaded);
        CHECK_THAT(loaded.error().message, Catch::Contains("\"" + key + "\""));
      }
    }
  }
  for (const json& odd : {json(), json(3), json::array(), json("offer"), json::object()}) {
    CHECK_FALSE(load_message(odd));
  }
  CHECK_FALSE(load_decision({{"trial", 1}, {"action", 5}, {"reason", ""}}));
  CHECK_FALSE(load_decision({{"trial", 1}, {"action", 3}, {"reason", ""}, {"complete", 1}}));
}

}  // namespace attune::messages_json_test
