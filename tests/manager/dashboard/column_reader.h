#pragma once
// Reads what TrialColumns sends, as the page does.
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"

namespace attune::test {

struct Columns {
  json header;
  std::map<std::string, std::vector<double>> columns;
  std::map<std::string, std::vector<double>> runs;  // of trials that were interrupted
};

template <class T>
std::vector<double> numbers_at(const char* data, std::size_t rows) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < rows; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    numbers.push_back(static_cast<double>(value));
  }
  return numbers;
}

inline Columns read_columns(const std::string& bytes) {
  Columns read;
  const auto size = static_cast<std::size_t>(numbers_at<std::uint32_t>(bytes.data(), 1).front());
  ATTUNE_CHECK((4 + size) % 8 == 0);
  read.header = parse_json(bytes.substr(4, size)).value();
  const auto read_part = [&](const json& part) {
    std::map<std::string, std::vector<double>> columns;
    const auto rows = part["rows"].get<std::size_t>();
    for (const json& column : part["columns"]) {
      const auto offset = column["offset"].get<std::size_t>();
      ATTUNE_CHECK(offset % 8 == 0 && 4 + size + offset <= bytes.size());
      const char* data = bytes.data() + 4 + size + offset;
      const std::string type = column["type"];
      columns[column["name"]] = type == "u8"    ? numbers_at<std::uint8_t>(data, rows)
                                : type == "u16" ? numbers_at<std::uint16_t>(data, rows)
                                : type == "u32" ? numbers_at<std::uint32_t>(data, rows)
                                : type == "f32" ? numbers_at<float>(data, rows)
                                                : numbers_at<double>(data, rows);
    }
    return columns;
  };
  read.columns = read_part(read.header);
  read.runs = read_part(read.header["runs"]);
  return read;
}

}  // namespace attune::test
