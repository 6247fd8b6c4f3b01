// Learner, collectors and evaluations as tasks of a real coordinator, on a real worker.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/server_fixture.h"

namespace attune::tasks_test {

using namespace attune::test;

// For measurements: CART_POLE='{"seed": 7, "most_steps": 500, "stop": 475}'.
json asked_for() {
  const char* text = std::getenv("CART_POLE");
  json more = text == nullptr ? json::object() : parse_json(text).value();
  if (!more.contains("seed")) more["seed"] = 1;
  if (!more.contains("stop")) more["stop"] = 195;
  return more;
}

constexpr char kBuffer[] = R"({"policy": "prioritised", "capacity": 2000, "batch": 16,
    "min_items": 50, "rate_limit": {"min": 32, "max": 96, "window": 1000}})";

struct CartPole : ServerFixture {
  CartPole() {
    std::ofstream(folder.path / "experiment.json") << "{}";
    command = "case $NNI_TRIAL_JOB_ID in *learn*) exec " CART_POLE_LEARNER
              ";; *) exec " CART_POLE_COLLECTOR ";; esac";
    start_server();
    start_worker("w", 8);
    client = &start_client();
    REQUIRE(run_until([&] { return client->has("welcome"); }));
  }
  ~CartPole() {
    client->say({{"type", "shutdown"}});
    CHECK(run_until([&] { return finished; }));
  }

  void submit(const std::string& id, const json& more) {
    TaskSpec spec = trial_task(id);
    json parameters = {{"coordinator", dial("data").file},
                       {"policy", (folder.path / "policy").string()},
                       {"train_steps", 1'000'000}};
    parameters.update(more);
    if (more.contains("buffer")) spec.uses = {"b"};
    if (id.starts_with("learn")) spec.owns = {{"b", kBuffer}};
    spec.program = dump_json(
        {{"experiment", (folder.path / "experiment.json").string()},
         {"job", id},
         {"sequence", ++sequence},
         {"attempt", 0},
         {"parameters", dump_json({{"parameter_id", sequence}, {"parameters", parameters}})}});
    client->say({{"type", "submit"}, {"task", to_json(spec)}});
  }
  // What a task has reported, the newest last.
  std::vector<json> reports(const std::string& id) const {
    std::vector<json> values;
    for (const json& message : client->heard) {
      if (message["type"] != "info" || message["task"] != id) continue;
      const auto event = parse_trial_event(id, message["event"]);
      if (!event) continue;
      if (const auto* report = std::get_if<TrialReport>(&*event))
        values.push_back(report->metric.value);
    }
    return values;
  }
  bool ends(const std::string& id) {
    return run_until([&] { return client->has("finished", id); });
  }
  double evaluate(const std::string& id, json more) {
    more["evaluate"] = true;
    submit(id, more);
    REQUIRE(ends(id));
    REQUIRE(reports(id).size() == 1);
    return reports(id)[0]["reward_mean"].get<double>();
  }

  Client* client = nullptr;
  int sequence = 0;
};

TEST_CASE("cart pole tasks: one learner and three collectors balance the pole") {
  const json more = asked_for();
  const int seed = more["seed"];
  const double enough = more["stop"];
  CartPole f;
  const auto began = f.clock.now();
  const auto task = [&](int number) {
    json parameters = more;
    parameters["buffer"] = "b";
    parameters["seed"] = 100 * seed + number;
    return parameters;
  };
  f.submit("learn-1", task(0));
  for (int i = 1; i <= 3; ++i) f.submit(fmt::format("collect-{}", i), task(i));
  // Behind the news of each 500 training steps.
  double mean = 0;
  for (std::size_t i = 1; i < 200 && mean < enough; ++i) {
    REQUIRE(f.run_until([&] { return f.reports("learn-1").size() >= i; }));
    mean = f.evaluate(fmt::format("evaluate-{}", i), more);
    UNSCOPED_INFO(fmt::format("{:.2f} s: mean return {} {}", f.clock.now() - began, mean,
                              dump_json(f.reports("learn-1").back())));
  }
  CHECK(mean >= enough);
  f.client->say({{"type", "cancel"}, {"task", "learn-1"}, {"how", "stop"}});
  REQUIRE(f.ends("learn-1"));
  for (int i = 1; i <= 3; ++i) REQUIRE(f.ends(fmt::format("collect-{}", i)));
  for (const json& message : f.client->heard) {
    if (message["type"] == "finished") {
      INFO(dump_json(message));
      CHECK(message["state"] == (message["task"] == "learn-1" ? "cancelled" : "succeeded"));
    }
  }
  CHECK(fs::exists(f.folder.path / "policy"));
  CHECK_FALSE(fs::exists(f.folder.path / "policy.segments"));
}

TEST_CASE("cart pole tasks: the coordinator comes back and all go on") {
  CartPole f;
  f.submit("learn-1", {{"buffer", "b"}, {"train_steps", 2000}, {"report_every", 200}});
  f.submit("collect-1", {{"buffer", "b"}});
  for (std::size_t i = 1; i <= 3; ++i) {
    const std::size_t before = f.reports("learn-1").size();
    REQUIRE(f.run_until([&] { return f.reports("learn-1").size() > before; }));
    f.server.reset();
    REQUIRE(f.run_until([&] { return !f.client->connection; }));
    f.start_server();
    f.client->dialer->dial();
    REQUIRE(f.run_until([&] { return f.client->connection != nullptr; }));
  }
  REQUIRE(f.ends("learn-1"));
  REQUIRE(f.ends("collect-1"));
  CHECK(f.reports("learn-1").back()["train_steps"] == 2000);
}

}  // namespace attune::tasks_test
