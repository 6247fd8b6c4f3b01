#include "katib/memory.h"

#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "katib/trial_name.h"
#include "tests/katib/katib_helpers.h"

using namespace attune;
using namespace attune::katib;

namespace {

const TunerRegistry& tuners() {
  static const TunerRegistry all = builtin_tuners();
  return all;
}

// A controller without a network, and the memory of one experiment.
struct Search {
  explicit Search(pb::Experiment made) : experiment(std::move(made)) { restart(); }

  void restart(const json& saved = nullptr) {
    memory = Memory::make(plan(), saved, {tuners(), Log()});
  }

  Plan plan() const { return *read_plan(experiment, tuners()); }

  Memory::Reply ask(int count) {
    Memory::Request request;
    *request.mutable_experiment() = experiment;
    if (!echo.empty()) {
      auto& setting = *request.mutable_experiment()
                           ->mutable_spec()
                           ->mutable_algorithm()
                           ->add_algorithm_settings();
      setting.set_name(std::string(kEchoSetting));
      setting.set_value(echo);
    }
    for (const auto& trial : trials) *request.add_trials() = trial;
    request.set_current_request_number(count);
    request.set_total_request_number(static_cast<int>(accepted.size()) + count);
    auto reply =
        memory->answer(*read_plan(request.experiment(), tuners()), request, [] { return false; });
    REQUIRE(error_of(reply) == "");
    REQUIRE(reply->parameter_assignments_size() == count);
    return *reply;
  }

  void accept(const Memory::Reply& reply, bool echoes = true) {
    for (const auto& each : reply.parameter_assignments()) accepted.push_back(each);
    if (echoes) echo = reply.algorithm().algorithm_settings(0).value();
  }

  pb::Trial& start(pb::TrialStatus::TrialConditionType condition, const std::string& loss = "") {
    const auto& suggestion = accepted[trials.size()];
    pb::Trial trial;
    trial.set_name(suggestion.trial_name());
    pb::TrialSpec spec;
    *spec.mutable_parameter_assignments()->mutable_assignments() = suggestion.assignments();
    trial.set_spec(spec.SerializeAsString());
    trial.mutable_status()->set_condition(condition);
    if (!loss.empty()) {
      auto& metric = *trial.mutable_status()->mutable_observation()->add_metrics();
      metric.set_name("loss");
      metric.set_value(loss);
    }
    trials.push_back(trial);
    return trials.back();
  }

  pb::Experiment experiment;
  std::unique_ptr<Memory> memory;
  std::vector<pb::GetSuggestionsReply::ParameterAssignments> accepted;
  std::vector<pb::Trial> trials;
  std::string echo;
};

pb::Experiment line(const std::string& algorithm = "attune-random") {
  return experiment_of({spec_of("x", pb::DOUBLE, "0", "1")}, algorithm);
}

std::vector<std::string> points(const Memory::Reply& reply) {
  std::vector<std::string> all;
  for (const auto& each : reply.parameter_assignments()) {
    all.push_back(each.assignments(0).value());
  }
  return all;
}

}  // namespace

TEST_CASE("trial name: a DNS label that tells number and values") {
  const Values values = {"0.5", "a"};
  const std::string name = trial_name("my-experiment", 12, values);
  CHECK(name.starts_with("my-experiment-12-"));
  CHECK(number_in("my-experiment", name) == 12);
  CHECK(is_ours("my-experiment", name, values));
  CHECK_FALSE(is_ours("my-experiment", name, {"0.5", "b"}));
  CHECK_FALSE(is_ours("my-experiment", "my-experiment-12-00000000", values));
  CHECK_FALSE(number_in("my-experiment", "my-experiment-x7f3k2qa"));
  CHECK(trial_name(std::string(300, 'x'), 1'000'000, values).size() <= 57);
  CHECK(trial_name("7_A.b", 1, values).starts_with("ab-1-"));
  CHECK(trial_name("", 1, values).starts_with("trial-1-"));
  CHECK(trial_name("e", 1, {"ab", "c"}) != trial_name("e", 1, {"a", "bc"}));
}

TEST_CASE("memory: what was not accepted is offered again") {
  Search search(line());
  const auto lost = search.ask(2);
  CHECK(points(search.ask(2)) == points(lost));
  const auto more = search.ask(3);
  CHECK(points(more)[0] == points(lost)[0]);
  CHECK(points(more)[1] == points(lost)[1]);
  search.accept(lost);
  // The third point was offered, and lost.
  CHECK(points(search.ask(1))[0] == points(more)[2]);
}

TEST_CASE("memory: without an echo Katib's numbers tell what was accepted") {
  Search search(line());
  search.accept(search.ask(2), false);
  search.start(pb::TrialStatus::RUNNING);
  const auto lost = search.ask(2);
  CHECK(points(search.ask(2)) == points(lost));
  search.accept(lost, false);
  search.start(pb::TrialStatus::SUCCEEDED, "0.5");
  const auto next = search.ask(1);
  for (const std::string& point : points(lost)) CHECK(points(next)[0] != point);
}

TEST_CASE("memory: a saved one answers as the former one") {
  for (const char* algorithm : {"attune-tpe", "attune-qmc", "attune-cma-es", "attune-auto"}) {
    INFO(algorithm);
    Search search(line(algorithm));
    for (int i = 0; i < 12; ++i) {
      search.accept(search.ask(2));
      search.start(pb::TrialStatus::SUCCEEDED, std::to_string(i % 5));
      search.start(i % 3 == 0 ? pb::TrialStatus::FAILED : pb::TrialStatus::RUNNING);
    }
    const json saved = *parse_json(dump_json(search.memory->save()));
    const auto reply = search.ask(3);
    search.restart(saved);
    CHECK(search.ask(3).SerializeAsString() == reply.SerializeAsString());
  }
}

TEST_CASE("memory: a small one travels with the answers") {
  Search search(line("attune-tpe"));
  for (int i = 0; i < 10; ++i) {
    search.accept(search.ask(2));
    search.start(pb::TrialStatus::SUCCEEDED, std::to_string(i % 5));
    if (i % 2 == 0) search.start(pb::TrialStatus::EARLYSTOPPED, "0.5");
    const auto reply = search.ask(2);
    search.restart();
    CHECK(search.ask(2).SerializeAsString() == reply.SerializeAsString());
  }
}

TEST_CASE("memory: made anew it neither repeats nor loses a point") {
  for (const bool echoes : {true, false}) {
    for (const char* algorithm : {"attune-random", "attune-tpe", "attune-qmc"}) {
      INFO(algorithm << " " << echoes);
      Search search(line(algorithm));
      std::set<std::string> seen;
      for (int i = 0; i < 10; ++i) {
        const auto reply = search.ask(3);
        search.accept(reply, echoes);
        for (const std::string& point : points(reply)) CHECK(seen.insert(point).second);
        search.start(pb::TrialStatus::SUCCEEDED, "1");  // two of three are no trials yet
        search.restart();
      }
    }
  }
}

TEST_CASE("memory: a damaged one, and one of another experiment, are not used") {
  Search search(line());
  search.accept(search.ask(2));
  const json saved = search.memory->save();
  for (const char* key : {"format", "identity", "next", "open", "known", "engine", "accepted"}) {
    for (const json& value : {json(nullptr), json(-1), json("x"), json::array({1})}) {
      INFO(key << " " << value);
      json damaged = saved;
      damaged[key] = value;
      search.restart(damaged);
      search.ask(2);
      // The same in an echo.
      const std::string echo = search.echo;
      search.echo = dump_json({{"next", 2}, {"open", json::array()}, {"memory", damaged}});
      search.restart();
      search.ask(2);
      search.echo = echo;
    }
  }
}

TEST_CASE("memory: a damaged one with a proposal that was never made is not used") {
  Search search(line());
  search.ask(2);
  json damaged = search.memory->save();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{3}, most}) {
    INFO(number);
    damaged["open"][1][0] = number;
    search.restart(damaged);
    search.ask(5);
  }
}

TEST_CASE("memory: an experiment that was deleted and made again begins anew") {
  Search search(line());
  const auto first = search.ask(2);
  search.accept(first);
  search.start(pb::TrialStatus::RUNNING);
  search.ask(1);
  search.accepted.clear();
  search.trials.clear();
  search.echo.clear();
  CHECK(points(search.ask(2)) == points(first));
}

TEST_CASE("memory: trials that it has not proposed are learnt from") {
  Search search(line("attune-gridsearch"));
  search.experiment = experiment_of({spec_of("x", pb::INT, "1", "4")}, "attune-gridsearch");
  search.restart();
  for (const char* x : {"1", "2", "3"}) {
    auto& one = search.accepted.emplace_back();
    one.set_trial_name(std::string("by-hand-") + x);
    auto& assignment = *one.add_assignments();
    assignment.set_name("x");
    assignment.set_value(x);
  }
  search.start(pb::TrialStatus::SUCCEEDED, "1");
  search.start(pb::TrialStatus::RUNNING);
  search.start(pb::TrialStatus::METRICSUNAVAILABLE);
  CHECK(points(search.ask(1)) == std::vector<std::string>{"4"});
}

TEST_CASE("memory: a trial whose specification cannot be read does no harm") {
  Search search(line("attune-tpe"));
  search.accept(search.ask(4));
  search.start(pb::TrialStatus::SUCCEEDED, "1").set_spec("\xff\xff");
  search.start(pb::TrialStatus::RUNNING).set_spec("\xff\xff");
  for (const auto condition : {pb::TrialStatus::SUCCEEDED, pb::TrialStatus::RUNNING}) {
    auto& foreign = search.start(condition, "1");
    foreign.set_name("by-hand-" + std::to_string(condition));
    foreign.set_spec("\x1a\x05x");
  }
  search.ask(2);
  search.restart();
  search.ask(2);
}

TEST_CASE("memory: exactly as many as asked for, also where the tuner has no more") {
  Search search(experiment_of({spec_of("x", pb::INT, "1", "4")}, "attune-gridsearch"));
  const auto reply = search.ask(10);
  const auto all = points(reply);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == 4);
  search.accept(reply);
  for (int i = 0; i < 10; ++i) search.start(pb::TrialStatus::SUCCEEDED, std::to_string(i % 4));
  search.ask(7);
}

TEST_CASE("memory: numbers that cannot be are refused") {
  const TunerRegistry all = builtin_tuners();
  const Plan plan = *read_plan(line(), all);
  const auto memory = Memory::make(plan, nullptr, {all, Log()});
  const auto answer = [&](int current, int total, bool cancelled) {
    Memory::Request request;
    request.set_current_request_number(current);
    request.set_total_request_number(total);
    return error_of(memory->answer(plan, request, [=] { return cancelled; }));
  };
  CHECK(answer(-1, 0, false).starts_with("current_request_number: from 0 to 10000 expected"));
  CHECK(answer(10'001, 10'001, false).starts_with("current_request_number"));
  CHECK(answer(1, -1, false).starts_with("total_request_number"));
  CHECK(answer(1, 1, true) == "the call was cancelled");
  CHECK(answer(1, 1, false) == "");
  CHECK(answer(0, 0, false) == "");
}
