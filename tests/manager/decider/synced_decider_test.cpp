#include "manager/decider/synced_decider.h"

#include <catch2/catch.hpp>
#include <functional>

namespace attune::synced_decider_test {

using Names = std::vector<std::string>;

// Notes what it is told; the test answers in its place.
class Inner final : public Decider {
 public:
  Result<void> start(Listener& listener) override {
    outer = &listener;
    return {};
  }
  void next(int) override { told.emplace_back("next"); }
  std::optional<std::string> choose(const Startable&) override { return "t7"; }
  void on_add(const std::string&, const ProposedTrial&) override { told.emplace_back("add"); }
  Action on_result(const std::string&, const std::string&) override {
    told.emplace_back("result");
    return Action::stop;
  }
  Action on_final(const std::string&, const std::string&, const json&) override {
    told.emplace_back("final");
    return Action::pause;
  }
  void on_complete(const std::string&, const json&) override { told.emplace_back("complete"); }
  void on_error(const std::string&) override { told.emplace_back("error"); }
  void on_remove(const std::string&, TrialEnd::Event) override { told.emplace_back("remove"); }
  void on_paused(const std::string&, const std::string&) override { told.emplace_back("paused"); }
  void on_pause_failed(const std::string&) override { told.emplace_back("pause_failed"); }
  void on_checkpoint(const std::string&, const std::string&) override {
    told.emplace_back("checkpoint");
  }
  void import(const std::vector<ImportData::Record>&) override { told.emplace_back("import"); }
  void readopt(const std::vector<Resumed>&) override { told.emplace_back("readopt"); }
  void recall(const std::vector<Resumed>&) override { told.emplace_back("recall"); }
  void update_search_space(const json&) override { told.emplace_back("space"); }
  void sync(const std::string& token) override { tokens.push_back(token); }
  bool congested() const override { return true; }
  void close() override { told.emplace_back("close"); }
  void kill() override { told.emplace_back("kill"); }

  Names told, tokens;
  Listener* outer = nullptr;
};

class Recorder final : public Decider::Listener {
 public:
  void on_ready() override { heard.emplace_back("ready"); }
  void on_resumed() override { heard.emplace_back("resumed"); }
  void on_postponed(const std::string& reason) override { heard.push_back("postponed " + reason); }
  void on_warning(const std::string& text) override { heard.push_back("warning " + text); }
  void on_proposal(ProposedTrial proposal) override {
    heard.push_back("proposal " + proposal.text);
  }
  void on_exhausted(const std::string& reason) override { heard.push_back("exhausted " + reason); }
  void on_parameter(const std::string& job_id, std::int64_t,
                    std::optional<ProposedTrial> proposal) override {
    heard.push_back("parameter " + job_id + (proposal ? " some" : " none"));
  }
  void on_stop(const std::string& job_id, const std::string& reason) override {
    heard.push_back("stop " + job_id + " " + reason);
  }
  void on_used_up(const std::string& job_id, const std::string& reason) override {
    heard.push_back("used up " + job_id + " " + reason);
  }
  void on_pause(const std::string& job_id, const std::string& reason) override {
    heard.push_back("pause " + job_id + " " + reason);
  }
  void on_save(const std::string& job_id) override { heard.push_back("save " + job_id); }
  void on_drop(const std::string& checkpoint) override { heard.push_back("drop " + checkpoint); }
  void on_synced(const std::string& token) override { heard.push_back("synced " + token); }
  void on_failure(Error error) override { heard.push_back("failure " + error.message); }
  void on_closed() override { heard.emplace_back("closed"); }

  Names heard;
};

struct Fixture {
  Fixture() {
    REQUIRE(synced.start(recorder).has_value());
    CHECK_FALSE(synced.settled());
    inner.outer->on_ready();
  }
  // Through the base, as the runner has it.
  Decider& decider() { return synced; }

  Inner inner;
  Recorder recorder;
  SyncedDecider synced{inner};
};

TEST_CASE("synced decider: whatever it is told unsettles it, once answered it is settled") {
  Fixture f;
  CHECK(f.synced.settled());
  f.synced.settle();
  CHECK(f.inner.tokens.empty());

  Decider& d = f.decider();
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"next", [&] { d.next(1); }},
      {"add", [&] { d.on_add("t", {}); }},
      {"result", [&] { CHECK(d.on_result("t", "{}") == Action::stop); }},
      {"final", [&] { CHECK(d.on_final("t", "{}", 1) == Action::pause); }},
      {"complete", [&] { d.on_complete("t", 1); }},
      {"error", [&] { d.on_error("t"); }},
      {"remove", [&] { d.on_remove("t", TrialEnd::Event::early_stopped); }},
      {"paused", [&] { d.on_paused("t", "c"); }},
      {"pause_failed", [&] { d.on_pause_failed("t"); }},
      {"checkpoint", [&] { d.on_checkpoint("t", "c"); }},
      {"import", [&] { d.import({}); }},
      {"readopt", [&] { d.readopt({}); }},
      {"space", [&] { d.update_search_space({}); }},
  };
  for (const auto& [name, call] : calls) {
    CAPTURE(name);
    call();
    CHECK(f.inner.told.back() == name);
    CHECK_FALSE(f.synced.settled());
    f.synced.settle();
    f.synced.settle();
    CHECK_FALSE(f.synced.settled());
    f.inner.outer->on_synced(f.inner.tokens.back());
    CHECK(f.synced.settled());
  }
  CHECK(f.inner.tokens.size() == calls.size());
  CHECK(f.recorder.heard == Names{"ready"});
}

TEST_CASE("synced decider: what is told while it waits needs a sync of its own") {
  Fixture f;
  f.decider().next(1);
  f.synced.settle();
  f.decider().next(1);
  f.synced.settle();
  REQUIRE(f.inner.tokens.size() == 1);
  f.inner.outer->on_synced(f.inner.tokens[0]);
  CHECK_FALSE(f.synced.settled());
  f.synced.settle();
  REQUIRE(f.inner.tokens.size() == 2);
  CHECK(f.inner.tokens[0] != f.inner.tokens[1]);
}

TEST_CASE("synced decider: decisions are handed over together, in an order of their own") {
  Fixture f;
  f.decider().next(2);
  f.synced.settle();
  Decider::Listener& from = *f.inner.outer;
  from.on_proposal({1, {}, "one"});
  from.on_stop("t3", "bad");
  from.on_save("t5");
  from.on_drop("c1");
  from.on_pause("t1", "wait");
  from.on_parameter("t5", 1, std::nullopt);
  from.on_exhausted("all tried");
  from.on_stop("t2", "bad");
  from.on_used_up("t0", "27 of 27");
  CHECK(f.recorder.heard == Names{"ready"});
  from.on_synced(f.inner.tokens.back());
  CHECK(f.recorder.heard == Names{"ready", "used up t0 27 of 27", "pause t1 wait", "stop t2 bad",
                                  "stop t3 bad", "proposal one", "save t5", "drop c1",
                                  "parameter t5 none", "exhausted all tried"});
  f.decider().next(1);
  f.synced.settle();
  from.on_synced(f.inner.tokens.back());
  CHECK(f.recorder.heard.size() == 10);
}

TEST_CASE("synced decider: the rest passes through") {
  Fixture f;
  CHECK(f.decider().congested());
  f.decider().sync("mine");
  CHECK(f.inner.tokens == Names{"mine"});
  CHECK(f.synced.settled());
  f.inner.outer->on_synced("mine");
  CHECK(f.recorder.heard == Names{"ready", "synced mine"});
  struct Nothing final : Startable {
    std::optional<std::string> first_pending() const override { return std::nullopt; }
    std::optional<std::string> first_paused() const override { return std::nullopt; }
  };
  CHECK(f.decider().choose(Nothing()) == "t7");
}

TEST_CASE("synced decider: it settles by its end, and what it said before is not lost") {
  Fixture f;
  f.decider().next(1);
  f.synced.settle();
  f.inner.outer->on_stop("t1", "bad");
  SECTION("closed") {
    f.decider().close();
    f.inner.outer->on_synced(f.inner.tokens.back());
    CHECK_FALSE(f.synced.settled());
    f.inner.outer->on_closed();
    CHECK(f.recorder.heard == Names{"ready", "stop t1 bad", "closed"});
  }
  SECTION("dead") {
    f.inner.outer->on_failure({"gone"});
    CHECK(f.recorder.heard == Names{"ready", "stop t1 bad", "failure gone"});
  }
  SECTION("killed") {
    f.decider().kill();
    CHECK(f.inner.told.back() == "kill");
    CHECK(f.recorder.heard == Names{"ready"});
  }
  CHECK(f.synced.settled());
  f.synced.settle();
  CHECK(f.inner.tokens.size() == 1);
}

}  // namespace attune::synced_decider_test
