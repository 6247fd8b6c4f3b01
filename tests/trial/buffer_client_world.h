#pragma once
// For the tests of BufferClient: a client, and what the coordinator says to it.
#include <future>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/trial/fake_coordinator.h"
#include "trial/buffer_client.h"

namespace attune::test {

struct ClientWorld {
  BufferClientOptions options(std::size_t unacknowledged = 0) const {
    BufferClientOptions made;
    made.address_file = file;
    made.task = "run-collect-1";
    made.attempt = 2;
    made.key = "k";
    made.unacknowledged = unacknowledged;
    made.first_pause = std::chrono::milliseconds(1);
    made.longest_pause = std::chrono::milliseconds(10);
    made.try_for = std::chrono::hours(1);  // a busy machine may need long for its answer
    made.refused = 3600;
    return made;
  }
  // What the coordinator says, in a thread of its own; get() throws what went wrong there.
  template <class Script>
  static std::future<void> play(Script script) {
    return std::async(std::launch::async, std::move(script));
  }

  TemporaryFolder folder;
  std::string file = folder.path / "program.json";
};

// The answer to `asked`, or a part of it.
inline json batch(const json& asked, std::initializer_list<int> ids) {
  json items = json::array();
  for (const int id : ids)
    items.push_back({{"id", id}, {"meta", fmt::format("m{}", id)}, {"weight", 0.5}});
  return {{"type", "batch"},
          {"buffer", "b"},
          {"seq", asked["seq"]},
          {"from", asked["from"]},
          {"items", items}};
}

inline std::vector<DataItem> items(int count) {
  std::vector<DataItem> made;
  for (int i = 0; i < count; ++i) made.push_back({.meta = fmt::format("x{}", i)});
  return made;
}

}  // namespace attune::test
