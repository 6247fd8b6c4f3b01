#include "examples/digits/dataset.h"

#include <charconv>
#include <fstream>
#include <numeric>
#include <string_view>
#include <system_error>

#include "examples/digits/random.h"
#include "examples/digits/text.h"

namespace digits {
namespace {

constexpr float kMaxInk = 16.0F;

// 64 integers 0..16 and the digit, with commas. False if the line is anything else.
bool parse_line(std::string_view line, Image& image, std::uint8_t& label) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::size_t column = 0; column <= kPixels; ++column) {
    if (column > 0) {
      if (at == end || *at != ',') return false;
      ++at;
    }
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    const int limit = column < kPixels ? 16 : 9;
    if (error != std::errc{} || value < 0 || value > limit) return false;
    at = next;
    if (column < kPixels) {
      image[column] = static_cast<float>(value) / kMaxInk;
    } else {
      label = static_cast<std::uint8_t>(value);
    }
  }
  return at == end;
}

std::expected<Dataset, std::string> load(const std::string& csv_path) {
  std::ifstream file(csv_path);
  if (!file) return std::unexpected(concat("cannot read the data file '", csv_path, "'"));
  Dataset all;
  std::string line;
  while (std::getline(file, line)) {
    Image image{};
    std::uint8_t label = 0;
    if (!parse_line(line, image, label)) {
      return std::unexpected(concat(csv_path, ":", all.labels.size() + 1,
                                    ": expected 64 integers 0..16 and a digit, with commas"));
    }
    all.images.push_back(image);
    all.labels.push_back(label);
  }
  return all;
}

}  // namespace

std::expected<Split, std::string> load_split(const std::string& csv_path) {
  auto all = load(csv_path);
  if (!all) return std::unexpected(all.error());
  const std::size_t count = all->labels.size();
  if (count <= kValidationSize + kTestSize) {
    return std::unexpected(concat(csv_path, ": only ", count, " images, need more than ",
                                  kValidationSize + kTestSize));
  }
  // The file is sorted by writer: without shuffling, the three parts would hold different hands.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(20240229);
  shuffle(order, random);

  Split split;
  for (std::size_t i = 0; i < count; ++i) {
    Dataset& part = i < kValidationSize               ? split.validation
                    : i < kValidationSize + kTestSize ? split.test
                                                      : split.train;
    part.images.push_back(all->images[order[i]]);
    part.labels.push_back(all->labels[order[i]]);
  }
  return split;
}

}  // namespace digits
