// Recorded scenarios of Ray Tune's FunctionRunner (2020) happen again: what the caller gets, what
// the function sees, and which files there are, in the same order.
#include <mutex>
#include <thread>

#include "os/atomic_file.h"
#include "tests/trial/trial_folder.h"
#include "trial/checkpoint_dirs.h"
#include "trial/function_runner.h"

namespace attune::function_scenarios_test {

using Sorted = nlohmann::json;  // objects are equal in any order

class Events {
 public:
  void add(Sorted event) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(event));
  }
  Sorted all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  Sorted all_ = Sorted::array();
};

// What the recorded Python functions did.
TrialFunction function_of(const std::string& scenario, Events& events) {
  if (scenario == "lock_step") {
    return [&events](const json&, StatusReporter& reporter) {
      for (int i = 0; i < 3; ++i) {
        events.add({"thread", "before report", i});
        reporter({{"x", i}});
        events.add({"thread", "after report", i});
      }
      events.add({"thread", "return"});
    };
  }
  if (scenario == "explicit_done") {
    return [&events](const json&, StatusReporter& reporter) {
      reporter({{"x", 1}});
      reporter({{"x", 2}, {"done", true}});
      events.add({"thread", "released"});
    };
  }
  if (scenario == "error_after_report" || scenario == "error_unseen") {
    return [](const json&, StatusReporter& reporter) {
      reporter({{"x", 1}});
      throw std::runtime_error("boom");
    };
  }
  if (scenario == "error_before_report") {
    return [](const json&) { throw std::runtime_error("boom"); };
  }
  if (scenario == "no_report") return [&events](const json&) { events.add({"thread", "ran"}); };
  if (scenario == "stop_iteration") {
    return [](const json&, StatusReporter& reporter) {
      reporter({{"x", 1}});
      throw TrialStopped();
    };
  }
  if (scenario == "null_checkpoint") {
    return [&events](const json&, StatusReporter& reporter, const CheckpointDir& from) {
      events.add({"thread", "ckpt", from ? Sorted(from->string()) : Sorted()});
      for (int i = 0; i < 5; ++i) reporter({{"x", i}});
    };
  }
  REQUIRE((scenario == "checkpoint_dir" || scenario == "object_roundtrip"));
  return [&events](const json&, StatusReporter& reporter, const CheckpointDir& from) {
    int step = from ? std::stoi(read_file((*from / "v").string()).value()) + 1 : 0;
    events.add({"thread", "start", step, from.has_value()});
    for (; step < 10; ++step) {
      const auto folder = reporter.make_checkpoint_dir(step);
      std::ofstream(folder / "v") << step;
      reporter.set_checkpoint(folder);
      reporter({{"x", step}});
    }
  };
}

class World {
 public:
  explicit World(const std::string& scenario) : function_(function_of(scenario, events_)) {}

  Sorted call(const std::string& what) {
    if (what == "new") {
      FunctionRunnerOptions options;
      options.log_directory = folder_.path;
      runner_ = std::make_unique<FunctionRunner>(function_, options);
      return nullptr;
    }
    if (what == "wait") {  // a function that does not wait for its step gets the chance to show it
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      return nullptr;
    }
    if (what == "train") return result(runner_->train());
    if (what == "save") {
      saved_ = runner_->save().value();
      return saved_.filename().string() + "/";
    }
    if (what == "save_obj") {
      bytes_ = runner_->save_to_object().value();
      return "<bytes>";
    }
    if (what == "restore") REQUIRE(runner_->restore(saved_));
    if (what == "restore_obj") REQUIRE(runner_->restore_from_object(bytes_));
    if (what == "stop") REQUIRE(runner_->stop());
    if (what == "ls") return files();
    return nullptr;
  }

  Events events_;

 private:
  static Sorted result(const Result<json>& result) {
    if (!result) {
      return result.error().message == "the trial threw an exception: boom"
                 ? "RAISES TuneError: Trial raised an exception. Traceback: ... RuntimeError: boom"
                 : "RAISES " + result.error().message;
    }
    Sorted seen = Sorted::parse(dump_json(*result));
    for (const char* name :
         {"time_this_iter_s", "time_total_s", "time_since_restore", "date", "timestamp", "pid",
          "hostname", "node_ip", "config", "experiment_id"}) {
      // A repeated result was not completed; every other one has all of these.
      CHECK((seen.contains("__duplicate__") || seen.contains(name)));
      seen.erase(name);
    }
    return seen;
  }

  Sorted files() const {
    Sorted names = Sorted::array();
    for (std::string name : folder_.files()) {
      constexpr std::string_view kTemporary = "checkpoint_tmp";
      if (name.starts_with(kTemporary)) name.replace(kTemporary.size(), 6, "XXXXXX");
      names.push_back(name);
    }
    return names;
  }

  const Folder folder_;
  TrialFunction function_;
  std::unique_ptr<FunctionRunner> runner_;
  std::filesystem::path saved_;
  std::string bytes_;
};

Sorted scenarios() {
  const std::string path = ATTUNE_TEST_DATA "/scheduler-traces/ray_function_runner_scenarios.json";
  return Sorted::parse(read_file(path).value()).at("scenarios");
}

// Ours says it without the name of the Python class, and once. And a folder that is made again is
// empty: there the state of a former checkpoint stays beside the data of the next one.
Sorted expected(Sorted log) {
  bool made_again = false;
  for (Sorted& event : log) {
    made_again = made_again || event == Sorted{"thread", "start", 2, true};
    if (made_again && event[1] == "ls") {
      const auto state = std::ranges::find(event[2], "checkpoint_2/.tune_metadata");
      if (state != event[2].end()) event[2].erase(state);
    }
    if (event.size() < 3 || !event[2].is_string()) continue;
    if (event[2].get<std::string>().starts_with("RAISES TuneError: Wrapped function")) {
      event[2] =
          "RAISES the function ran until completion without reporting results or raising an "
          "exception";
    }
  }
  return log;
}

TEST_CASE("recorded scenarios of Ray Tune's FunctionRunner") {
  int replayed = 0;
  for (const Sorted& scenario : scenarios()) {
    const auto name = scenario.at("name").get<std::string>();
    if (name.starts_with("bad_signature")) continue;  // below: the compiler refuses those
    INFO(name);
    World world(name);
    for (const Sorted& call : scenario.at("calls")) {
      const auto what = call.get<std::string>();
      world.events_.add({"CALL", what, world.call(what)});
    }
    CHECK(world.events_.all() == expected(scenario.at("log")));
    ++replayed;
  }
  CHECK(replayed == 10);
}

// A Python function is looked at when it is wrapped, ours when it is compiled.
TEST_CASE("what is no function to tune does not compile") {
  const auto config = [](const json&) {};
  const auto reporter = [](const json&, StatusReporter&) {};
  const auto checkpoint = [](const json&, const CheckpointDir&) {};
  const auto both = [](const json&, StatusReporter&, const CheckpointDir&) {};
  STATIC_REQUIRE(TrialCallable<decltype(config)>);
  STATIC_REQUIRE(TrialCallable<decltype(reporter)>);
  STATIC_REQUIRE(TrialCallable<decltype(checkpoint)>);
  STATIC_REQUIRE(TrialCallable<decltype(both)>);
  const auto nothing = [] {};
  const auto stranger = [](const json&, int*) {};
  const auto order = [](const json&, const CheckpointDir&, StatusReporter&) {};
  const auto extra = [](const json&, StatusReporter&, const CheckpointDir&, int) {};
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(nothing)>);
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(stranger)>);
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(order)>);
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(extra)>);
  // json converts to these, and throws: a configuration is an object.
  const auto integer = [](int) {};
  const auto number = [](double, StatusReporter&) {};
  const auto truth = [](bool, const CheckpointDir&) {};
  const auto text = [](const std::string&) {};
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(integer)>);
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(number)>);
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(truth)>);
  STATIC_REQUIRE_FALSE(TrialCallable<decltype(text)>);
  const auto copy = [](json) {};  // NOLINT(performance-unnecessary-value-param)
  const auto anything = [](const auto& c, auto& r) {
    json merged = c;
    merged["y"] = 1;
    double lr = c.at("lr");
    r.report(c.at("lr"));
    return lr + c.value("x", 1.0) + merged.at("lr").template get<double>();
  };
  STATIC_REQUIRE(TrialCallable<decltype(copy)>);
  STATIC_REQUIRE(TrialCallable<decltype(anything)>);
  STATIC_REQUIRE(detail::TrialResult<float>);
  STATIC_REQUIRE_FALSE(detail::TrialResult<bool>);
  CHECK_FALSE(TrialFunction(config).can_checkpoint());
  CHECK_FALSE(TrialFunction(reporter).can_checkpoint());
  CHECK(TrialFunction(checkpoint).can_checkpoint());
  CHECK(TrialFunction(both).can_checkpoint());
}

}  // namespace attune::function_scenarios_test
