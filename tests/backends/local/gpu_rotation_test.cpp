#include "backends/local/gpu_rotation.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/json.h"
#include "os/atomic_file.h"

namespace attune::gpu_rotation_test {

using Devices = std::vector<GpuName>;

std::string joined(const Devices& devices) {
  std::string text;
  for (const GpuName& device : devices) text += (text.empty() ? "" : ",") + device;
  return text;
}

TEST_CASE("gpu rotation: the devices of a worker") {
  CHECK(devices_for(std::nullopt, Devices{"2", "3"}) == Devices{"2", "3"});
  CHECK(devices_for(std::nullopt, {}) == Devices{});
  CHECK(devices_for(2, {}) == Devices{"0", "1"});
  CHECK(devices_for(0.5, {}) == Devices{"0"});
  CHECK(devices_for(1.5, Devices{"4", "5", "6"}) == Devices{"4", "5"});
  CHECK(devices_for(0, Devices{"4", "5"}) == Devices{});
  CHECK(devices_for(4, Devices{"0", "1"}).error().message ==
        "4 GPUs are asked for, and this machine has 2");
  CHECK_FALSE(devices_for(1e18, {}));
  CHECK_FALSE(devices_for(std::nan(""), {}));
}

TEST_CASE("gpu rotation: the sequences of Syne Tune's local backend") {
  const auto runs =
      parse_json(read_file(ATTUNE_TEST_DATA "/backends/gpu_rotation.json").value()).value();
  REQUIRE(runs.size() == 4);
  for (const json& run : runs) {
    CAPTURE(run.dump());
    Devices devices;
    if (run["gpus_to_use"].is_null()) {
      for (int i = 0; i < run["num_gpus"]; ++i) devices.push_back(std::to_string(i));
    } else {
      for (const int i : run["gpus_to_use"]) devices.push_back(std::to_string(i));
    }
    GpuRotation rotation(devices, std::nullopt);
    for (const json& step : run["steps"]) {
      const std::string trial = std::to_string(step[1].get<int>());
      if (step[0] == "alloc") {
        CHECK(joined(rotation.assign(trial, run["num_gpus_per_trial"])) ==
              step[2].get<std::string>());
      } else {
        rotation.release(trial);
      }
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
      CHECK(rotation.times_assigned(devices[i]) == run["times_assigned"][i].get<int>());
    }
  }
}

TEST_CASE("gpu rotation: a device takes so many trials, and more only when all are full") {
  GpuRotation rotation(Devices{"0", "1"}, 2);
  CHECK(rotation.assign("a", 1) == Devices{"0"});
  CHECK(rotation.assign("b", 1) == Devices{"1"});
  CHECK(rotation.assign("c", 1) == Devices{"0"});
  CHECK(rotation.assign("d", 1) == Devices{"1"});
  CHECK(rotation.assign("e", 1) == Devices{"0"});
  rotation.release("b");
  CHECK(rotation.assign("f", 1) == Devices{"1"});
}

TEST_CASE("gpu rotation: shares fill a device before they take the next one") {
  GpuRotation rotation(Devices{"0", "1"}, 1);
  CHECK(rotation.assign("a", 0.5) == Devices{"0"});
  CHECK(rotation.assign("b", 0.5) == Devices{"0"});
  CHECK(rotation.assign("c", 0.5) == Devices{"1"});
  rotation.release("a");
  rotation.release("b");
  CHECK(rotation.assign("d", 1) == Devices{"0"});
}

TEST_CASE("gpu rotation: a trial gets no device twice, no more than there are, and keeps its own") {
  GpuRotation rotation(Devices{"3", "4"}, 1);
  CHECK(rotation.assign("a", 5) == Devices{"3", "4"});
  CHECK(rotation.assign("b", 2) == Devices{"3", "4"});
  CHECK(rotation.assign("a", 1) == Devices{"3", "4"});
  CHECK(GpuRotation({}, 1).assign("a", 1).empty());
}

TEST_CASE("gpu rotation: what an earlier manager assigned counts") {
  GpuRotation rotation(Devices{"0", "1", "2"}, 1);
  rotation.adopt("a", Devices{"1", "7"}, 1);  // 7 is no longer there
  CHECK(rotation.assign("b", 2) == Devices{"0", "2"});
  rotation.release("a");
  rotation.release("unknown");
  CHECK(rotation.assign("c", 1) == Devices{"1"});
}

}  // namespace attune::gpu_rotation_test
