#pragma once
// Numbers the names of metrics in a saved state, in the order of their first use, so that the state
// has each name once.
#include <string>
#include <unordered_map>
#include <vector>

namespace attune {

class NameTable {
 public:
  // A double, because save_numbers() takes doubles.
  double number_of(const std::string& name) {
    const auto [at, added] = numbers_.try_emplace(name, static_cast<double>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, double> numbers_;
};

}  // namespace attune
