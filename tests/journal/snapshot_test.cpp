// The journal while it is replaced by a shorter one.
#include <thread>

#include "tests/support/journal_helpers.h"

namespace attune::snapshot_test {

TEST_CASE("journal snapshot: a snapshot replaces what went before it") {
  for (const Durability durability : kDurabilities) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    world.start(5);
    CHECK(world.journal->snapshot_bytes() == 0);
    world.begin_snapshot();
    CHECK(world.journal->writing_snapshot());
    world.exchange();
    const std::uint64_t before = world.journal->position();
    write_bytes(world.path + ".new", "of a daemon that was killed");
    world.write_snapshot(3);
    CHECK(world.journal->writing_snapshot());
    world.rest();
    CHECK_FALSE(world.journal->writing_snapshot());
    CHECK(world.journal->position() == before);
    CHECK(world.journal->bytes_since_snapshot() == world.ends.back() - world.ends[15]);
    CHECK(world.bytes()->size() ==
          world.journal->snapshot_bytes() + world.journal->bytes_since_snapshot());
    CHECK(payloads(world, RecordKind::kept) == std::vector<std::string>{"TR4", "TR5"});
    CHECK(mode_of(world.path) == 0600);
    CHECK_FALSE(std::filesystem::exists(world.path + ".new"));
    world.exchange();
    world.journal->flush();
    world.rest();
    CHECK(world.kept_promise());
    CHECK(world.journal->durable() == world.journal->position());

    // The next one keeps what this one has kept, and a later daemon goes on with it.
    REQUIRE(world.journal->close());
    const auto since = world.journal->bytes_since_snapshot();
    REQUIRE(world.reopen(world.bytes()->size(), since));
    CHECK(world.journal->bytes_since_snapshot() == since);
    const std::size_t offset = world.journal->position() - world.ends.back();
    for (auto& end : world.ends) end += offset;
    world.exchange();
    world.begin_snapshot();
    world.write_snapshot(4);
    world.exchange();
    REQUIRE(world.journal->writing_snapshot());
    world.rest();
    CHECK(payloads(world, RecordKind::kept) ==
          std::vector<std::string>{"TR5", "TR6", "TR7", "TR8"});
    REQUIRE(world.journal->close());
    CHECK(world.holds(world.bytes(), world.journal->position()));
  }
}

TEST_CASE("journal snapshot: without anything to keep the former journal is not even read") {
  JournalWorld world;
  world.keep = [](std::uint64_t, std::uint64_t) { return nullptr; };
  world.start(3);
  world.tick();
  world.begin_snapshot();
  world.files.fail_next(FileCall::read, EIO, true);
  world.write_snapshot(0);
  world.exchange();
  world.rest();
  const auto records = records_in(world.bytes());
  REQUIRE(records);
  REQUIRE(records->size() == 5);
  CHECK(records->at(1).kind == RecordKind::snapshot);
  CHECK(std::equal(records->begin() + 2, records->end(), world.appended.end() - 3));
}

TEST_CASE("journal snapshot: records go on while a snapshot is written") {
  for (const Durability durability : kDurabilities) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    world.start();
    world.rest();
    world.begin_snapshot();
    world.files.hold(FileCall::lock);  // of the new file
    world.files.hold(FileCall::rename);
    world.write_snapshot(0);
    world.files.await_held();
    for (int i = 0; i < 30; ++i) {
      world.exchange();
      world.append(RecordKind::command, "FD" + std::string(30'000, 'x'));
      world.journal->flush();
      world.journal->poll();
      REQUIRE(world.kept_promise());
    }
    if (durability != Durability::always) {
      CHECK(world.journal->durable() == world.journal->position());
    }
    world.files.release();
    world.rest_until([&] { return world.files.held(); });
    const std::uint64_t durable = world.journal->durable();
    world.exchange();
    world.journal->flush();
    world.journal->poll();
    world.journal->tick();
    CHECK(world.journal->durable() == durable);
    CHECK(world.journal->backlog() == world.journal->position() - durable);
    CHECK(world.journal->trouble().empty());
    REQUIRE(world.kept_promise());
    world.files.release();
    world.rest();
    CHECK(world.journal->durable() == world.journal->position());
    REQUIRE(world.kept_promise());
    CHECK(records_in(world.bytes())->at(1).kind == RecordKind::snapshot);
    CHECK(world.holds(world.bytes(), world.journal->position()));
  }
}

TEST_CASE("journal snapshot: a snapshot that cannot be written leaves all as it was") {
  for (const FileCall call : {FileCall::rename, FileCall::flush, FileCall::open, FileCall::read}) {
    CAPTURE(static_cast<int>(call));
    JournalWorld world;
    const std::string log_file = world.folder.path / "log";
    world.start(1, Log::to_file(log_file, LogLevel::info, false).value());
    world.tick();
    world.files.fail_next(call, ENOSPC, true);
    for (int i = 0; i < 3; ++i) {
      world.begin_snapshot();
      world.exchange();
      world.write_snapshot(0);
      world.rest();
      CHECK_FALSE(world.journal->writing_snapshot());
      CHECK(world.journal->trouble().empty());
      CHECK(world.journal->durable() == world.journal->position());
      CHECK(records_in(world.bytes()) == world.appended);
      CHECK_FALSE(std::filesystem::exists(world.path + ".new"));
    }
    world.files.heal();
    world.begin_snapshot();
    world.write_snapshot(0);
    world.rest();
    CHECK(records_in(world.bytes())->at(1).kind == RecordKind::snapshot);
    const std::string log = read_file(log_file).value();
    CHECK(count_in(log, "no snapshot can be written") == 1);
    CHECK(count_in(log, "snapshots are written again") == 1);
  }
}

TEST_CASE("journal snapshot: a damaged journal is not taken into a snapshot") {
  JournalWorld world;
  world.start(3);
  world.tick();  // what is not on the disk would be taken from memory
  std::fstream file(world.path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(world.ends[3] - 1));
  file.put('X');
  file.close();
  world.begin_snapshot();
  world.write_snapshot(0);
  world.rest();
  CHECK(world.journal->trouble().empty());
  CHECK_FALSE(records_in(world.bytes()));  // it is what it was
}

TEST_CASE("journal snapshot: a snapshot in hand is given up at the end") {
  for (const bool close : {true, false}) {
    CAPTURE(close);
    JournalWorld world;
    world.start();
    world.begin_snapshot();
    world.files.hold(FileCall::lock);
    world.write_snapshot(0);
    world.files.await_held();
    bool closed = false;
    std::thread ending([&] {
      closed = !close || world.journal->close().has_value();
      if (!close) world.journal.reset();
    });
    world.files.release();
    ending.join();
    CHECK(closed);
    CHECK_FALSE(std::filesystem::exists(world.path + ".new"));
    const auto records = records_in(world.bytes());
    REQUIRE(records);
    CHECK(*records == world.expected(*records));
  }
}

TEST_CASE("journal snapshot: begun and never brought a snapshot is no harm") {
  JournalWorld world;
  REQUIRE(world.create());
  world.exchange();
  world.write_snapshot(0);  // none has begun
  world.rest();
  world.begin_snapshot();
  world.exchange();
  world.begin_snapshot();
  world.exchange();
  world.write_snapshot(0);
  world.rest();
  CHECK(payloads(world, RecordKind::kept) == std::vector<std::string>{"TR1", "TR2"});
  CHECK(world.holds(world.bytes(), world.journal->position()));
}

}  // namespace attune::snapshot_test
