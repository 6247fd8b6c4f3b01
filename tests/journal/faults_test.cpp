// A fault at every call that a journal makes to the file system, over a whole life of it.
#include "tests/support/journal_world.h"

namespace attune::faults_test {

constexpr std::array kErrors = {ENOSPC, EIO, EROFS, EDQUOT};

// Each step is followed by a look at whether the journal has what it promised.
struct Life {
  Life(Durability durability, Fault fault) : world(durability) {
    world.files.limit_writes(50);
    world.files.fail(fault);
  }

  void look() {
    INFO("trouble: " << world.journal->trouble());
    REQUIRE(world.kept_promise());
  }
  void exchange(int times) {
    for (int i = 0; i < times; ++i) {
      world.exchange();
      world.journal->flush();
      look();
    }
  }
  void rest() {
    world.rest();
    look();
  }
  void tick() {
    world.journal->tick();
    look();
    rest();
  }
  void snapshot(std::uint64_t acknowledged) {
    world.begin_snapshot();
    exchange(1);
    world.write_snapshot(acknowledged);
    exchange(2);
    rest();
    REQUIRE_FALSE(world.journal->writing_snapshot());
    exchange(1);
  }
  void live() {
    if (!world.create()) {
      world.files.heal();
      REQUIRE(world.create());
    }
    exchange(3);
    rest();
    tick();
    exchange(1);
    snapshot(2);
    tick();
    exchange(2);
    snapshot(6);
    tick();
    exchange(1);
  }
  // All is well again.
  void mend() {
    world.files.heal();
    for (int i = 0; i < 3; ++i) tick();
    REQUIRE(world.journal->trouble().empty());
    exchange(1);
    snapshot(9);
    exchange(1);
    REQUIRE(world.journal->close());
    look();
    REQUIRE_FALSE(world.journal->needs_tick());
    REQUIRE(world.journal->backlog() == 0);
    REQUIRE(world.holds(world.bytes(), world.journal->position()));
    if (world.options.durability != Durability::never) REQUIRE(world.all_on_disk());
    REQUIRE(records_in(world.bytes())->at(1).kind == RecordKind::snapshot);
    REQUIRE_FALSE(std::filesystem::exists(world.path + ".new"));
  }

  JournalWorld world;
};

void fail_everywhere(bool lasting, std::size_t short_bytes) {
  for (const Durability durability : kDurabilities) {
    for (std::size_t n = 1;; ++n) {
      CAPTURE(static_cast<int>(durability), n);
      Life life(durability, {.nth = n,
                             .error = kErrors[n % kErrors.size()],
                             .lasting = lasting,
                             .short_bytes = short_bytes});
      life.live();
      const bool over = life.world.files.count() < n;
      life.mend();
      if (over) break;
    }
  }
}

TEST_CASE("journal: one call that fails loses nothing") { fail_everywhere(false, 0); }
TEST_CASE("journal: a write that fails in its middle loses nothing") { fail_everywhere(false, 7); }
TEST_CASE("journal: calls that fail for a while lose nothing") { fail_everywhere(true, 0); }
TEST_CASE("journal: calls that fail in the middle of a record for a while lose nothing") {
  fail_everywhere(true, 7);
}

TEST_CASE("journal: a kind of call that fails for a while loses nothing") {
  for (const Durability durability : kDurabilities) {
    for (std::size_t call = 0; call < kFileCalls; ++call) {
      for (const std::size_t nth : {1, 2, 4, 8}) {
        CAPTURE(static_cast<int>(durability), call, nth);
        Life life(durability, {.call = static_cast<FileCall>(call),
                               .nth = nth,
                               .error = EIO,
                               .lasting = true,
                               .short_bytes = 1});
        life.live();
        life.mend();
      }
    }
  }
}

TEST_CASE("journal: closing while calls fail says so and can be done again") {
  for (const Durability durability : kDurabilities) {
    for (std::size_t n = 1;; ++n) {
      CAPTURE(static_cast<int>(durability), n);
      Life life(durability, {});
      life.world.files.heal();
      REQUIRE(life.world.create());
      life.exchange(2);
      life.world.begin_snapshot();
      life.world.write_snapshot(0);
      life.exchange(2);
      const std::size_t before = life.world.files.count();
      life.world.files.fail({.nth = before + n, .error = EIO, .lasting = true});
      const auto closed = life.world.journal->close();
      const bool over = life.world.files.count() < before + n;
      REQUIRE(life.world.kept_promise());
      if (closed) {
        REQUIRE(life.world.holds(life.world.bytes(), life.world.journal->position()));
        if (durability != Durability::never) REQUIRE(life.world.all_on_disk());
      } else {
        CHECK_THAT(closed.error().message, Catch::Contains(directory_of(life.world.path)));
      }
      life.world.files.heal();
      REQUIRE(life.world.journal->close());
      REQUIRE(life.world.holds(life.world.bytes(), life.world.journal->position()));
      if (durability != Durability::never) REQUIRE(life.world.all_on_disk());
      if (over) break;
    }
  }
}

}  // namespace attune::faults_test
