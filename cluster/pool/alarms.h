#pragma once
// Alarm times, at most one for each key. Setting a key again replaces its time, so the memory
// depends on the number of keys only.
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace attune {

class Alarms {
 public:
  void set(const std::string& key, double at) {
    clear(key);
    order_.emplace(at, key);
    times_[key] = at;
  }
  void clear(const std::string& key) {
    const auto found = times_.find(key);
    if (found == times_.end()) return;
    order_.erase({found->second, key});
    times_.erase(found);
  }
  std::optional<double> at(const std::string& key) const {
    const auto found = times_.find(key);
    return found == times_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t size() const { return times_.size(); }
  std::optional<double> next() const {
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }
  // If the earliest alarm is due (its time is `now` or earlier), clears it and returns its key.
  std::optional<std::string> take(double now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    std::string key = order_.begin()->second;
    clear(key);
    return key;
  }

 private:
  std::set<std::pair<double, std::string>> order_;
  std::unordered_map<std::string, double> times_;
};

}  // namespace attune
