// A plug-in of attuned with one tuner, in one file. It saves its state, so that a daemon that was
// killed continues where it was.
#include <algorithm>
#include <attune/plugins/attune_plugin.hpp>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace attune::plugin;

// The (1+1) evolution strategy with the one-fifth rule (Rechenberg 1973): each proposal is the best
// point with a random step. A step that was a success makes the next ones longer, a failure makes
// them shorter, so that about one in five succeeds.
class OnePlusOne : public Tuner {
 public:
  explicit OnePlusOne(const Setup& setup);

  void set_space(const Space& space) override;
  Answer ask(std::int64_t trial) override;
  void tell(const Outcome& outcome) override;
  void adopt(std::int64_t, const Point&) override {}
  void skip_ahead() override { random_.discard(1000); }
  std::string save() override;
  void load(const std::string& state) override;

 private:
  double uniform();  // in [0, 1)
  double normal();
  double draw(const Parameter& parameter);
  double step(const Parameter& parameter, double from);

  const double first_sigma_;
  Space space_;
  std::mt19937_64 random_;
  double sigma_;  // of a step, as a share of a parameter's range
  std::optional<double> best_loss_;
  Point best_;
};

constexpr double kLonger = 1.5;
// Four failures and one success leave the step as it is.
const double kShorter = std::pow(kLonger, -0.25);

double rounded(const Parameter& parameter, double x) {
  if (parameter.step > 0) x = std::nearbyint(x / parameter.step) * parameter.step;
  return parameter.type == ATTUNE_REAL ? std::clamp(x, parameter.low, parameter.high) : x;
}

OnePlusOne::OnePlusOne(const Setup& setup)
    : first_sigma_(setup.number("sigma")), random_(setup.seed()), sigma_(first_sigma_) {}

void OnePlusOne::set_space(const Space& space) {
  space_ = space;
  sigma_ = first_sigma_;
  best_loss_.reset();
  best_.clear();
}

double OnePlusOne::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

// Box and Muller's method without its second number, so that random_ is the whole state.
double OnePlusOne::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform());
}

// A value from the whole domain.
double OnePlusOne::draw(const Parameter& p) {
  switch (p.type) {
    case ATTUNE_CHOICE:
      return std::floor(uniform() * static_cast<double>(p.count));
    case ATTUNE_SUBSET: {
      std::vector<int> all(p.count);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
      double mask = 0;
      for (std::uint64_t left = p.chosen; left > 0; --left) {
        const auto at = static_cast<std::ptrdiff_t>(uniform() * static_cast<double>(all.size()));
        mask += std::ldexp(1, all[static_cast<std::size_t>(at)]);
        all.erase(all.begin() + at);
      }
      return mask;
    }
    case ATTUNE_INTEGER:
      return p.low + std::floor(uniform() * (p.high - p.low));
    case ATTUNE_REAL:
      if (!p.log) return rounded(p, p.low + uniform() * (p.high - p.low));
      return rounded(p, std::clamp(std::exp(std::log(p.low) + uniform() * std::log(p.high / p.low)),
                                   p.low, p.high));
    case ATTUNE_NORMAL:
      break;
  }
  const double x = p.mean + p.deviation * normal();
  return rounded(p, p.log ? std::exp(x) : x);
}

double OnePlusOne::step(const Parameter& p, double from) {
  const double move = sigma_ * normal();
  switch (p.type) {
    case ATTUNE_CHOICE:
    case ATTUNE_SUBSET:  // there is no small step
      return uniform() < std::min(0.5, sigma_) ? draw(p) : from;
    case ATTUNE_INTEGER:
      return std::clamp(std::nearbyint(from + move * (p.high - p.low)), p.low, p.high - 1);
    case ATTUNE_REAL:
      if (!p.log) return rounded(p, std::clamp(from + move * (p.high - p.low), p.low, p.high));
      return rounded(p,
                     std::clamp(from * std::exp(move * std::log(p.high / p.low)), p.low, p.high));
    case ATTUNE_NORMAL:
      break;
  }
  return rounded(p, p.log ? from * std::exp(move * p.deviation) : from + move * p.deviation);
}

Answer OnePlusOne::ask(std::int64_t) {
  Point point(space_.size(), kInactive);
  for (std::size_t i = 0; i < space_.size(); ++i) {
    if (!is_active(space_, point, i)) continue;
    const bool known = best_loss_ && !std::isnan(best_[i]);
    point[i] = known ? step(space_[i], best_[i]) : draw(space_[i]);
  }
  return Answer::proposal(std::move(point));
}

void OnePlusOne::tell(const Outcome& outcome) {
  if (!outcome.loss || !std::isfinite(*outcome.loss)) return;
  const bool success = !best_loss_ || *outcome.loss < *best_loss_;
  if (best_loss_) sigma_ = std::clamp(sigma_ * (success ? kLonger : kShorter), 1e-8, 1.0);
  if (!success) return;
  best_loss_ = outcome.loss;
  best_ = outcome.point;
}

// Whether there is a best one, its loss, sigma, the best point, the generator. A value that is not
// active is a word, because a stream cannot read a NaN.
std::string OnePlusOne::save() {
  std::ostringstream text;
  text << std::setprecision(17) << best_loss_.has_value() << ' ' << best_loss_.value_or(0) << ' '
       << sigma_;
  for (std::size_t i = 0; i < space_.size() && best_loss_; ++i) {
    text << ' ';
    std::isnan(best_[i]) ? text << "none" : text << best_[i];
  }
  text << ' ' << random_;
  return text.str();
}

void OnePlusOne::load(const std::string& state) {
  std::istringstream text(state);
  bool has_best = false;
  double loss = 0, sigma = 0;
  text >> has_best >> loss >> sigma;
  Point best(has_best ? space_.size() : 0, kInactive);
  for (double& value : best) {
    std::string word;
    text >> word;
    if (word != "none") value = std::stod(word);
  }
  std::mt19937_64 random;
  text >> random;
  if (!text || !(sigma > 0)) throw std::runtime_error("this is no state of OnePlusOne");
  best_loss_ = has_best ? std::optional<double>(loss) : std::nullopt;
  best_ = std::move(best);
  sigma_ = sigma;
  random_ = random;
}

}  // namespace

ATTUNE_PLUGIN(attune::plugin::tuner<OnePlusOne>("OnePlusOne",
                                                "(1+1) evolution strategy, one-fifth rule")
                  .argument("sigma", 0.2, "the first step, as a share of a parameter's range", 1e-6,
                            1)
                  .saves())
