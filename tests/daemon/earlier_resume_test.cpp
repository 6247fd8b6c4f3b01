// A daemon that learns from earlier experiments is killed, and the next one goes on exactly.
#include <catch2/catch.hpp>

#include "tests/daemon/resume_helpers.h"

namespace attune::earlier_resume_test {

std::string initialize() {
  json trials = json::array();
  for (int i = 0; i <= 20; ++i) {
    const double x = 0.05 * i;
    trials.push_back({{"parameters", {{"x", x}}}, {"loss", (x - 0.3) * (x - 0.3)}});
  }
  return dump_json({{"search_space", parse_json(kSpace).value()},
                    {"earlier", {{{"name", "before"}, {"trials", trials}}}}});
}

std::vector<Frame> proposals(DaemonProcess& daemon, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    daemon.send("GE", "1");
    daemon.send("ME", metric(i, std::to_string(i % 3)));
    daemon.send("EN", end(i));
  }
  auto frames = daemon.sync();
  std::erase_if(frames, [](const Frame& frame) { return frame.code != "TR"; });
  return frames;
}

TEST_CASE("earlier experiments: a daemon that was killed knows them from its journal") {
  const json tuner = {{"name", "GP"}, {"classArgs", {{"seed", 3}}}};
  const Experiment undisturbed, killed;
  DaemonProcess whole = undisturbed.start("start", tuner);
  whole.send("IN", initialize());
  const auto expected = proposals(whole, 0, 14);
  REQUIRE(expected.size() == 14);

  const int before = GENERATE(2, 8, 12);
  CAPTURE(before);
  std::vector<Frame> all;
  {
    DaemonProcess first = killed.start("start", tuner);
    first.send("IN", initialize());
    all = proposals(first, 0, before);
    first.signal(SIGKILL);
    first.wait();
  }
  // The answers: a TR for each trial, and the PO of sync().
  DaemonProcess second = killed.start("resume", tuner, {{"received", before + 1}});
  second.send("IN", kSpace);
  for (const Frame& frame : proposals(second, before, 14 - before)) all.push_back(frame);
  CHECK(all == expected);
}

}  // namespace attune::earlier_resume_test
