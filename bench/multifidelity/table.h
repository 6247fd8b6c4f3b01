#pragma once
// A recorded problem: configurations with their learning curves, in the form that `attune simulate
// --curves` reads (docs/simulate.md).
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

class Table {
 public:
  // `curves`: {"curves": [{"parameters": {...}, "metric": [...], "epoch_seconds": x}, ...]}.
  explicit Table(const json& curves);

  // The row nearest to a configuration, by the rule of docs/simulate.md.
  std::size_t row_of(const json& parameters);

  std::size_t size() const { return values_.size(); }  // rows
  std::size_t epochs() const { return values_.front().size(); }
  double value(std::size_t row, std::size_t epoch) const { return values_[row][epoch - 1]; }
  double last(std::size_t row) const { return values_[row].back(); }
  double seconds(std::size_t row) const { return seconds_[row]; }

 private:
  struct Column {
    std::string name;
    bool numeric = true, logarithmic = false;
    double range = 1;
    std::vector<double> numbers;
    std::vector<std::string> words;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<double>> values_;
  std::vector<double> seconds_;
  std::map<std::string, std::size_t> known_;
};

}  // namespace attune
