#include <sys/wait.h>

#include <algorithm>

#include "tests/study/study_fixture.h"

namespace attune::file_test {

using namespace attune::test;

// Reports, an assessor that stops, failures, points of the user.
StudyOptions eventful(const std::string& file) {
  return {.tuner = {.name = "TPE", .arguments = {{"tpe_args", {{"n_startup_jobs", 4}}}}},
          .assessor = Algorithm{"Medianstop", {{"start_step", 1}}},
          .initial_points = {{{"x", 0.5}, {"kind", "b"}}},
          .seed = 3,
          .file = file};
}

double work(const json& p, StatusReporter& reporter) {
  if (reporter.trial_id() == "5") throw std::runtime_error("no luck");
  for (int step = 0; step < 3; ++step) reporter.report(cost(p) + 3 - step);
  return cost(p);
}

constexpr std::int64_t kTrials = 16;

void finish(Study& study, int threads) {
  must(study.optimize(work, {.trials = kTrials, .threads = threads}));
}

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_CASE("file: every prefix of the log is continued as if nothing had happened") {
  const Folder folder;
  for (const int threads : {1, 3}) {
    const std::string whole_file = folder.file("whole" + std::to_string(threads));
    std::string expected;
    {
      Study study = must(Study::create(small_space(), eventful(whole_file)));
      finish(study, threads);
      expected = summary(study);
    }
    CHECK(expected.find("stopped") != std::string::npos);
    CHECK(expected.find("failed") != std::string::npos);
    const std::string whole = read(whole_file);
    REQUIRE(line_count(whole) > 40);
    const std::string part_file = folder.file("part");
    for (std::size_t end = whole.find('\n'); end != std::string::npos;
         end = whole.find('\n', end + 1)) {
      write(part_file, whole.substr(0, end + 1));
      Study study = must(Study::open(part_file));
      CHECK(study.warnings().empty());
      finish(study, threads);
      INFO("threads " << threads << ", bytes " << end + 1);
      REQUIRE(summary(study) == expected);
      REQUIRE(read(part_file) == whole);
    }
  }
}

TEST_CASE("file: a torn last line is dropped, other damage is an error with its line") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  {
    Study study = must(Study::create(small_space(), eventful(path)));
    finish(study, 1);
  }
  const std::string whole = read(path);
  write(path, whole.substr(0, whole.size() - 5));
  {
    Study study = must(Study::open(path));
    REQUIRE(study.warnings().size() == 1);
    CHECK(study.warnings()[0] ==
          "line " + std::to_string(line_count(whole)) + ": torn at the end of the file, dropped");
    CHECK(study.running().size() == 1);
    finish(study, 1);
  }
  CHECK(read(path) == whole);

  const std::size_t second = whole.find('\n') + 1;
  const std::size_t third = whole.find('\n', second) + 1;
  const auto damaged = [&](const std::string& line) {
    write(path, whole.substr(0, second) + line + "\n" + whole.substr(third));
    return error_of(Study::open(path));
  };
  CHECK_THAT(damaged("{\"ask\":1,"), Catch::StartsWith(path + ": line 2: "));
  CHECK_THAT(damaged("{\"asks\":1}"), Catch::Contains("line 2: unknown record \"asks\""));
  CHECK_THAT(damaged("{\"tell\":99,\"value\":1}"), Catch::Contains("line 2: trial 99"));
  CHECK_THAT(damaged("{\"ask\":1,\"trials\":[{\"id\":0}]}"), Catch::Contains("line 2: "));
  CHECK_THAT(damaged("[]"), Catch::Contains("line 2: "));
  write(path, "{\"attune_study\":2}\n");
  CHECK_THAT(error_of(Study::open(path)), Catch::Contains("line 1: format 2"));
  write(path, "{\"attune_st");
  CHECK_THAT(error_of(Study::open(path)), Catch::Contains("line 1: "));
  CHECK_THAT(error_of(Study::open(folder.file("none"))), Catch::Contains("cannot open"));
}

TEST_CASE("file: what another version proposed is adopted as it was run") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  {
    StudyOptions options = eventful(path);
    options.assessor.reset();
    Study study = must(Study::create(small_space(), options));
    finish(study, 1);
  }
  std::string text = read(path);
  const std::string ask = R"({"ask":1,"trials":[{"id":1,"parameters":{"x":)";
  const std::size_t at = text.find(ask) + ask.size();
  REQUIRE(at > ask.size());
  text.replace(at, text.find(',', at) - at, "0.125");
  write(path, text);
  Study study = must(Study::open(path));
  REQUIRE(study.warnings().size() == 1);
  CHECK_THAT(study.warnings()[0], Catch::Contains("proposes other trials"));
  CHECK(study.trial_count() == kTrials);
  CHECK(study.trial(1)->parameters.at("x") == 0.125);
  must(study.optimize(work, {.trials = kTrials + 4}));
  CHECK(study.trial_count() == kTrials + 4);
}

TEST_CASE("file: one study at a time, and an existing one is not overwritten") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  StudyOptions options = eventful(path);
  {
    Study study = must(Study::create(small_space(), options));
    CHECK_THAT(error_of(Study::open(path)), Catch::Contains("is in use by a study"));
    finish(study, 1);
  }
  CHECK_THAT(error_of(Study::create(small_space(), options)), Catch::Contains("exists already"));
  options.if_exists = IfExists::continue_;
  CHECK(must(Study::create(small_space(), options)).trial_count() == kTrials);
  options.seed = 99;
  options.assessor.reset();
  CHECK_THAT(
      error_of(Study::create(small_space(), options)),
      Catch::Contains("was made with another search space or other options (assessor, seed)"));
}

TEST_CASE("file: minimize goes on with another number of threads") {
  const Folder folder;
  const StudyOptions options{.file = folder.file("study.jsonl"), .if_exists = IfExists::continue_};
  must(minimize(cost, small_space(), 5, options, {.threads = 2}));
  must(minimize(cost, small_space(), 9, options, {.threads = 3}));
  Study study = must(Study::open(options.file));
  CHECK(study.count(TrialState::completed) == 9);
}

TEST_CASE("file: a torn first line is no study, and continue_ begins one") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  StudyOptions options = eventful(path);
  options.if_exists = IfExists::continue_;
  must(Study::create(small_space(), options));
  const std::string whole = read(path);
  for (const std::size_t length : {std::size_t{1}, std::size_t{20}, whole.size() - 1}) {
    CAPTURE(length);
    write(path, whole.substr(0, length));
    Study study = must(Study::create(small_space(), options));
    REQUIRE(study.warnings().size() == 1);
    CHECK_THAT(study.warnings()[0], Catch::StartsWith("line 1: torn"));
    CHECK(read(path) == whole);
    finish(study, 1);
  }
  CHECK(must(Study::open(path)).trial_count() == kTrials);
  for (const std::string other : {"notes of mine", "{}", "{\"attune_space\":1"}) {
    write(path, other);
    CHECK_THAT(error_of(Study::create(small_space(), options)), Catch::Contains("line 1"));
    CHECK(read(path) == other);
  }
}

TEST_CASE("save: not over the file of a study that is open") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  const std::string copy = folder.file("copy.jsonl");
  Study study = must(Study::create(small_space(), eventful(path)));
  Study other = must(Study::create(small_space()));
  for (const Study* one : {&study, &other}) {
    CHECK_THAT(error_of(one->save(path)), Catch::Contains(path + " is in use by a study"));
  }
  std::filesystem::create_hard_link(path, folder.file("link"));
  CHECK_THAT(error_of(study.save(folder.file("link"))), Catch::Contains("is in use"));
  must(study.save(copy));
  must(study.ask(2));
  must(study.save(copy));  // nobody has it open
  CHECK(read(path) == read(copy));
  CHECK(must(Study::open(copy)).trial_count() == 2);
}

TEST_CASE("save and load: the same format, going on in the same way") {
  const Folder folder;
  Study study = must(Study::create(small_space(), eventful("")));
  must(study.import_results({{{{"x", 3.0}, {"kind", "a"}}, 9.0}}));
  must(study.optimize(work, {.trials = 9}));
  must(study.enqueue({{"x", 2.0}, {"kind", "a"}}));
  const auto by_hand = must(study.ask(3)).trials;
  must(study.tell(by_hand[1].id, std::numeric_limits<double>::infinity()));
  must(study.report(by_hand[2].id, std::numeric_limits<double>::quiet_NaN()));
  must(study.save(folder.file("saved")));
  Study loaded = must(Study::load(folder.file("saved")));
  CHECK(summary(loaded) == summary(study));
  CHECK(loaded.running().size() == 2);
  for (Study* one : {&study, &loaded}) {
    must(one->tell(by_hand[0].id, 4.0));
    must(one->tell(by_hand[2].id, 5.0));
    must(one->ask(2));
  }
  CHECK(summary(loaded) == summary(study));
  CHECK(loaded.best()->id == study.best()->id);
}

TEST_CASE("file: what was accepted can be read again") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  const auto nested = [](int depth) {
    json value = 1;
    for (int i = 0; i < depth; ++i) value = json::array({value});
    return value;
  };
  json many = {{"default", 1}};
  for (int i = 0; i < 20'000; ++i) {
    many.get_ref<json::object_t&>().emplace_back("m" + std::to_string(i), i);
  }
  std::string before;
  {
    Study study = must(Study::create(small_space(), {.file = path}));
    must(study.ask(5));
    CHECK_THAT(error_of(study.tell(0, many)), Catch::Contains("more than 20000 keys"));
    CHECK_THAT(error_of(study.report(0, many)), Catch::Contains("more than 20000 keys"));
    must(study.tell(0, 3));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    must(study.tell(1, {{"default", 2}, {"history", nested(300)}, {"note", "n"}, {"x", nan}}));
    must(study.tell(2, {{"default", nan}, {"x", 4}}));
    CHECK(study.trial(1)->metrics == Metrics{{"default", 2}});
    CHECK(study.trial(2)->metrics.back() == std::pair<std::string, double>("x", 4));
    CHECK_THAT(error_of(study.enqueue({{"x", 1.0}, {"kind", nested(300)}})),
               Catch::Contains("nested deeper"));
    CHECK_THAT(error_of(study.import_results({{{{"x", 1.0}, {"kind", nested(300)}}, 1}})),
               Catch::Contains("nested deeper"));
    before = summary(study);
  }
  Study again = must(Study::open(path));
  CHECK(again.warnings().empty());
  CHECK(summary(again) == before);
  CHECK(again.trial(1)->metrics == Metrics{{"default", 2}});
  CHECK(again.trial(2)->state == TrialState::diverged);
  must(again.optimize([](const json& p) { return json{{"default", cost(p)}, {"all", p}}; },
                      {.trials = 6}));
}

TEST_CASE("file: a space that can be read again at its deepest, or an error") {
  const Folder folder;
  int deepest = 0;
  for (int depth = 240; depth <= 260; ++depth) {
    json option = 1;
    for (int i = 0; i < depth; ++i) option = json::array({option});
    const std::string path = folder.file(std::to_string(depth));
    {
      auto study = Study::create(SpaceBuilder().choice("c", {option, 2}).build(), {.file = path});
      if (!study) {
        CHECK_THAT(study.error().message, Catch::StartsWith("search_space: nested deeper"));
        continue;
      }
      deepest = depth;
      must(study->ask(2));
    }
    CHECK(must(Study::open(path)).trial_count() == 2);
  }
  CHECK(deepest == 250);
}

TEST_CASE("file: kill -9 loses nothing that a call returned") {
  const Folder folder;
  for (const Durability durability :
       {Durability::never, Durability::each_second, Durability::always}) {
    const std::string path = folder.file("killed" + std::to_string(static_cast<int>(durability)));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      StudyOptions options = eventful(path);
      options.durability = durability;
      auto study = Study::create(small_space(), options);
      if (!study || !study->ask(2) || !study->report(0, 1.0) || !study->tell(1, 2.0)) ::_exit(1);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    Study study = must(Study::open(path, durability));
    CHECK(study.trial(0)->reports.size() == 1);
    CHECK(study.trial(1)->value == 2.0);
    CHECK(study.running().size() == 1);
  }
}

TEST_CASE("file: a disk that refuses closes the study") {
  StudyOptions options = eventful("/dev/full");
  CHECK_THAT(error_of(Study::create(small_space(), options)),
             Catch::Contains("cannot write /dev/full"));
}

}  // namespace attune::file_test
