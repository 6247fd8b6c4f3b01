#include "tuners/parts/surrogate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/saved_numbers.h"
#include "math/gp/powers.h"

namespace attune {
namespace {

// Rows that the parameters are fitted to, at most: each step of a fit costs their cube.
constexpr std::size_t kMostFitted = 200;
// Most evaluations of a fit. Most fits start where the last one ended; every fourth also starts
// elsewhere (GaussianProcess::refit), and gets more.
constexpr int kEvaluations = 12;
constexpr int kMoreEvaluations = 25;
// With fewer evaluations a start elsewhere gets nowhere.
constexpr int kFewEvaluations = 5;
// 95 % of a normal distribution lie within so many deviations of the mean.
constexpr double kInterval = 1.96;
constexpr std::size_t kRestartEvery = 4;
// Earlier experiments must increase the logarithm of the posterior density by this: by a factor of
// 7. With a factor of 1 foreign ones cost more, and related ones help no more (docs/tuners.md).
constexpr double kEarlierEvidence = 2;
// A space of more dimensions is large: there the evaluations of a fit are limited by their
// multiplications, no dimension is warped, and no parameters are fitted to choose a power.
constexpr std::size_t kLarge = 100;
constexpr double kWork = 3e7;

// Compares bits, because NaN (an inactive dimension) must equal NaN.
bool same_bits(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(
      a, b, {}, [](double x) { return std::bit_cast<std::uint64_t>(x); },
      [](double x) { return std::bit_cast<std::uint64_t>(x); });
}

std::vector<std::size_t> indices(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Surrogate::Surrogate(const Features& features, Scale scale, const SurrogateSettings& settings,
                     std::size_t output)
    : scale_(scale),
      settings_(settings),
      output_(output),
      categories_(features.categories()),
      model_(categories_, settings.least_noise) {}

void Surrogate::update(const History& history) {
  if (history.size() == seen_ && fits_ > 0) return;
  model_.resize(members_.size());
  pretended_.clear();
  pretended_means_.clear();
  // A fit costs far more than an appended row, so it waits for a twentieth of new results, and at
  // least for one. The upper limit bounds the rows that are appended between two fits.
  const std::size_t step = std::clamp<std::size_t>(fitted_at_ / 20, 1, kMostRows / 10);
  if (fits_ == 0 || history.size() >= fitted_at_ + step) {
    members_ = without_accidents(history, modelled(history, kMostRows));
    // The first fit has no parameters yet to start from.
    if (fits_ > 0 && fits_ % kRestartEvery == 0) choose_power(history);
    take_targets(history);
    fit(history);
  } else {
    for (std::size_t i = seen_; i < history.size(); ++i) {
      model_.append(history.row(i));
      members_.push_back(i);
      if (!earlier_.is_zero()) offsets_.push_back(offset(history.row(i)));
    }
    take_targets(history);
    model_.set_targets(rest());
  }
  seen_ = history.size();
}

void Surrogate::take_targets(const History& history) {
  // A loss that is not positive has no logarithm.
  const auto positive = [&](std::size_t i) {
    return history.kind(i) != History::Kind::usable || history.values(i)[output_] > 0;
  };
  if (power_ != 1 && !std::ranges::all_of(members_, positive)) power_ = 1;
  targets_ = attune::targets(history, members_, {scale_, power_}, output_);
  border_ = 0;
  if (scale_ == Scale::limit && std::ranges::min(targets_) > 0) centre_targets();
  // Failed and stopped members never have a target below all usable ones, so this is a usable one.
  best_ = *std::ranges::min_element(targets_);
}

// For a limit that all results break. The process expects 0 where it knows nothing: if that were
// the border, the limit would look half kept wherever no result is near.
void Surrogate::centre_targets() {
  const auto n = static_cast<double>(targets_.size());
  double mean = 0, squares = 0;
  for (const double target : targets_) mean += target / n;
  for (const double target : targets_) squares += (target - mean) * (target - mean) / n;
  const double deviation = squares > 0 ? std::sqrt(squares) : 1;
  for (double& target : targets_) target = (target - mean) / deviation;
  border_ = -mean / deviation;
}

// Only for losses as they are: `straightened` bends them already, which keeps the two models of GP
// different. With several objectives a power of one would change what an exchange for another is
// worth: the ends of a front, where one is nearly 0, would seem to be worth the most.
void Surrogate::choose_power(const History& history) {
  if (scale_ != Scale::standardised || history.objectives() > 1) return;
  std::vector<std::size_t> usable = members_;
  std::erase_if(usable, [&](std::size_t i) { return history.kind(i) != History::Kind::usable; });
  const auto loss = [&](std::size_t i) { return history.values(i)[output_]; };
  std::ranges::stable_sort(usable, {}, loss);
  usable = thinned(std::move(usable), kMostFitted);
  std::vector<double> losses;
  for (const std::size_t i : usable) losses.push_back(loss(i));
  power_ = likeliest_power(model_, history.gather(usable), losses, is_large() ? 0 : kEvaluations);
}

bool Surrogate::is_large() const { return categories_.size() > kLarge; }

// Evaluations of a fit of n rows: at most `most`, fewer in many dimensions.
int Surrogate::affordable(int most, std::size_t n) const {
  if (!is_large()) return most;
  const auto work = static_cast<double>(n * n * categories_.size());
  return static_cast<int>(std::clamp(kWork / work, 2.0, static_cast<double>(most)));
}

void Surrogate::fit(const History& history) {
  std::vector<std::size_t> ranked = indices(members_.size());
  std::ranges::stable_sort(ranked, {}, [&](std::size_t i) { return targets_[i]; });
  const std::vector<std::size_t> chosen = thinned(std::move(ranked), kMostFitted);
  std::vector<std::size_t> members;
  std::vector<double> targets;
  for (const std::size_t i : chosen) {
    members.push_back(members_[i]);
    targets.push_back(targets_[i]);
  }
  const std::vector<double> rows = history.gather(members);
  GaussianProcess part(categories_, settings_.least_noise);
  part.assign(rows, model_.parameters());
  if (earlier_.has_models()) {
    choose_earlier(part, rows, targets);
  } else {
    climb(part, targets);
  }
  offsets_ = offsets(history.gather(members_));
  if (members.size() == members_.size()) {
    model_ = std::move(part);
  } else {
    model_.assign(history.gather(members_), part.parameters());
    model_.set_targets(rest());
  }
  ++fits_;
  fitted_at_ = history.size();
}

// Fits the parameters of a process with these rows. Most fits continue from the last parameters,
// which are nearly right. A local maximum is left only by the fits that start elsewhere, too.
void Surrogate::climb(GaussianProcess& part, std::span<const double> targets) const {
  part.set_targets(targets);
  const int more = affordable(kMoreEvaluations, part.size());
  if (fits_ % kRestartEvery == 0 && more >= kFewEvaluations) {
    part.refit(more, is_large() ? GaussianProcess::Warping::none : settings_.warping);
  } else {
    part.fit(affordable(kEvaluations, part.size()));
  }
}

// Fits the process with and without what earlier experiments expect, and keeps what explains the
// results better: the safeguard against experiments that do not help.
void Surrogate::choose_earlier(GaussianProcess& part, std::span<const double> rows,
                               std::span<const double> targets) {
  GaussianProcess alone = part;
  climb(alone, targets);
  earlier_.learn(rows, targets);
  std::vector<double> rest(targets.begin(), targets.end());
  const std::vector<double> expected = offsets(rows);
  for (std::size_t i = 0; i < expected.size(); ++i) rest[i] -= expected[i];
  climb(part, rest);
  const auto evidence = [](const GaussianProcess& process) {
    std::vector<double> unused(pack(process.parameters()).size());
    return process.log_posterior(process.parameters(), unused);
  };
  if (evidence(part) >= evidence(alone) + kEarlierEvidence) return;
  part = std::move(alone);
  earlier_.clear();
}

// The targets of the process.
std::vector<double> Surrogate::rest() const {
  std::vector<double> rest = targets_;
  for (std::size_t i = 0; i < offsets_.size(); ++i) rest[i] -= offsets_[i];
  return rest;
}

double Surrogate::offset(std::span<const double> row) const {
  return earlier_.is_zero() ? 0 : earlier_.values(row)[0];
}

// Row by row, as update() appends: many rows at once would have other bits.
std::vector<double> Surrogate::offsets(std::span<const double> rows) const {
  std::vector<double> all;
  const std::size_t d = categories_.size();
  for (std::size_t i = 0; i < rows.size() && !earlier_.is_zero(); i += d) {
    all.push_back(offset(rows.subspan(i, d)));
  }
  return all;
}

std::vector<double> Surrogate::fitted_means() const {
  std::vector<double> means = model_.fitted_means();
  for (std::size_t i = 0; i < offsets_.size(); ++i) means[i] += offsets_[i];
  return means;
}

std::vector<Prediction> Surrogate::predict_many(std::span<const double> rows) const {
  std::vector<Prediction> all = model_.predict_many(rows);
  if (earlier_.is_zero()) return all;
  const std::vector<double> expected = earlier_.values(rows);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].mean += expected[i];
  return all;
}

Prediction Surrogate::predict(std::span<const double> row, std::span<double> mean_gradient,
                              std::span<double> deviation_gradient) const {
  Prediction prediction = model_.predict(row, mean_gradient, deviation_gradient);
  prediction.mean += earlier_.value(row, mean_gradient);
  return prediction;
}

void Surrogate::pretend(std::span<const std::span<const double>> running) {
  // If the list only grew, the rows that are there stay: asking for many trials at once would
  // otherwise append each of them again for each proposal.
  const bool more = running.size() >= pretended_.size() &&
                    std::equal(pretended_.begin(), pretended_.end(), running.begin(), same_bits);
  if (!more) {
    model_.resize(members_.size());
    pretended_.clear();
    pretended_means_.clear();
    best_ = *std::ranges::min_element(targets_);
  }
  for (const std::span<const double> row : running.subspan(pretended_.size())) {
    pretended_means_.push_back(model_.predict(row).mean + offset(row));
    best_ = std::min(best_, pretended_means_.back());
    model_.append(row);
    pretended_.emplace_back(row.begin(), row.end());
  }
}

std::vector<std::size_t> Surrogate::most_promising(std::size_t count) const {
  const std::vector<double> means = fitted_means();
  std::vector<std::size_t> ranked = indices(means.size());
  const std::size_t n = std::min(count, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(n),
                            [&](std::size_t a, std::size_t b) {
                              return means[a] != means[b] ? means[a] < means[b] : a < b;
                            });
  ranked.resize(n);
  for (std::size_t& i : ranked) i = members_[i];
  return ranked;
}

double Surrogate::expected_fall(std::span<const double> row) const {
  const auto [mean, deviation] = model_.predict(row);
  // In the copy the row is pretended first, so only its target changes between the two cases.
  GaussianProcess further = model_;
  further.append(row);
  std::vector<double> told = targets_;
  told.insert(told.end(), pretended_means_.begin(), pretended_means_.end());
  told.push_back(mean);
  const auto lowest = [&](double result) {
    told.back() = result;
    further.set_targets(told);
    return std::ranges::min(further.fitted_means());
  };
  double now = std::ranges::min(model_.fitted_means());
  for (const double expected : pretended_means_) now = std::min(now, expected);
  return now - 0.5 * (lowest(mean - kInterval * deviation) + lowest(mean + kInterval * deviation));
}

std::optional<std::size_t> Surrogate::most_surprising(const History& history) const {
  const std::vector<double> means = fitted_means();
  std::optional<std::size_t> found;
  double most = kInterval * std::exp(0.5 * model_.parameters().log_noise);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double difference = std::abs(targets_[i] - means[i]);
    if (history.kind(members_[i]) != History::Kind::usable || difference <= most) continue;
    most = difference;
    found = members_[i];
  }
  return found;
}

json Surrogate::save() const {
  json state = model_.save();
  state["members"] = save_numbers(std::vector<double>(members_.begin(), members_.end()));
  state["seen"] = seen_;
  state["fitted_at"] = fitted_at_;
  state["fits"] = fits_;
  state["power"] = power_;
  if (earlier_.has_models()) state["earlier"] = earlier_.save();
  return state;
}

Result<void> Surrogate::load(const json& state, const History& history) {
  const auto damaged = [] { return fail("saved state: a model that does not fit its results"); };
  const auto members = TRY(numbers_at(state, "members"));
  const auto size_at = [&](std::string_view key) -> Result<std::size_t> {
    const auto n = TRY(integer_at(state, key));
    if (n < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(n);
  };
  const std::size_t seen = TRY(size_at("seen"));
  const std::size_t fitted_at = TRY(size_at("fitted_at"));
  const std::size_t fits = TRY(size_at("fits"));
  // A former version had none.
  const double power = state.contains("power") ? TRY(number_at(state, "power")) : 1;
  const bool possible =
      seen <= history.size() && fitted_at <= seen && seen - fitted_at <= members.size() &&
      std::ranges::all_of(members,
                          [&](double i) { return is_index(i, static_cast<double>(seen)); }) &&
      std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end() &&
      std::ranges::find(kPowers, power) != kPowers.end() && (fits == 0) == members.empty() &&
      (fits == 0 || !categories_.empty()) && members.size() - (seen - fitted_at) <= kMostRows &&
      members.size() <= 2 * kMostRows;
  if (!possible) return damaged();

  Surrogate loaded = *this;
  loaded.members_.assign(members.begin(), members.end());
  loaded.pretended_.clear();
  loaded.pretended_means_.clear();
  loaded.seen_ = seen;
  loaded.fitted_at_ = fitted_at;
  loaded.fits_ = fits;
  loaded.targets_.clear();
  loaded.power_ = power;
  if (fits > 0) {
    if (std::ranges::none_of(loaded.members_, [&](std::size_t i) {
          return history.kind(i) == History::Kind::usable;
        })) {
      return damaged();
    }
    loaded.take_targets(history);
  }
  const std::vector<double> rows = history.gather(loaded.members_);
  if (earlier_.has_models()) TRY(loaded.earlier_.load(TRY(object_at(state, "earlier"))));
  loaded.offsets_ = loaded.offsets(rows);
  TRY(loaded.model_.load(state, rows, loaded.rest()));
  // Each result since the last fit is an appended row; all other rows must have been assigned by
  // the fit.
  if (loaded.model_.assigned() != members.size() - (seen - fitted_at)) return damaged();
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
