#include "bench/multifidelity/table.h"

#include <algorithm>
#include <cmath>

namespace attune {

Table::Table(const json& curves) {
  const json& rows = curves.at("curves");
  for (const auto& [name, value] : rows.at(0).at("parameters").items()) {
    Column& column = columns_.emplace_back();
    column.name = name;
    column.numeric = value.is_number();
  }
  for (const json& row : rows) {
    values_.push_back(row.at("metric").get<std::vector<double>>());
    seconds_.push_back(row.value("epoch_seconds", 1.0));
    for (Column& column : columns_) {
      const json& value = row["parameters"][column.name];
      if (column.numeric) {
        column.numbers.push_back(value);
      } else {
        column.words.push_back(value.dump());
      }
    }
  }
  for (Column& column : columns_) {
    if (!column.numeric) continue;
    auto [low, high] = std::ranges::minmax(column.numbers);
    column.logarithmic = low > 0 && high / low >= 100;
    if (column.logarithmic) {
      for (double& number : column.numbers) number = std::log(number);
      low = std::log(low);
      high = std::log(high);
    }
    column.range = std::max(high - low, 1e-300);
  }
}

std::size_t Table::row_of(const json& parameters) {
  const auto [known, is_new] = known_.try_emplace(parameters.dump(), 0);
  if (!is_new) return known->second;
  std::vector<double> distances(values_.size());
  for (const Column& column : columns_) {
    const json& value = parameters.at(column.name);
    const std::string word = value.dump();
    double number = column.numeric ? value.get<double>() : 0;
    if (column.logarithmic) number = std::log(number);
    for (std::size_t i = 0; i < distances.size(); ++i) {
      distances[i] += column.numeric ? std::abs(column.numbers[i] - number) / column.range
                                     : double(column.words[i] != word);
    }
  }
  known->second = static_cast<std::size_t>(std::ranges::min_element(distances) - distances.begin());
  return known->second;
}

}  // namespace attune
