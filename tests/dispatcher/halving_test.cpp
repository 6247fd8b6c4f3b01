// A whole search that pauses, resumes, saves, copies and drops, under managers of every ability: it
// finds the same, and costs as much as the manager cannot do.
#include <catch2/catch.hpp>

#include "tests/support/halving_tuner.h"
#include "tests/support/small_manager.h"
#include "tests/support/stepped.h"

namespace attune::halving_test {

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// Writes down what it is told, without the ids: those depend on what the manager can do.
class Listening : public HalvingTuner {
 public:
  Listening(int size, std::multiset<std::string>& told) : HalvingTuner(size), told_(told) {}
  void tell(std::span<const Outcome> outcomes) override {
    HalvingTuner::tell(outcomes);
    for (const Outcome& outcome : outcomes) {
      told_.insert(fmt::format("{:.6g}: {}", outcome.point.values[0],
                               outcome.loss ? fmt::format("{:.6g}", *outcome.loss) : "-"));
    }
  }

 private:
  std::multiset<std::string>& told_;
};

// Of eight, four go on, and one beside them starts from the best; of these five, three and one.
const std::multiset<std::string> kExpected = {
    "1: -",      "0.9375: -",   "0.875: -",       "0.8125: -",          "0.75: -",
    "0.6875: -", "0.625: 0.75", "0.5625: 0.6875", "0.421875: 0.546875", "0.316406: 0.441406"};

struct Search {
  explicit Search(Capabilities can, int concurrency)
      : capabilities(can), daemon(make()), manager(sender(), can, concurrency, 8) {}

  std::unique_ptr<Stepped> make() {
    DispatcherOptions options;
    options.capabilities = capabilities;
    options.wants_reports = true;
    return std::make_unique<Stepped>(std::make_unique<Listening>(8, told), false, nullptr, options);
  }
  SmallManager::Send sender() {
    return [this](const std::string& code, const std::string& payload) {
      daemon->send(code, payload);
      return daemon->take();
    };
  }
  void restart() {
    const json state = parse_json(dump_json(daemon->save())).value();
    daemon = make();
    REQUIRE(daemon->restart(state).has_value());
    manager.restart(sender(), kSpace);
  }

  Capabilities capabilities;
  std::multiset<std::string> told;
  std::unique_ptr<Stepped> daemon;
  SmallManager manager;
};

std::set<std::string> used(const SmallManager& manager) {
  return {manager.codes.begin(), manager.codes.end()};
}

TEST_CASE("halving: the same search under every manager, without one step in vain") {
  const int concurrency = GENERATE(1, 3, 20);
  CAPTURE(concurrency);
  Capabilities can;
  int steps = 0;
  std::set<std::string> commands;
  SECTION("plain NNI: everything begins again") { steps = 8 * 2 + 5 * 4 + 4 * 8; }
  SECTION("one that can do everything") {
    can.pause = can.checkpoint = true;
    steps = 8 * 2 + 5 * 2 + 4 * 4;
    commands = {"PA", "CP", "CD", "resume", "from"};
  }
  SECTION("without checkpoints the copies begin again") {
    can.pause = true;
    steps = 8 * 2 + (4 * 2 + 4) + (3 * 4 + 8);
    commands = {"PA", "resume"};
  }
  SECTION("without pauses all go on from what was saved half way") {
    can.checkpoint = true;
    steps = 8 * 2 + 5 * 3 + 4 * 6;
    commands = {"CP", "CD", "from"};
  }
  Search search(can, concurrency);
  search.manager.start(kSpace);
  while (search.manager.step()) {
  }
  CHECK(search.told == kExpected);
  CHECK(search.manager.steps == steps);
  CHECK(search.manager.exhausted());
  CHECK(search.manager.live() == 0);
  CHECK(used(search.manager) == commands);
}

TEST_CASE("halving: the same search across restarts") {
  Capabilities can;
  can.pause = can.checkpoint = GENERATE(false, true);
  const int every = GENERATE(1, 2, 5);
  CAPTURE(can.pause, every);
  Search search(can, 3);
  search.manager.start(kSpace);
  // Under plain NNI what runs begins again each time: from the 20th round on it may end.
  for (int round = 1; search.manager.step(); ++round) {
    if (round % every == 0 && round < 20) search.restart();
  }
  CHECK(search.told == kExpected);
  CHECK(search.manager.exhausted());
  CHECK(search.manager.live() == 0);
  if (can.pause) CHECK(search.manager.steps == 8 * 2 + 5 * 2 + 4 * 4);
}

}  // namespace attune::halving_test
