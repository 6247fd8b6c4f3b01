#include "manager/trials/store_guard.h"

#include <catch2/catch.hpp>

namespace attune::store_guard_test {

using Change = StoreGuard::Change;

struct Guarded {
  ManualClock clock;
  StoreGuard guard{clock, 1, 10};  // tries each second, for ten
};

const Result<Kept> kStored = Kept{};
const Result<Kept> kFull = Kept{.trouble = "disk full"};

TEST_CASE("store guard: a stall is said once, and so is its end") {
  Guarded g;
  CHECK(g.guard.note(kStored) == Change::none);
  CHECK(g.guard.may_try());
  CHECK(g.guard.note(kFull) == Change::stalled);
  CHECK(g.guard.stalled());
  g.clock.advance(1);
  CHECK(g.guard.note(kFull) == Change::none);
  CHECK(g.guard.note(kStored) == Change::resumed);
  CHECK_FALSE(g.guard.stalled());
  CHECK(g.guard.note(kStored) == Change::none);
}

TEST_CASE("store guard: the next try is due after the retry time of the last one") {
  Guarded g;
  g.guard.note(kFull);
  CHECK_FALSE(g.guard.may_try());
  g.clock.advance(1);
  CHECK(g.guard.may_try());
  g.guard.note(kFull);
  CHECK_FALSE(g.guard.may_try());
  CHECK(g.guard.retry_at() == g.clock.now() + 1);
}

TEST_CASE("store guard: patience counts from the first failure in a row") {
  Guarded g;
  g.guard.note(kFull);
  g.clock.advance(9);
  CHECK(g.guard.note(kFull) == Change::none);
  CHECK(g.guard.note(kStored) == Change::resumed);
  CHECK(g.guard.note(kFull) == Change::stalled);
  g.clock.advance(9);
  CHECK(g.guard.note(kFull) == Change::none);
  g.clock.advance(1);
  CHECK(g.guard.note(kFull) == Change::lost);
}

TEST_CASE("store guard: a failure that cannot pass is one at once") {
  Guarded g;
  CHECK(g.guard.note(fail("the file is another program's")) == Change::lost);
}

}  // namespace attune::store_guard_test
