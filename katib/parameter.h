#pragma once
// A parameter of a Katib experiment: as attune searches it, and as Katib writes its values. Katib's
// values are texts; attune's are the numbers and texts of a search space (docs/search-space.md).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "katib/api.pb.h"

namespace attune::katib {

class Parameter {
 public:
  // Errors begin with the name of the parameter, and say what is accepted.
  static Result<Parameter> make(const api::v1::beta1::ParameterSpec& spec);

  const std::string& name() const { return name_; }

  // {"_type":, "_value":}, for a search space:
  //   DOUBLE or INT with a step (of INT: always)  randint: the number of steps from min
  //   DOUBLE                                      uniform; loguniform for LOG_UNIFORM
  //   INT, or with a step, and LOG_UNIFORM        loguniform, rounded to the nearest step
  //   NORMAL, LOG_NORMAL      uniform: the probability, from -1 to 1, of what lies between the mean
  //                           and the value. So values stay within min and max, which are three
  //                           deviations away from the mean.
  //   DISCRETE, CATEGORICAL   choice; numbers in ascending order
  const json& domain() const { return domain_; }

  // The text of a value of the domain, and the value that belongs to a text: nothing, if it is
  // none of this parameter's.
  std::string text_of(const json& value) const;
  std::optional<json> value_of(const std::string& text) const;

 private:
  enum class Scale { linear, log, normal, log_normal };

  explicit Parameter(std::string name) : name_(std::move(name)) {}
  Result<void> read_list(const api::v1::beta1::FeasibleSpace& space, bool numbers);
  Result<void> read_range(const api::v1::beta1::FeasibleSpace& space, bool integer);
  void make_range_domain();
  double on_grid(double steps) const;    // the value so many steps above the lowest one
  double nearest_steps(double x) const;  // the number of steps of the nearest value
  double real_of(double inner) const;    // from the domain's scale
  double inner_of(double real) const;    // to the domain's scale
  std::string text_of_real(double x) const;

  std::string name_;
  json domain_ = {};
  // DISCRETE, CATEGORICAL: the candidates of the domain, and their texts.
  std::vector<std::string> texts_ = {};
  std::vector<json> candidates_ = {};
  // DOUBLE, INT
  bool integer_ = false;
  bool counts_steps_ = false;  // the domain is the number of steps
  Scale scale_ = Scale::linear;
  double low_ = 0, high_ = 0;
  double step_ = 0;  // 0: any real number
};

// A finite number: the whole text, without blanks.
std::optional<double> number_of(std::string_view text);

}  // namespace attune::katib
