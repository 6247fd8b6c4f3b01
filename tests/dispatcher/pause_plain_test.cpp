// Checkpoints, and what pauses and checkpoints come to under a manager that cannot do all of it.
#include "tests/support/pausing_world.h"

namespace attune::pause_plain_test {

using namespace pausing_world;

TEST_CASE("checkpoint: saved when asked for, the newest counts, what it replaces is dropped") {
  PausingWorld f;
  f.decide(0, Action::checkpoint);
  f.decide(0, Action::checkpoint);  // one is on its way
  CHECK(f.said() == "CP A");
  f.saved("A", "c1");
  f.tuner->script = {"from 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 2 from c1");
  f.decide(0, Action::pause);
  f.end("A", 0, "PAUSED", "c2");
  CHECK(f.said() == "PA A, CD c1");
  f.tuner->script = {"resume 0 from 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 3 resume A from c2");
  f.decide(0, Action::drop_checkpoint);
  f.decide(0, Action::drop_checkpoint);
  CHECK(f.said() == "CD c2");
}

TEST_CASE("checkpoint: a trial that starts from one which is not there yet waits for it") {
  PausingWorld f;
  f.tuner->script = {"from 0", "from 0"};
  f.daemon->send("GE", "2");
  CHECK(f.said() == "CP A");
  SECTION("saved") {
    f.saved("A", "c1");
    CHECK(f.said() == "TR 2 from c1, TR 3 from c1");
  }
  SECTION("it could not be saved") {
    f.saved("A", "");
    CHECK(f.said() == "TR 2, TR 3");
  }
  SECTION("the trial ends first") {
    f.end("A", 0);
    CHECK(f.said() == "TR 2, TR 3");
  }
  SECTION("the trial is paused first") {
    f.end("A", 0, "PAUSED", "c9");
    CHECK(f.said() == "TR 2 from c9, TR 3 from c9");
  }
}

TEST_CASE("checkpoint: that of a trial that is being paused is waited for") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.tuner->script = {"from 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "PA A");
  SECTION("paused") {
    f.end("A", 0, "PAUSED", "c1");
    CHECK(f.said() == "TR 2 from c1");
  }
  SECTION("not paused: it is asked to save") {
    f.end("A", 0, "PAUSE_FAILED");
    CHECK(f.said() == "CP A");
    f.saved("A", "c2");
    CHECK(f.said() == "TR 2 from c2");
  }
}

TEST_CASE("checkpoint: that of a trial that is being stopped is waited for until it has ended") {
  DispatcherOptions options = capable();
  options.revision = GENERATE(0, 1);
  PausingWorld f(options);
  f.tuner->decisions = {{0, Action::checkpoint, ""}, {0, Action::stop, ""}};
  f.report(1, "B");
  f.tuner->script = {"from 0"};
  f.daemon->send("GE", "1");
  // What an earlier attuned has begun goes on as it was.
  REQUIRE(f.said() == (options.revision == 0 ? "CP A, KI A, TR 2" : "CP A, KI A"));
  if (options.revision == 0) return;
  SECTION("saved") {
    f.saved("A", "c1");
    CHECK(f.said() == "TR 2 from c1");
  }
  SECTION("not saved") {
    f.saved("A", "");
    CHECK(f.said() == "TR 2");
  }
  SECTION("the trial ends first") {
    f.end("A", 0, "EARLY_STOPPED");
    CHECK(f.said() == "TR 2");
  }
}

TEST_CASE("checkpoint: from a trial without a job, or an ended one without any: from scratch") {
  PausingWorld f;
  f.daemon->send("GE", "1");
  f.end("A", 0);
  f.tuner->script = {"from 2", "from 0", "from 55"};
  f.daemon->send("GE", "3");
  CHECK(f.said() == "TR 2, TR 3, TR 4, TR 5");
  f.saved("nobody", "c1");
  CHECK(f.said().empty());
}

TEST_CASE("plain: a pause is a kill, and a trial that goes on is a new one, taken for the old") {
  PausingWorld f(plain());
  f.decide(0, Action::pause);
  CHECK(f.said() == "KI A");
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said().empty());
  f.end("A", 0, "EARLY_STOPPED");
  const auto frames = f.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(
      frames[0].payload ==
      R"({"parameter_id":2,"parameter_source":"algorithm","parameters":{"x":0.5,"TRIAL_BUDGET":9},)"
      R"("parameter_index":0})");
  CHECK(f.tuner->told.empty());
  f.report(2, "C");
  f.decide(0, Action::pause);  // and again
  CHECK(f.said() == "KI C");
  f.end("C", 2, "EARLY_STOPPED");
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 3");
  SECTION("it ends well") {
    f.metric("FINAL", 3, "D", "0.125");
    f.end("D", 3);
    CHECK(f.tuner->told == Lines{"0 completed 0.125"});
  }
  SECTION("it ends before anything is heard of its job") {
    f.end("D", 3, "FAILED");
    CHECK(f.tuner->told == Lines{"0 failed -"});
  }
  SECTION("it can be killed") {
    f.decide(0, Action::stop);
    f.report(3, "D");
    CHECK(f.said() == "KI D");
    f.end("D", 3, "EARLY_STOPPED");
    CHECK(f.tuner->told == Lines{"0 stopped -"});
  }
}

TEST_CASE("plain: a trial that ends by itself while it is killed for a pause has ended") {
  const auto [event, told] =
      GENERATE(table<std::string, std::string>({{"SUCCEEDED", "0 completed -"},
                                                {"FAILED", "0 failed -"},
                                                {"USER_CANCELED", "0 stopped -"}}));
  PausingWorld f(plain());
  f.decide(0, Action::pause);
  f.end("A", 0, event);
  for (int i = 0; i < 2; ++i) f.daemon->send("GE", "1");  // a result may follow a good end
  CHECK(f.tuner->told == Lines{told});
}

TEST_CASE("plain: a paused trial has no job to kill, and ends at once") {
  PausingWorld f(plain());
  f.decide(0, Action::pause);
  SECTION("stopped before its end is heard of") {
    f.decide(0, Action::stop);
    f.end("A", 0, "EARLY_STOPPED");
  }
  SECTION("stopped after it") {
    f.end("A", 0, "EARLY_STOPPED");
    f.decide(0, Action::stop);
  }
  CHECK(f.said() == "KI A");
  CHECK(f.tuner->told == Lines{"0 stopped -"});
}

TEST_CASE("plain: checkpoints are neither asked for nor named") {
  PausingWorld f(plain());
  f.decide(0, Action::checkpoint);
  f.decide(0, Action::drop_checkpoint);
  f.tuner->script = {"from 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 2");
}

TEST_CASE("plain: an end PAUSED is one") {
  PausingWorld f(plain());
  f.end("A", 0, "PAUSED");
  CHECK(f.tuner->told == Lines{"0 stopped -"});
}

TEST_CASE("a manager that saves but does not pause: the new trial starts from the checkpoint") {
  DispatcherOptions options = capable();
  options.capabilities.pause = false;
  PausingWorld f(options);
  f.decide(0, Action::checkpoint);
  f.saved("A", "c1");
  f.decide(0, Action::pause);
  f.end("A", 0, "EARLY_STOPPED");
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "CP A, KI A, TR 2 from c1");
}

TEST_CASE("a manager that pauses but does not save: nothing speaks of checkpoints") {
  DispatcherOptions options = capable();
  options.capabilities.checkpoint = false;
  PausingWorld f(options);
  f.decide(0, Action::pause);
  f.end("A", 0, "PAUSED");
  f.tuner->script = {"resume 0 from 1", "from 0"};
  f.daemon->send("GE", "2");
  CHECK(f.said() == "PA A, TR 2 resume A, TR 3");
}

TEST_CASE("a tuner that wants reports hears whether a checkpoint was saved") {
  DispatcherOptions options = capable();
  options.wants_reports = GENERATE(true, false);
  PausingWorld f(options);
  f.decide(0, Action::checkpoint);
  f.saved("A", "c1");
  f.saved("nobody", "c2");
  f.decide(1, Action::checkpoint);
  f.saved("B", "");
  CHECK(f.tuner->checkpoints ==
        (options.wants_reports ? Lines{"0 saved", "1 not saved"} : Lines{}));
}

}  // namespace attune::pause_plain_test
