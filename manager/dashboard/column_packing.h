#pragma once
// Collects columns of numbers behind a header that says where each is (docs/api.md, "Columns").
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

class ColumnPacking {
 public:
  // Adds the given rows of a column. `type`: "u8", "u16", "u32", "f32" or "f64", as T. Returns what
  // the header says of it.
  template <class T>
  json add(const std::string& name, const char* type, const std::vector<T>& column,
           std::span<const std::size_t> rows) {
    const std::size_t begin = body_.size();
    body_.resize(begin + rows.size() * sizeof(T));
    char* out = body_.data() + begin;
    for (const std::size_t row : rows) {
      std::memcpy(out, &column[row], sizeof(T));
      out += sizeof(T);
    }
    body_.resize((body_.size() + kPad - 1) / kPad * kPad);
    return {{"name", name}, {"type", type}, {"offset", begin}};
  }

  // The length of the header, the header, and the columns.
  std::string text(const json& header) const {
    std::string head = dump_json(header);
    head.append((kPad - (head.size() + 4) % kPad) % kPad, ' ');
    const auto size = static_cast<std::uint32_t>(head.size());
    std::string whole(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) whole[i] = static_cast<char>(size >> (8 * i) & 0xff);
    return whole + head + body_;
  }

 private:
  static constexpr std::size_t kPad = 8;  // columns begin at multiples of it, as typed arrays need

  std::string body_;
};

}  // namespace attune
