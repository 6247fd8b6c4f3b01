#include "backends/local/machine.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::machine_test {

using Devices = std::vector<GpuName>;

const std::vector<std::string> kPath = {"PATH=/usr/bin:/bin"};

// A program that prints `text` when it is asked to list devices.
std::string lister(const std::filesystem::path& folder, const std::string& text) {
  const std::filesystem::path path = folder / "lister";
  std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = -L ] || exit 1\n" << text;
  ::chmod(path.c_str(), 0700);
  return path.string();
}

TEST_CASE("machine: there are cores and memory") {
  CHECK(usable_cores() > 0);
  CHECK(usable_cores() < 100'000);
  CHECK(usable_memory() > 1e7);
  CHECK(usable_memory() < 1e16);
}

TEST_CASE("machine: the limit of open files is raised, and the former one is told") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 200;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(raise_file_limit() == 200);
  rlimit now{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
  CHECK(now.rlim_cur == now.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("machine: GPUs are counted as nvidia-smi lists them") {
  char name[] = "/tmp/attune-test-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name);
  const auto find = [&](const std::string& text) { return find_gpus(kPath, lister(folder, text)); };
  CHECK(find("cat << END\nGPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-2)\n"
             "GPU 1: NVIDIA A100 (UUID: GPU-3)\nEND\n") == Devices{"0", "1"});
  CHECK(find("echo No devices found") == Devices{});
  CHECK(find("exit 9") == Devices{});
  CHECK(find_gpus(kPath, "no-such-program") == Devices{});
  std::filesystem::remove_all(folder);
}

TEST_CASE("machine: CUDA_VISIBLE_DEVICES restricts what we may assign") {
  const TemporaryFolder folder;
  const std::string program =
      lister(folder.path, "echo 'GPU 0: A (UUID: GPU-1)'; echo 'GPU 1: A (UUID: GPU-2)'");
  const auto find = [&program](const std::string& value) {
    // It has others, which are not ours.
    return find_gpus({"PATH=/usr/bin:/bin", "CUDA_VISIBLE_DEVICES=" + value}, program);
  };
  CHECK(find("2,0") == Devices{"2", "0"});
  CHECK(find("") == Devices{});
  CHECK(find("1,-1,2") == Devices{"1"});
  CHECK(find("-1,0") == Devices{});
  CHECK(find("0, 1") == Devices{"0", "1"});
  CHECK(find(" 3 ,\t2 ") == Devices{"3", "2"});
  CHECK(find("0,,1") == Devices{"0"});
  CHECK(find("0,1x,2") == Devices{"0"});
  CHECK(find("0,0,1") == Devices{"0", "1"});
  CHECK(find("NoDevFiles") == Devices{});  // what Slurm says where there are none
  CHECK(find("all") == Devices{});
  CHECK(find("GPU-5a1c, GPU-77fe") == Devices{"GPU-5a1c", "GPU-77fe"});
  CHECK(find("GPU-5a1c,1") == Devices{"GPU-5a1c"});
  CHECK(find("1,GPU-5a1c") == Devices{"1"});
  CHECK(find("MIG-GPU-5a1c/1/0,MIG-77fe") == Devices{"MIG-GPU-5a1c/1/0", "MIG-77fe"});
  CHECK(find("GPU-5a1c gpus=7") == Devices{});
}

}  // namespace attune::machine_test
