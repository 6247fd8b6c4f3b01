// A journal as the coordinator has one: its own kind of record, and a snapshot that needs nothing
// of what went before it.
#include "tests/support/journal_helpers.h"

namespace attune::edges_test {

std::string edge(int number) { return dump_json({{"edge", number}}); }

void append_edges(JournalWorld& world, int from, int to) {
  for (int i = from; i < to; ++i) world.append(RecordKind::edge, edge(i));
}

TEST_CASE("journal of edges: it is gone on with behind a torn end") {
  JournalWorld world(Durability::always);
  REQUIRE(world.create());
  world.append(RecordKind::header, R"({"format":1})");
  append_edges(world, 0, 3);
  world.journal->flush();
  world.rest();
  CHECK(world.journal->durable() == world.journal->position());
  REQUIRE(world.journal->close());
  world.journal.reset();
  const std::string good = *world.bytes();
  std::string torn;
  encode_record(RecordKind::edge, edge(3), torn);
  torn.pop_back();
  write_bytes(world.path, good + torn);

  const std::string bytes = *world.bytes();
  RecordScanner scanner(bytes);
  for (const auto& record : world.appended) {
    const auto item = scanner.next().value();
    REQUIRE(item);
    CHECK(item->kind == record.kind);
    CHECK(item->payload == record.payload);
  }
  CHECK_FALSE(scanner.next().value());
  CHECK(scanner.end_of_good() == good.size());
  REQUIRE(world.reopen(scanner.end_of_good(), scanner.end_of_good()));
  append_edges(world, 4, 6);
  REQUIRE(world.journal->close());
  CHECK(records_in(world.bytes()) == world.appended);
}

TEST_CASE("journal of edges: a snapshot stands for all of them up to its point") {
  JournalWorld world;
  world.keep = [](std::uint64_t, std::uint64_t) { return nullptr; };
  REQUIRE(world.create());
  world.append(RecordKind::header, R"({"format":1})");
  append_edges(world, 0, 3);
  world.begin_snapshot();
  append_edges(world, 3, 5);
  world.write_snapshot(0);
  append_edges(world, 5, 6);
  world.rest();
  REQUIRE(world.journal->close());
  CHECK(payloads(world, RecordKind::edge) == std::vector<std::string>{edge(3), edge(4), edge(5)});
  CHECK(records_in(world.bytes())->at(1).kind == RecordKind::snapshot);
}

TEST_CASE("journal of edges: damage is said and header and snapshot have their places") {
  std::string bytes;
  encode_record(RecordKind::edge, edge(0), bytes);
  CHECK(RecordScanner(bytes).next().error().message == "byte 0: the first record is no header");
  bytes.clear();
  encode_record(RecordKind::header, "{}", bytes);
  const std::size_t first = bytes.size();
  encode_record(RecordKind::edge, edge(1), bytes);
  const std::size_t second = bytes.size();
  encode_record(RecordKind::snapshot, "{}", bytes);
  RecordScanner late(bytes);
  REQUIRE(late.next().value());
  REQUIRE(late.next().value());
  CHECK_THAT(late.next().error().message, Catch::Contains("right behind the header"));

  bytes.resize(second);
  encode_record(RecordKind::edge, edge(2), bytes);
  bytes[second - 1] ^= 1;
  RecordScanner damaged(bytes);
  REQUIRE(damaged.next().value());
  CHECK(damaged.next().error().message ==
        "byte " + std::to_string(first) +
            ": the payload does not match its sum, and there are valid records from byte " +
            std::to_string(second) + " on");
}

TEST_CASE("journal of edges: no number between the kinds is a kind") {
  for (int kind = 0; kind < 256; ++kind) {
    CAPTURE(kind);
    const bool known = (kind >= 1 && kind <= 8) || kind == 16;
    CHECK(is_known(static_cast<std::uint8_t>(kind)) == known);
    CHECK(kind_name(static_cast<RecordKind>(kind)).empty() != known);
  }
}

}  // namespace attune::edges_test
