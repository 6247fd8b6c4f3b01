#include "manager/trials/resource_pool.h"

#include <catch2/catch.hpp>

namespace attune::resource_pool_test {

Resources cpus(double n) { return {n, 0, 0, {}}; }

TEST_CASE("resources: what is committed is not free, and comes back exactly") {
  ResourcePool pool({4, 1, 1000, {{"licence", 1}}});
  CHECK(pool.fits({4, 1, 1000, {{"licence", 1}}}));
  pool.commit({3, 0.5, 600, {{"licence", 1}}});
  CHECK(pool.fits({1, 0.5, 400, {}}));
  CHECK_FALSE(pool.fits(cpus(2)));
  CHECK_FALSE(pool.fits({0, 0, 500, {}}));
  CHECK_FALSE(pool.fits({0, 0, 0, {{"licence", 1}}}));
  CHECK_FALSE(pool.fits({0, 0, 0, {{"unheard", 1}}}));
  CHECK(pool.fits({}));
  CHECK(pool.shortage({2, 0, 500, {}}) ==
        "cpu: 2 wanted, 1 of 4 free; memory: 500 wanted, 400 of 1000 free");
  pool.release({3, 0.5, 600, {{"licence", 1}}});
  for (int i = 0; i < 10; ++i) pool.commit(cpus(0.1));
  for (int i = 0; i < 10; ++i) pool.release(cpus(0.1));
  CHECK(pool.committed().cpu == 0);
  CHECK(pool.fits(cpus(4)));
}

TEST_CASE("resources: queue_trials starts one too many while something of each kind is free") {
  ResourcePool pool({4, 0, 0, {}}, true);
  CHECK(pool.fits(cpus(8)));
  CHECK_FALSE(pool.fits({1, 1, 0, {}}));  // no GPU is never free
  pool.commit(cpus(3));
  CHECK(pool.fits(cpus(8)));
  pool.commit(cpus(8));
  CHECK_FALSE(pool.fits(cpus(1)));
}

TEST_CASE("resources: possible is what fits an idle machine") {
  ResourcePool pool(cpus(4));
  pool.commit(cpus(4));
  CHECK(pool.possible(cpus(4)));
  CHECK_FALSE(pool.possible(cpus(5)));
  CHECK(to_text(Resources{2, 1, 0, {{"licence", 1}}}) == "2 cpu, 1 gpu, 1 licence");
  CHECK(to_text(Resources{}) == "nothing");
}

}  // namespace attune::resource_pool_test
