#include "daemon/kept_answers.h"

#include "tests/support/journal_helpers.h"

namespace attune::kept_answers_test {

TEST_CASE("kept answers: only answers with a number are kept and no more than there is room for") {
  JournalWorld world;
  world.keep = [](std::uint64_t all, std::uint64_t acknowledged) {
    return std::make_unique<KeptAnswers>(all, acknowledged);
  };
  REQUIRE(world.create());
  world.append(RecordKind::header, "{}");
  world.append(RecordKind::answer, "ID");
  for (int i = 1; i <= 9; ++i) {
    ++world.answers;
    world.append(RecordKind::answer, "TR" + std::to_string(i));
    world.append(RecordKind::answer, R"(NO{"parameter_id":1,"transient":true})");
    world.append(RecordKind::answer, "ERno");
    world.append(RecordKind::command, "TR of nobody");
  }
  ++world.answers;
  world.append(RecordKind::answer, R"(NO{"parameters":"\"transient\""})");
  world.begin_snapshot();
  world.write_snapshot(7);
  world.rest();
  CHECK(payloads(world, RecordKind::kept) ==
        std::vector<std::string>{"TR8", "TR9", R"(NO{"parameters":"\"transient\""})"});
  // All of them acknowledged, and more than there are.
  world.begin_snapshot();
  world.write_snapshot(10);
  world.rest();
  CHECK(payloads(world, RecordKind::kept).empty());

  JournalWorld small;
  small.keep = [](std::uint64_t all, std::uint64_t acknowledged) {
    return std::make_unique<KeptAnswers>(all, acknowledged, 10);
  };
  REQUIRE(small.create());
  for (int i = 0; i < 7; ++i) small.exchange();
  small.begin_snapshot();
  small.write_snapshot(0);
  small.rest();
  CHECK(payloads(small, RecordKind::kept) == std::vector<std::string>{"TR5", "TR6", "TR7"});
}

}  // namespace attune::kept_answers_test
