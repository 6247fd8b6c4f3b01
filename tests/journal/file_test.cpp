#include "journal/file.h"

#include "tests/support/journal_helpers.h"

namespace attune::file_test {

TEST_CASE("journal file: what is flushed is in it and what is not is not") {
  for (const Durability durability : kDurabilities) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    REQUIRE(world.create());
    CHECK(mode_of(world.path) == 0600);
    world.exchange();
    CHECK(world.bytes() == "");
    CHECK(world.journal->backlog() == world.journal->position());
    CHECK(world.journal->durable() == 0);
    CHECK(world.journal->needs_tick());
    world.journal->flush();
    CHECK(world.journal->backlog() == 0);
    CHECK(records_in(world.bytes()) == world.appended);
    world.rest();
    CHECK(world.journal->durable() == world.journal->position());
    CHECK(world.files.count(FileCall::flush) == (durability == Durability::always ? 1 : 0));
    world.tick();
    CHECK_FALSE(world.journal->needs_tick());
    CHECK(world.files.count(FileCall::flush) == (durability == Durability::never ? 0 : 1));
    CHECK(world.all_on_disk() == (durability != Durability::never));
    world.tick();  // nothing new: nothing to do
    CHECK(world.files.count(FileCall::flush) == (durability == Durability::never ? 0 : 1));
    world.exchange();
    REQUIRE(world.journal->close());
    CHECK(records_in(world.bytes()) == world.appended);
  }
}

TEST_CASE("journal file: flushes gather while one runs") {
  JournalWorld world(Durability::always);
  REQUIRE(world.create());
  world.exchange();
  world.files.hold(FileCall::flush);
  world.journal->flush();
  world.files.await_held();
  const std::uint64_t first = world.journal->position();
  for (int i = 0; i < 20; ++i) {
    world.exchange();
    world.journal->flush();
    world.journal->poll();
    CHECK(world.journal->durable() == 0);
  }
  world.files.release();
  world.rest_until([&] { return world.journal->durable() > 0; });
  CHECK(world.journal->durable() == first);
  world.rest();
  CHECK(world.journal->durable() == world.journal->position());
  CHECK(world.files.count(FileCall::flush) == 2);
}

TEST_CASE("journal file: much that is written does not wait for the tick") {
  JournalWorld world;
  REQUIRE(world.create());
  world.append(RecordKind::header, std::string(9 << 20, 'x'));
  world.journal->flush();
  world.rest();
  CHECK(world.files.count(FileCall::flush) == 1);
}

TEST_CASE("journal file: while the disk lags behind no more than some memory is taken") {
  for (const Durability durability : kDurabilities) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    REQUIRE(world.create());
    if (durability != Durability::never) world.files.hold(FileCall::flush);
    int appended = 0;
    for (; appended < 100 && !world.journal->full(1 << 20); ++appended) {
      world.append(appended == 0 ? RecordKind::header : RecordKind::command,
                   std::string(1 << 20, 'x'));
      world.journal->flush();
    }
    CHECK((appended < 20) == (durability != Durability::never));
    // A helper that is let go before it has come to its flush would be held there for ever.
    if (durability != Durability::never) {
      world.files.await_held();
      world.files.release();
    }
    world.rest();
    world.tick();
    CHECK_FALSE(world.journal->full(1 << 20));
  }
}

TEST_CASE("journal file: another one goes on where the good part ends") {
  for (const Durability durability : kDurabilities) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    REQUIRE(world.create());
    world.exchange();
    REQUIRE(world.journal->close());
    const std::string good = *world.bytes();
    world.journal.reset();
    // Longer than what comes next, and with good records in it: none of it may stay behind that.
    std::string torn = "torn";
    for (int i = 0; i < 20; ++i) encode_record(RecordKind::command, "GE1", torn);
    write_bytes(world.path, good + torn);
    REQUIRE(world.reopen(good.size(), 7));
    CHECK(world.journal->position() == good.size());
    CHECK(world.journal->bytes_since_snapshot() == 7);
    CHECK(world.journal->snapshot_bytes() == good.size() - 7);
    CHECK(world.bytes() == good + torn);
    world.exchange();
    world.journal->flush();
    CHECK(records_in(world.bytes()) == world.appended);
    CHECK(world.bytes()->size() == world.journal->position());
    // What the former daemon has written may not be on the disk.
    CHECK((world.journal->durable() == 0) == (durability == Durability::always));
    world.rest();
    CHECK(world.journal->durable() == world.journal->position());
    REQUIRE(world.journal->close());
    if (durability != Durability::never) CHECK(world.all_on_disk());
  }
}

TEST_CASE("journal file: one that goes on without a word is made durable too") {
  JournalWorld world(Durability::always);
  REQUIRE(world.create());
  world.exchange();
  REQUIRE(world.journal->close());
  REQUIRE(world.reopen(world.bytes()->size(), 0));
  world.journal->flush();
  world.rest();
  CHECK(world.journal->durable() == world.journal->position());
}

TEST_CASE("journal file: a new one takes the place of what was there with its first flush") {
  JournalWorld world;
  std::filesystem::create_directories(directory_of(world.path));
  const std::string former(10'000, 'x');
  write_bytes(world.path, former);
  REQUIRE(world.create());
  world.exchange();
  CHECK(world.bytes() == former);
  world.journal->flush();
  CHECK(records_in(world.bytes()) == world.appended);
  CHECK(world.bytes()->size() == world.journal->position());
}

TEST_CASE("journal file: for one daemon at a time") {
  JournalWorld world;
  world.start();
  const auto second = JournalFile::create(real_files(), world.options, [] {}, {});
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().message, Catch::StartsWith(world.path + " is in use by another"));
  const auto reader = JournalFile::lock_and_read(real_files(), world.path);
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().message, Catch::StartsWith(world.path + " is in use by another"));
  // A snapshot is another file: it has the lock as well.
  world.begin_snapshot();
  world.write_snapshot(0);
  world.rest();
  CHECK(world.journal->snapshot_bytes() > 0);
  CHECK_FALSE(JournalFile::lock_and_read(real_files(), world.path));
  world.journal.reset();
  const auto later = JournalFile::lock_and_read(real_files(), world.path);
  REQUIRE(later);
  REQUIRE(*later);
  CHECK(records_in((*later)->bytes) == world.expected(*records_in((*later)->bytes)));
}

TEST_CASE("journal file: a symbolic link is refused and nothing is no error") {
  JournalWorld world;
  const auto none = JournalFile::lock_and_read(world.files, world.path);
  REQUIRE(none);
  CHECK_FALSE(*none);
  std::filesystem::create_directories(directory_of(world.path));
  std::filesystem::create_symlink("elsewhere", world.path);
  const auto created = world.create();
  REQUIRE_FALSE(created);
  CHECK_THAT(created.error().message, Catch::Contains(world.path + ": it is a symbolic link"));
  const auto read = JournalFile::lock_and_read(world.files, world.path);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message, Catch::Contains("it is a symbolic link"));
  CHECK_FALSE(std::filesystem::exists(directory_of(world.path) + "/elsewhere"));
}

TEST_CASE("journal file: a full disk is said once and its end once") {
  JournalWorld world;
  const std::string log_file = world.folder.path / "log";
  world.start(1, Log::to_file(log_file, LogLevel::info, false).value());
  world.tick();
  const std::uint64_t durable = world.journal->durable();
  world.files.fail_next(FileCall::write, ENOSPC, true);
  for (int i = 0; i < 3; ++i) {
    world.exchange();
    world.journal->flush();
    CHECK_THAT(world.journal->trouble(),
               Catch::StartsWith("cannot write " + world.path + ": No space left on device; make"));
    CHECK(world.journal->needs_tick());
    CHECK(world.journal->durable() == durable);
    world.tick();
  }
  // No write of a full disk between the ticks: one by each of them, and the first one.
  CHECK(world.files.count(FileCall::write) == 1 + 1 + 3);
  CHECK(world.journal->backlog() == world.journal->position() - durable);
  world.files.heal();
  world.tick();
  CHECK(world.journal->trouble().empty());
  CHECK(world.journal->durable() == world.journal->position());
  CHECK(records_in(world.bytes()) == world.appended);
  const std::string log = read_file(log_file).value();
  CHECK(count_in(log, "ERROR") == 1);
  CHECK(count_in(log, "nothing new can be remembered: cannot write") == 1);
  CHECK(count_in(log, "is written again, and whole") == 1);
}

TEST_CASE("journal file: what a failed flush has lost is written into a new file") {
  for (const Durability durability : {Durability::each_second, Durability::always}) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    world.start();
    world.tick();
    const std::uint64_t durable = world.journal->durable();
    world.exchange();
    world.files.fail_next(FileCall::flush, EIO);
    world.journal->flush();
    if (durability == Durability::always) {
      world.rest();
      CHECK(world.journal->durable() == durable);
    } else {
      world.tick();
    }
    CHECK_THAT(world.journal->trouble(),
               Catch::StartsWith("cannot flush " + world.path + ": Input/output error; the"));
    world.exchange();
    world.journal->flush();
    CHECK(world.journal->backlog() > 0);  // that file gets nothing more
    const auto former = real_files().open(world.path, {}).value();
    world.tick();
    CHECK(world.journal->trouble().empty());
    CHECK(real_files().is_at(former.get(), world.path) == false);
    world.tick();
    CHECK(world.journal->durable() == world.journal->position());
    CHECK(records_in(world.bytes()) == world.appended);
    CHECK(world.all_on_disk());
  }
}

TEST_CASE("journal file: one that is deleted with its directory is written anew") {
  for (const Durability durability : kDurabilities) {
    CAPTURE(static_cast<int>(durability));
    JournalWorld world(durability);
    world.start();
    world.tick();
    std::filesystem::remove_all(directory_of(world.path));
    world.tick();  // nothing was written: nobody looks
    CHECK(world.journal->trouble().empty());
    const std::uint64_t durable = world.journal->durable();
    world.exchange();
    world.journal->flush();
    CHECK_THAT(world.journal->trouble(), Catch::Contains("the journal is written anew"));
    CHECK(world.journal->durable() == durable);  // answers wait
    CHECK_FALSE(world.bytes());
    world.exchange();
    world.tick();
    CHECK(world.complete());
    CHECK(mode_of(world.path) == 0600);
    REQUIRE(world.journal->close());
  }
}

TEST_CASE("journal file: a full disk and then a deleted file") {
  JournalWorld world;
  world.start();
  world.files.fail_next(FileCall::write, ENOSPC, true);
  world.exchange();
  world.journal->flush();
  std::filesystem::remove(world.path);
  world.tick();
  CHECK_FALSE(world.journal->trouble().empty());
  CHECK_FALSE(world.bytes());
  world.files.heal();
  world.tick();
  CHECK(world.complete());
}

TEST_CASE("journal file: another file in its place gives way unless somebody has it") {
  JournalWorld world;
  world.start();
  write_bytes(world.path + "2", "of another daemon");
  std::filesystem::rename(world.path + "2", world.path);
  auto other = JournalFile::lock_and_read(real_files(), world.path).value();
  REQUIRE(other);
  for (int i = 0; i < 3; ++i) world.tick();
  CHECK_THAT(world.journal->trouble(), Catch::Contains(world.path + " is in use by another"));
  CHECK(world.bytes() == "of another daemon");
  CHECK_FALSE(std::filesystem::exists(world.path + ".new"));
  world.exchange();
  other.reset();
  world.tick();
  CHECK(world.complete());
}

TEST_CASE("journal file: a symbolic link in its place is replaced and not followed") {
  JournalWorld world;
  world.start();
  write_bytes(world.path + ".elsewhere", "mine");
  std::filesystem::remove(world.path);
  std::filesystem::create_symlink("attuned.journal.elsewhere", world.path);
  std::filesystem::create_symlink("attuned.journal.elsewhere", world.path + ".new");
  for (int i = 0; i < 2; ++i) world.tick();
  CHECK(world.complete());
  CHECK(read_file(world.path + ".elsewhere") == "mine");
}

}  // namespace attune::file_test
