#pragma once
// Nothing sleeps: tests turn an io_context until a condition holds.
#include <chrono>
#include <functional>

#include <boost/asio/io_context.hpp>

namespace attune::test {

// Whether `enough()` holds; false after ten minutes in which it did not, which only a test that
// hangs needs. `after_each`: what a test does whenever something may have happened.
inline bool run_until(boost::asio::io_context& io, const std::function<bool()>& enough,
                      const std::function<void()>& after_each = nullptr) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 600s;
  while (!enough()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    io.restart();
    io.run_one_for(1s);
    if (after_each) after_each();
  }
  return true;
}

}  // namespace attune::test
