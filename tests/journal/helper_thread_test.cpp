#include "journal/helper_thread.h"

#include <catch2/catch.hpp>
#include <new>

namespace attune::helper_thread_test {

TEST_CASE("a job that throws has failed, and the thread does the next one") {
  HelperThread helper("test helper", [] {});
  helper.start([]() -> Result<void> { throw std::bad_alloc(); });
  helper.wait();
  CHECK(helper.busy());
  const auto thrown = helper.take();
  REQUIRE(thrown.has_value());
  REQUIRE_FALSE(thrown->has_value());
  CHECK(thrown->error().message == "test helper: std::bad_alloc");
  CHECK_FALSE(helper.busy());
  CHECK_FALSE(helper.take().has_value());

  bool done = false;
  helper.start([&done]() -> Result<void> {
    done = true;
    return {};
  });
  helper.wait();
  const auto second = helper.take();
  REQUIRE(second.has_value());
  CHECK(second->has_value());
  CHECK(done);
}

TEST_CASE("a job that fails says why") {
  HelperThread helper("test helper", [] {});
  helper.start([]() -> Result<void> { return fail("no"); });
  helper.wait();
  CHECK(helper.take().value().error().message == "no");
}

}  // namespace attune::helper_thread_test
