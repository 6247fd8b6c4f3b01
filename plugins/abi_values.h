#pragma once
// Our values as attune_plugin.h has them. What is built points into itself and into what it was
// built from, so it is neither copied nor moved.
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "plugins/attune_plugin.h"
#include "plugins/plugin.h"
#include "space/space.h"

namespace attune {

// Calls a function of a plug-in, which returns a text or null. An exception is an error, too.
template <class Function, class... Args>
Result<void> call_plugin(Function function, Args... args) {
  try {
    if (const char* text = function(args...)) return fail(std::string(text).substr(0, 2'000));
    return {};
  } catch (const std::exception& error) {
    return fail(std::string("an exception: ") + error.what());
  } catch (...) {
    return fail("an exception of an unknown type");
  }
}

class AbiSpace {
 public:
  explicit AbiSpace(const Space& space);
  AbiSpace(const AbiSpace&) = delete;
  AbiSpace& operator=(const AbiSpace&) = delete;
  const attune_space* get() const { return &space_; }

 private:
  std::vector<std::string> candidates_;
  std::vector<attune_parameter> parameters_;
  attune_space space_{};
};

class AbiSetup {
 public:
  explicit AbiSetup(const PluginSetup& setup);
  AbiSetup(const AbiSetup&) = delete;
  AbiSetup& operator=(const AbiSetup&) = delete;
  const attune_setup* get() const { return &setup_; }

 private:
  std::vector<attune_argument> arguments_;
  std::vector<attune_objective> objectives_;
  attune_setup setup_{};
};

// Reports, or what has metrics like them. The vectors are kept from call to call.
class AbiMetrics {
 public:
  void clear() { metrics_.clear(); }
  std::size_t add(const Metrics& metrics);  // where they begin
  const attune_metric* at(std::size_t index) const { return metrics_.data() + index; }

 private:
  std::vector<attune_metric> metrics_;
};

std::string text_of(const char* text);  // null: empty. Longer than any that is allowed: cut off
Result<Decision> decision_of(const attune_decision& decision);

}  // namespace attune
