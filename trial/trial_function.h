#pragma once
// The shapes of a function that can be tuned, checked at compile time where it is wrapped. After
// Ray Tune's function API.
//
//   f(config)
//   f(config, reporter)
//   f(config, checkpoint_dir)
//   f(config, reporter, checkpoint_dir)
//
// config: const json&, an object. A parameter of type number or text is refused, although json
// would convert to it. reporter: StatusReporter&. checkpoint_dir: CheckpointDir, the folder to
// continue from, or nothing; only a function that takes it can continue from a checkpoint. The
// function returns nothing, a number (not bool), or json: a number or an object of named values.
// What it returns is its final result.
#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "trial/status_reporter.h"

namespace attune {

using CheckpointDir = std::optional<std::filesystem::path>;

namespace detail {

template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string>;

// Used at compile time only. json converts to whatever type is asked for, and throws if its value
// does not fit. A configuration is an object, which fits no scalar: this type refuses such
// functions at compile time.
struct Config : json {
  template <Scalar T>
  operator T() const = delete;
};

template <class F, class... Others>
concept TakesConfigAnd =
    std::invocable<F&, const json&, Others...> && std::invocable<F&, const Config&, Others...>;
template <class F>
concept TakesReporterAndCheckpoint = TakesConfigAnd<F, StatusReporter&, const CheckpointDir&>;
template <class F>
concept TakesReporter = TakesConfigAnd<F, StatusReporter&>;
template <class F>
concept TakesCheckpoint = TakesConfigAnd<F, const CheckpointDir&>;
template <class F>
concept TakesConfig = TakesConfigAnd<F>;

// No bool: it cannot say how good a trial is.
template <class T>
concept TrialResult =
    std::is_void_v<T> || std::same_as<std::remove_cvref_t<T>, json> ||
    (std::is_arithmetic_v<std::remove_cvref_t<T>> && !std::same_as<std::remove_cvref_t<T>, bool>);

}  // namespace detail

template <class F>
concept TrialCallable = detail::TakesConfig<F> || detail::TakesReporter<F> ||
                        detail::TakesCheckpoint<F> || detail::TakesReporterAndCheckpoint<F>;

// Any such function. Copies share it: it is called from as many threads as its hosts use.
class TrialFunction {
 public:
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, TrialFunction>)
  TrialFunction(F&& function) {  // NOLINT(google-explicit-constructor): a lambda is one
    static_assert(TrialCallable<std::decay_t<F>>,
                  "a function to tune takes (const json& config), and behind it, if it wants to, "
                  "attune::StatusReporter& and attune::CheckpointDir, in this order");
    if constexpr (TrialCallable<std::decay_t<F>>) wrap(std::forward<F>(function));
  }

  // What the function returned; nothing when it returns nothing. Exceptions of the function pass.
  std::optional<json> operator()(const json& config, StatusReporter& reporter,
                                 const CheckpointDir& checkpoint) const {
    return call_(config, reporter, checkpoint);
  }
  bool can_checkpoint() const { return can_checkpoint_; }

 private:
  template <class F>
  void wrap(F&& function) {
    using Function = std::decay_t<F>;
    can_checkpoint_ =
        detail::TakesCheckpoint<Function> || detail::TakesReporterAndCheckpoint<Function>;
    call_ = [shared = std::make_shared<Function>(std::forward<F>(function))](
                const json& config, StatusReporter& reporter,
                const CheckpointDir& checkpoint) -> std::optional<json> {
      // A generic lambda fits several: the longest wins, then the one with the reporter.
      if constexpr (detail::TakesReporterAndCheckpoint<Function>) {
        return result_of(*shared, config, reporter, checkpoint);
      } else if constexpr (detail::TakesReporter<Function>) {
        return result_of(*shared, config, reporter);
      } else if constexpr (detail::TakesCheckpoint<Function>) {
        return result_of(*shared, config, checkpoint);
      } else {
        return result_of(*shared, config);
      }
    };
  }

  template <class Function, class... Arguments>
  static std::optional<json> result_of(Function& function, Arguments&... arguments) {
    using Returned = std::invoke_result_t<Function&, Arguments&...>;
    static_assert(detail::TrialResult<Returned>,
                  "a function to tune returns nothing, a number (bool is none), or attune::json");
    if constexpr (std::is_void_v<Returned>) {
      std::invoke(function, arguments...);
      return std::nullopt;
    } else if constexpr (detail::TrialResult<Returned>) {
      return json(std::invoke(function, arguments...));
    }
  }

  std::function<std::optional<json>(const json&, StatusReporter&, const CheckpointDir&)> call_;
  bool can_checkpoint_ = false;
};

}  // namespace attune
