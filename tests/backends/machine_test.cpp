#include "backends/machine.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace attune {
namespace {

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
             "GPU 1: NVIDIA A100 (UUID: GPU-3)\nEND\n") == std::vector{0, 1});
  CHECK(find("echo No devices found") == std::vector<int>{});
  CHECK(find("exit 9") == std::vector<int>{});
  CHECK(find_gpus(kPath, "no-such-program") == std::vector<int>{});
  std::filesystem::remove_all(folder);
}

TEST_CASE("machine: CUDA_VISIBLE_DEVICES restricts what we may assign") {
  const auto find = [](const std::string& value) {
    return find_gpus({"PATH=/bin", "CUDA_VISIBLE_DEVICES=" + value}, "no-such-program");
  };
  CHECK(find("2,0") == std::vector{2, 0});
  CHECK(find("") == std::vector<int>{});
  CHECK(find("1,-1,2") == std::vector{1});
  CHECK(find("GPU-5a1c") == std::vector<int>{});  // names are not numbers: the program is asked
}

}  // namespace
}  // namespace attune
