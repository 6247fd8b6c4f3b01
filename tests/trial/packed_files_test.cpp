#include "trial/packed_files.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "base/json.h"

namespace attune::packed_files_test {

std::string packed(const json& data) {
  std::string bytes;
  json::to_cbor({{"checkpoint_name", "checkpoint_1"}, {"data", data}}, bytes);
  return bytes;
}

json binary(std::size_t size) { return json::binary(std::vector<std::uint8_t>(size, 'x')); }

TEST_CASE("files of every length are found again") {
  for (const std::size_t size : {0, 1, 23, 24, 255, 256, 65'535, 65'536}) {
    INFO(size);
    const std::string name(size, 'n');
    const std::string bytes = packed({{name, binary(size)}, {"last", binary(1)}});
    const PackedFiles files = read_packed(bytes).value();
    REQUIRE(files.size() == 2);
    CHECK(files[0].first == name);
    CHECK(files[0].second == std::string(size, 'x'));
    CHECK(files[1].second == "x");
  }
  CHECK(read_packed(packed(json::object())).value().empty());
}

TEST_CASE("bytes that were cut off, or changed, are an error or other files, and nothing else") {
  json data = json::object();
  for (std::size_t i = 0; i < 30; ++i) data["file" + std::to_string(i)] = binary(i * 11);
  const std::string bytes = packed(data);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(read_packed(bytes.substr(0, size)));
  }
  CHECK_FALSE(read_packed(bytes + "x"));
  std::mt19937 random(1);
  bool inside = true;
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = bytes;
    for (unsigned i = random() % 4; i < 4; ++i) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    const auto files = read_packed(changed);
    if (!files) continue;
    for (const auto& [path, content] : *files) {
      inside = inside && path.data() >= changed.data() &&
               content.data() + content.size() <= changed.data() + changed.size();
    }
  }
  CHECK(inside);
}

}  // namespace attune::packed_files_test
