// Who has said and heard what, over all lives of manager and daemon.
#include "manager/decider/conversation.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <vector>

#include "tests/manager/decider/memory_outbox.h"

namespace attune::conversation_test {

using Begun = Conversation::Begun;
using Texts = std::vector<std::string>;

Frame command(int i) { return {"ME", fmt::format("result {}", i)}; }

struct Manager {
  explicit Manager(MemoryOutbox& o) : outbox(o), talk(o, o.kept) {
    outbox.on_commit([this] { talk.kept(); });
  }
  ~Manager() { outbox.on_commit(nullptr); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  Texts taken() {
    Texts all;
    while (const auto frame = talk.take()) all.push_back(frame->code + " " + frame->payload);
    return all;
  }
  Texts kept() {
    outbox.commit();
    return taken();
  }

  MemoryOutbox& outbox;
  Conversation talk;
};

// A manager that has said `count` results to a daemon that began afresh.
void say_some(MemoryOutbox& outbox, int count) {
  Manager manager(outbox);
  REQUIRE(manager.talk.begin({}, false) == Begun::anew);
  for (int i = 1; i <= count; ++i) manager.talk.say(command(i));
  REQUIRE(manager.kept().size() == static_cast<std::size_t>(count));
}

TEST_CASE("conversation: nothing leaves before it is kept, and once each") {
  MemoryOutbox outbox;
  Manager manager(outbox);
  CHECK_FALSE(manager.talk.shared().has_value());
  manager.talk.say(command(1));
  outbox.commit();
  CHECK(manager.taken().empty());  // nobody listens yet
  REQUIRE(manager.talk.begin({}, false) == Begun::anew);
  CHECK(manager.kept() == Texts{"ME result 1"});
  manager.talk.say(command(2));
  CHECK(manager.taken().empty());
  CHECK(manager.talk.untaken_bytes() > 0);
  CHECK(manager.kept() == Texts{"ME result 2"});
  CHECK(manager.talk.untaken_bytes() == 0);
  manager.talk.heard();
  CHECK(manager.talk.shared()->answers == 0U);
  CHECK_FALSE(manager.talk.all_kept());
  CHECK(manager.kept().empty());
  CHECK(manager.talk.all_kept());
  CHECK(manager.talk.shared()->answers == 1U);
  CHECK(outbox.kept->counts == Outbox::Counts{2, 0, 1});
}

TEST_CASE("conversation: a later manager says again what the daemon does not remember") {
  const std::uint64_t through = GENERATE(0, 1, 2, 3);
  MemoryOutbox outbox;
  say_some(outbox, 3);
  Manager manager(outbox);
  CHECK(manager.talk.shared()->answers == 0U);
  REQUIRE(manager.talk.begin({through}, true) == Begun::exactly);
  const Texts all = {"ME result 1", "ME result 2", "ME result 3"};
  CHECK(manager.taken() == Texts(all.begin() + static_cast<std::ptrdiff_t>(through), all.end()));
  manager.talk.say(command(4));
  CHECK(manager.kept() == Texts{"ME result 4"});
  CHECK(outbox.kept->commands.back().first == 4);
  // And the same to one more daemon in the life of this manager.
  manager.talk.begin_life();
  manager.talk.say(command(5));
  CHECK(manager.kept().empty());
  REQUIRE(manager.talk.begin({3}, true) == Begun::exactly);
  CHECK(manager.taken() == Texts{"ME result 4", "ME result 5"});
}

TEST_CASE("conversation: a daemon that remembers too much or too little is another one's") {
  MemoryOutbox outbox;
  say_some(outbox, 3);
  {
    Manager manager(outbox);
    REQUIRE(manager.talk.begin({3}, true).has_value());
    manager.talk.ping();  // says one PI
    REQUIRE(manager.kept() == Texts{"PI through 4"});
    REQUIRE(manager.talk.acknowledged({"through 4"}));
    outbox.commit();
    CHECK(outbox.kept->counts.acknowledged == 4);
    CHECK(outbox.kept->commands.empty());
  }
  Manager manager(outbox);
  const auto less = manager.talk.begin({3}, true);
  REQUIRE_FALSE(less.has_value());
  CHECK(less.error().message.find("remembers 3 commands of this experiment, and it has "
                                  "acknowledged 4") != std::string::npos);
  const auto more = manager.talk.begin({5}, true);
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().message.find("been sent no more than 4") != std::string::npos);
  CHECK(manager.talk.begin({4}, true) == Begun::exactly);
}

TEST_CASE("conversation: with a daemon that cannot go on all begins anew") {
  MemoryOutbox outbox;
  say_some(outbox, 3);
  Manager manager(outbox);
  manager.talk.say(command(9));  // while it starts
  outbox.commit();
  REQUIRE(manager.talk.begin({}, true) == Begun::anew);
  CHECK(manager.taken().empty());
  CHECK(manager.kept() == Texts{"ME result 9"});
  CHECK(outbox.kept->counts == Outbox::Counts{1, 0, 0});
  CHECK(outbox.kept->commands.size() == 1);
  // Again, while the experiment runs: its owner tells everything itself.
  manager.talk.begin_life();
  REQUIRE(manager.talk.begin({}, true) == Begun::anew);
  CHECK(manager.kept().empty());
  // Until then a later manager finds that it shares nothing with that daemon.
  CHECK_FALSE(outbox.kept.has_value());
  manager.talk.say(command(10));
  CHECK(manager.kept() == Texts{"ME result 10"});
  CHECK(outbox.kept->counts == Outbox::Counts{1, 0, 0});
}

TEST_CASE("conversation: a number that nobody has asked for is not looked at") {
  MemoryOutbox outbox;
  Manager manager(outbox);
  CHECK(manager.talk.begin({17}, false) == Begun::anew);
}

TEST_CASE("conversation: Terminate is not said to a later daemon") {
  MemoryOutbox outbox;
  say_some(outbox, 2);
  {
    Manager manager(outbox);
    REQUIRE(manager.talk.begin({2}, true).has_value());
    manager.talk.say({"TE", ""});
    REQUIRE(manager.kept() == Texts{"TE "});
  }
  Manager manager(outbox);
  manager.talk.say(command(7));  // before anybody listens
  SECTION("it was not heard") {
    REQUIRE(manager.talk.begin({1}, true) == Begun::exactly);
    outbox.commit();
    CHECK(manager.taken() == Texts{"ME result 2", "ME result 7"});
    CHECK(outbox.kept->counts.commands == 3);
    CHECK(outbox.kept->commands.back() == std::pair(std::uint64_t{3}, command(7)));
  }
  SECTION("it was heard") {
    REQUIRE(manager.talk.begin({3}, true) == Begun::exactly);
    outbox.commit();
    CHECK(manager.taken() == Texts{"ME result 7"});
    CHECK(outbox.kept->counts.commands == 4);
  }
}

TEST_CASE("conversation: nor when a manager has said more after it, and died") {
  MemoryOutbox outbox;
  say_some(outbox, 1);
  {
    Manager manager(outbox);
    REQUIRE(manager.talk.begin({1}, true).has_value());
    manager.talk.say({"TE", ""});
    manager.kept();
  }
  {
    Manager manager(outbox);
    manager.talk.say(command(8));  // its daemon never begins
    outbox.commit();
  }
  Manager manager(outbox);
  SECTION("it was not heard") {
    REQUIRE(manager.talk.begin({1}, true) == Begun::exactly);
    CHECK(manager.kept() == Texts{"ME result 8"});
    CHECK(outbox.kept->counts.commands == 2);
    CHECK(outbox.kept->commands.back() == std::pair(std::uint64_t{2}, command(8)));
  }
  SECTION("it was heard") {
    REQUIRE(manager.talk.begin({2}, true) == Begun::exactly);
    CHECK(manager.kept() == Texts{"ME result 8"});
    CHECK(outbox.kept->counts.commands == 3);
  }
}

TEST_CASE("conversation: what is acknowledged is forgotten, and both are asked for now and then") {
  MemoryOutbox outbox;
  Manager manager(outbox);
  REQUIRE(manager.talk.begin({}, false).has_value());
  CHECK_FALSE(manager.talk.wants_ping());
  manager.talk.ping();  // there is nothing to ask for
  manager.talk.say(command(1));
  manager.talk.heard();
  CHECK(manager.talk.wants_ping());
  manager.talk.ping();
  CHECK(manager.kept() == Texts{"ME result 1", "RC 1", "PI through 3"});
  manager.talk.say(command(2));
  CHECK_FALSE(manager.talk.wants_ping());  // one is on its way
  CHECK_FALSE(manager.talk.acknowledged({"somebody's own"}));
  CHECK(manager.talk.acknowledged({"through 3"}));
  CHECK(manager.talk.acknowledged({"through 99"}));  // never said, and never asked
  outbox.commit();
  CHECK(outbox.kept->counts.acknowledged == 3);
  CHECK(outbox.kept->commands.size() == 1);
  CHECK(manager.talk.wants_ping());
  CHECK(manager.taken() == Texts{"ME result 2"});

  for (std::uint64_t i = 1; i < Conversation::kPingEvery; ++i) manager.talk.say(command(3));
  const Texts many = manager.kept();
  REQUIRE(many.size() == Conversation::kPingEvery);
  CHECK(many.back() == fmt::format("PI through {}", 4 + Conversation::kPingEvery));
}

}  // namespace attune::conversation_test
