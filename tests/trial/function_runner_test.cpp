#include "trial/function_runner.h"

#include "tests/trial/trial_folder.h"
#include "trial/checkpoint_dirs.h"

namespace attune::function_runner_test {

using Catch::Contains;

void count_up(const json& config, StatusReporter& reporter) {
  for (int i = config.value("from", 0);; ++i) reporter(i);
}

// Sees through the runner whether its stack was left.
struct Leaving {
  explicit Leaving(bool& left) : left_(left) {}
  ~Leaving() { left_ = true; }
  bool& left_;
};

TEST_CASE("stop unwinds a function that would report for ever") {
  bool left = false;
  FunctionRunner runner([&](const json& config, StatusReporter& reporter) {
    const Leaving leaving(left);
    count_up(config, reporter);
  });
  CHECK(runner.train().value().at("_metric") == 0);
  CHECK(runner.train().value().at("_metric") == 1);
  CHECK_FALSE(left);
  REQUIRE(runner.stop());
  CHECK(left);
  REQUIRE(runner.stop());
  CHECK_THAT(runner.train().error().message, Contains("was stopped"));
  CHECK_FALSE(runner.restore("checkpoint_0"));
}

TEST_CASE("a runner that is never stepped starts nothing") {
  bool ran = false;
  {
    const FunctionRunner runner([&](const json&) { ran = true; });
  }
  CHECK_FALSE(ran);
}

TEST_CASE("what a function returns is reported, and then repeated") {
  FunctionRunner number([](const json& config) { return config.at("x").get<double>() * 2; },
                        {.config = {{"x", 4}}});
  const json result = number.train().value();
  CHECK(result.at("_metric") == 8);
  CHECK(result.at("config") == json{{"x", 4}});
  const json repeated = number.train().value();
  CHECK(repeated.at("_metric") == 8);
  CHECK(repeated.at("__duplicate__") == true);
  CHECK_FALSE(repeated.contains("training_iteration"));
  CHECK_THAT(number.train().error().message, Contains("ran until completion"));

  FunctionRunner object([](const json&, StatusReporter& reporter) {
    reporter({{"loss", 1}});
    return json{{"loss", 2}};
  });
  CHECK(object.train().value().at("loss") == 1);
  CHECK(object.train().value().at("loss") == 2);
  CHECK(object.train().value().at("loss") == 2);
  CHECK(object.iteration() == 2);

  FunctionRunner text([](const json&) { return json("text"); });
  CHECK_THAT(text.train().error().message, Contains("not a string"));
}

TEST_CASE("a function that throws what it likes is an error of the step") {
  FunctionRunner runner([](const json&) { throw 3; });
  CHECK_THAT(runner.train().error().message, Contains("no std::exception"));
  REQUIRE(runner.stop());  // told already
}

TEST_CASE("an exception while a function is unwound is told by stop") {
  FunctionRunner runner([](const json&, StatusReporter& reporter) {
    try {
      reporter(1);
    } catch (const TrialStopped&) {
      throw std::runtime_error("cannot close the file");
    }
  });
  REQUIRE(runner.train());
  CHECK_THAT(runner.stop().error().message, Contains("cannot close the file"));
}

TEST_CASE("the fields that are added count time, steps and episodes") {
  const auto clock = std::make_shared<ManualClock>(1.7e9);
  const auto train = [&](const json&, StatusReporter& reporter) {
    clock->advance(2);
    reporter({{"mean_loss", 0.5}, {"timesteps_this_iter", 10}});
    clock->advance(3);
    reporter({{"timesteps_this_iter", 5}, {"episodes_this_iter", 2}, {"time_this_iter_s", 7}});
    reporter({{"training_iteration", 99}, {"timesteps_total", 1}});
  };
  FunctionRunner runner(train, {.experiment_id = "e", .clock = clock});
  json result = runner.train().value();
  CHECK(result.at("time_this_iter_s") == 2);
  CHECK(result.at("time_total_s") == 2);
  CHECK(result.at("neg_mean_loss") == -0.5);
  CHECK(result.at("timesteps_total") == 10);
  CHECK(result.at("episodes_total") == nullptr);
  CHECK(result.at("timestamp") == 1'700'000'002);
  CHECK(result.at("date").get<std::string>().starts_with("2023-11-1"));
  CHECK(result.at("experiment_id") == "e");
  CHECK(result.at("pid") == ::getpid());
  CHECK_FALSE(result.at("hostname").get<std::string>().empty());
  CHECK_THAT(result.at("node_ip").get<std::string>(), Contains("."));
  clock->advance(100);  // the caller's time, which Ray counts for the function
  result = runner.train().value();
  CHECK(result.at("time_this_iter_s") == 7);
  CHECK(result.at("time_total_s") == 9);
  CHECK(result.at("timesteps_total") == 15);
  CHECK(result.at("episodes_total") == 2);
  result = runner.train().value();
  CHECK(result.at("training_iteration") == 99);
  CHECK(result.at("timesteps_total") == 1);
  CHECK(result.at("timesteps_since_restore") == 15);
  CHECK(result.at("iterations_since_restore") == 3);
  CHECK_FALSE(result.contains("neg_mean_loss"));
}

// Counts, saves each step, goes on from what it is given.
void saving(const json&, StatusReporter& reporter, const CheckpointDir& from) {
  int step = 0;
  if (from) {
    std::ifstream(*from / "data/step") >> step;
    ++step;
  }
  for (;; ++step) {
    const auto folder = reporter.make_checkpoint_dir(step);
    std::filesystem::create_directory(folder / "data");
    std::ofstream(folder / "data/step") << step;
    reporter.set_checkpoint(folder / "data");
    reporter({{"step", step}});
  }
}

TEST_CASE("a checkpoint moves to another runner as a folder and as bytes") {
  const Folder first, second;
  FunctionRunner a(saving, {.log_directory = first.path});
  REQUIRE(a.train());
  REQUIRE(a.train());
  const auto folder = a.save().value();
  CHECK(folder.filename() == "checkpoint_1");
  const std::string bytes = a.save_to_object().value();
  const std::string id = a.train().value().at("experiment_id").get<std::string>();

  FunctionRunner b(saving, {.log_directory = second.path});
  if (GENERATE(true, false)) {
    REQUIRE(b.restore(folder / "data"));
  } else {
    REQUIRE(b.restore_from_object(bytes));
    REQUIRE(b.restore_from_object(bytes));  // the first folder goes
    CHECK(std::distance(std::filesystem::directory_iterator(second.path), {}) == 1);
  }
  CHECK(b.iteration() == 2);
  const json result = b.train().value();
  CHECK(result.at("step") == 2);
  CHECK(result.at("training_iteration") == 3);
  CHECK(result.at("iterations_since_restore") == 1);
  CHECK(result.at("experiment_id") == id);
  CHECK_THAT(b.restore(folder).error().message, Contains("before the first train()"));
  REQUIRE(b.stop());
  for (const std::string& name : second.files()) CHECK(name.starts_with("checkpoint_2/"));
}

TEST_CASE("null checkpoints begin anew, however often and in whatever form") {
  const Folder folder;
  FunctionRunner runner(saving, {.log_directory = folder.path});
  const auto null = runner.save().value();
  CHECK(runner.save().value() == null);
  const std::string bytes = runner.save_to_object().value();
  for (const bool as_bytes : {true, false}) {
    FunctionRunner other(saving, {.log_directory = folder.path});
    REQUIRE((as_bytes ? other.restore_from_object(bytes) : other.restore(null)));
    const auto again = other.save().value();  // still nothing to go on from
    CHECK(checkpoint_dirs::is_null(again));
    CHECK(checkpoint_dirs::read_metadata(again).value().at("iteration") == 0);
    CHECK(other.train().value().at("step") == 0);
    CHECK(other.iteration() == 1);
  }
}

TEST_CASE("what cannot be restored is an error and leaves no folder") {
  const Folder folder;
  FunctionRunner runner(saving, {.log_directory = folder.path});
  CHECK_THAT(runner.restore(folder.path).error().message, Contains("no checkpoint folder"));
  const std::string data =
      "\xa1\x64"
      "data";
  const std::string deep(2'000'000, '\x81'), deep_text(2'000'000, '\x7f');
  for (const std::string& bytes :
       {std::string(), std::string("x"), data + "\xa1\x64../a\x41z", deep, data + deep,
        data + "\xa1\x61" + "a" + deep, deep_text, data + "\xa1" + deep_text,
        data + "\xa1\x61" + "a\x42z", data + "\xbb\xff\xff\xff\xff\xff\xff\xff\xff",
        data + "\xa1\x7b\xff\xff\xff\xff\xff\xff\xff\xff" + "a"}) {
    CHECK_FALSE(runner.restore_from_object(bytes));
  }
  // Unpacked, and then without a state.
  const auto made = checkpoint_dirs::make(folder.path, 3).value();
  CHECK_THAT(runner.restore(made).error().message, Contains(".tune_metadata"));
  CHECK_FALSE(runner.restore_from_object(checkpoint_dirs::pack(made).value()));
  REQUIRE(checkpoint_dirs::write_metadata(made, {{"iteration", "x"}}));
  CHECK_THAT(runner.restore(made).error().message, Contains("no iteration"));
  CHECK(folder.files() ==
        std::vector<std::string>{"checkpoint_3/.is_checkpoint", "checkpoint_3/.tune_metadata"});
  CHECK(runner.train().value().at("step") == 0);
}

TEST_CASE("checkpoints need a log directory, and their own folders") {
  FunctionRunner runner(saving);
  CHECK_THAT(runner.train().error().message, Contains("no log directory"));
  CHECK_THAT(runner.save().error().message, Contains("no log directory"));

  const Folder folder;
  FunctionRunner stray(
      [&](const json&, StatusReporter& reporter) { reporter.set_checkpoint(folder.path); },
      {.log_directory = folder.path});
  CHECK_THAT(stray.train().error().message, Contains("make_checkpoint_dir()"));
}

TEST_CASE("a function that cannot go on from a checkpoint is told of") {
  const Folder folder;
  const std::string path = folder.path / "log";
  {
    FunctionRunnerOptions options;
    options.log_directory = folder.path;
    options.log = Log::to_file(path, LogLevel::info, false).value();
    FunctionRunner runner(count_up, options);
    REQUIRE(runner.save());
  }
  const std::string log = folder.text("log");
  const auto first = log.find("Function checkpointing is disabled");
  REQUIRE(first != log.npos);
  CHECK(log.find("Function checkpointing is disabled", first + 1) != log.npos);
}

TEST_CASE("reset begins anew: after results, the end, an error, a stop") {
  int calls = 0;
  FunctionRunner runner([&](const json& config, StatusReporter& reporter) {
    ++calls;
    const int count = config.value("count", 0);
    for (int i = 0; i < count; ++i) reporter(i);
    if (config.contains("fail")) throw std::runtime_error("boom");
  });
  const auto ends_like = [&](json config, int steps) {
    const auto reset = runner.reset(std::move(config));
    REQUIRE(reset);
    CHECK(runner.iteration() == 0);
    for (int i = 0; i < steps; ++i) {
      const json result = runner.train().value();
      CHECK(result.at("_metric") == i);
      CHECK(result.at("training_iteration") == i + 1);
    }
  };
  ends_like({{"count", 10}}, 2);
  ends_like({{"count", 1}}, 1);
  CHECK(runner.train().value().contains("__duplicate__"));
  ends_like({{"count", 1}, {"fail", true}}, 1);
  CHECK_THAT(runner.train().error().message, Contains("boom"));
  ends_like({{"count", 2}}, 2);
  REQUIRE(runner.stop());
  ends_like({{"count", 1}}, 1);
  CHECK(calls == 5);
}

TEST_CASE("a folder that is made again counts no longer until it is named again") {
  const Folder folder;
  FunctionRunner runner(
      [](const json&, StatusReporter& reporter, const CheckpointDir&) {
        reporter.set_checkpoint(reporter.make_checkpoint_dir(0));
        const auto again = reporter.make_checkpoint_dir(0);
        reporter(1);
        reporter.set_checkpoint(again);
        reporter(2);
      },
      {.log_directory = folder.path});
  CHECK_FALSE(runner.train().value().contains("should_checkpoint"));
  CHECK(checkpoint_dirs::is_null(runner.save().value()));
  CHECK(runner.train().value().at("should_checkpoint") == true);
  CHECK(runner.save().value().filename() == "checkpoint_0");
  CHECK_FALSE(runner.train().value().contains("should_checkpoint"));  // saved: the repeated one
}

TEST_CASE("a restored folder takes the place of one from bytes") {
  const Folder first, second;
  FunctionRunner a(saving, {.log_directory = first.path});
  REQUIRE(a.train());
  const auto folder = a.save().value();
  FunctionRunner b(saving, {.log_directory = second.path});
  REQUIRE(b.restore_from_object(a.save_to_object().value()));
  REQUIRE(b.restore(folder));
  CHECK(second.files().empty());
}

TEST_CASE("execute runs a function on the runner") {
  FunctionRunner runner(count_up, {.config = {{"from", 5}}});
  CHECK(runner.execute([](FunctionRunner& r) { return r.train().value().at("_metric"); }) == 5);
  runner.execute([](FunctionRunner& r) { REQUIRE(r.stop()); });
}

}  // namespace attune::function_runner_test
