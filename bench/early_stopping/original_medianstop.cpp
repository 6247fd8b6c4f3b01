#include <algorithm>
#include <map>
#include <vector>

#include "bench/early_stopping/original.h"

namespace attune {
namespace {

class Medianstop final : public OriginalAssessor {
 public:
  explicit Medianstop(bool maximize) : maximize_(maximize) {}

  bool keeps(int trial, std::span<const double> history) override {
    running_[trial].assign(history.begin(), history.end());
    std::vector<double> averages;
    for (const auto& one : completed_) {
      if (one.size() >= history.size()) averages.push_back(one[history.size() - 1]);
    }
    if (averages.empty()) return true;
    std::ranges::sort(averages);
    const std::size_t n = averages.size();
    return maximize_ ? std::ranges::max(history) >= averages[(n - 1) / 2]
                     : std::ranges::min(history) <= averages[n / 2];
  }

  void trial_end(int trial, bool completed) override {
    if (completed) {
      std::vector<double> averages;
      double sum = 0;
      for (const double value : running_[trial]) {
        sum += value;
        averages.push_back(sum / static_cast<double>(averages.size() + 1));
      }
      completed_.push_back(std::move(averages));
    }
    running_.erase(trial);
  }

 private:
  bool maximize_;
  std::map<int, std::vector<double>> running_;
  std::vector<std::vector<double>> completed_;  // running averages
};

}  // namespace

std::unique_ptr<OriginalAssessor> original_medianstop(bool maximize) {
  return std::make_unique<Medianstop>(maximize);
}

}  // namespace attune
