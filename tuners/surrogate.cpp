#include "tuners/surrogate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/saved_numbers.h"
#include "math/straighten.h"

namespace attune {
namespace {

constexpr std::size_t kMostFitted =
    200;                              // rows that the parameters are fitted to: O(n^3) each step
constexpr int kEvaluations = 12;      // of a fit that starts where the last one ended
constexpr int kMoreEvaluations = 25;  // of one that starts elsewhere too
constexpr std::size_t kRestartEvery = 4;  // fits; the others start where the last one ended

std::vector<std::size_t> categories(const Features& features) {
  std::vector<std::size_t> all;
  for (const Features::Dimension& dimension : features.dimensions()) {
    all.push_back(dimension.categories);
  }
  return all;
}

// `most` of `ranked`, best first: the first half of them, then every so-manieth; ascending.
std::vector<std::size_t> thinned(std::vector<std::size_t> ranked, std::size_t most) {
  if (ranked.size() > most) {
    const std::size_t kept = most / 2;
    const std::size_t others = most - kept;
    for (std::size_t i = 0; i < others; ++i) {
      ranked[kept + i] = ranked[kept + i * (ranked.size() - kept) / others];
    }
    ranked.resize(most);
  }
  std::ranges::sort(ranked);
  return ranked;
}

std::vector<double> gather(const History& history, std::span<const std::size_t> members) {
  std::vector<double> rows;
  for (const std::size_t i : members) {
    const auto row = history.row(i);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

// NaN equals NaN.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
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

void History::add(std::span<const double> row, Kind kind, double loss) {
  rows_.insert(rows_.end(), row.begin(), row.end());
  kinds_.push_back(kind);
  losses_.push_back(kind == Kind::usable ? loss : 0);
  usable_ += kind == Kind::usable ? 1 : 0;
}

std::vector<std::size_t> modelled(const History& history, std::size_t most) {
  std::vector<std::size_t> ranked = indices(history.size());
  if (ranked.size() <= most) return ranked;
  std::ranges::stable_sort(ranked, {}, [&](std::size_t i) {
    return std::pair(history.kind(i), history.loss(i));  // the usable come first
  });
  return thinned(std::move(ranked), most);
}

std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            Scale scale) {
  std::vector<double> losses;
  for (const std::size_t i : members) {
    if (history.kind(i) == History::Kind::usable) losses.push_back(history.loss(i));
  }
  std::vector<double> usable =
      scale == Scale::straightened ? straightened(losses) : standardised(losses);
  std::vector<double> sorted = usable;
  std::ranges::sort(sorted);
  const double worst = sorted.back();
  const double upper = sorted[3 * (sorted.size() - 1) / 4];
  std::vector<double> all;
  auto next = usable.begin();
  for (const std::size_t i : members) {
    const History::Kind kind = history.kind(i);
    all.push_back(kind == History::Kind::usable    ? *next++
                  : kind == History::Kind::stopped ? upper
                                                   : worst);
  }
  return all;
}

Surrogate::Surrogate(const Features& features, Scale scale, double least_noise)
    : scale_(scale),
      least_noise_(least_noise),
      categories_(categories(features)),
      model_(categories_, least_noise) {}

void Surrogate::update(const History& history) {
  if (history.size() == seen_ && fits_ > 0) return;
  model_.resize(members_.size());
  pretended_.clear();
  const std::size_t step = std::max<std::size_t>(1, fitted_at_ / 20);
  if (fits_ == 0 || history.size() >= fitted_at_ + step) {
    members_ = modelled(history, kMostRows);
    take_targets(history);
    fit(history);
  } else {
    for (std::size_t i = seen_; i < history.size(); ++i) {
      model_.append(history.row(i));
      members_.push_back(i);
    }
    take_targets(history);
    model_.set_targets(targets_);
  }
  seen_ = history.size();
}

void Surrogate::take_targets(const History& history) {
  targets_ = targets(history, members_, scale_);
  // No other target is lower than the usable ones.
  best_ = *std::ranges::min_element(targets_);
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
  GaussianProcess part(categories_, least_noise_);
  part.assign(gather(history, members), model_.parameters());
  part.set_targets(targets);
  if (fits_ % kRestartEvery == 0) {
    part.fit(kMoreEvaluations, std::vector{part.initial_parameters()});
  } else {
    part.fit(kEvaluations);
  }
  if (members.size() == members_.size()) {
    model_ = std::move(part);
  } else {
    model_.assign(gather(history, members_), part.parameters());
    model_.set_targets(targets_);
  }
  ++fits_;
  fitted_at_ = history.size();
  fitted_rows_ = members_.size();
}

void Surrogate::pretend(std::span<const std::vector<double>> running) {
  const bool more = running.size() >= pretended_.size() &&
                    std::equal(pretended_.begin(), pretended_.end(), running.begin(), same_bits);
  if (!more) {
    model_.resize(members_.size());
    pretended_.clear();
    best_ = *std::ranges::min_element(targets_);
  }
  for (const auto& row : running.subspan(pretended_.size())) {
    best_ = std::min(best_, model_.predict(row).mean);
    model_.append(row);
    pretended_.push_back(row);
  }
}

std::vector<std::size_t> Surrogate::most_promising(std::size_t count) const {
  const std::vector<double> means = model_.fitted_means();
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

json Surrogate::save() const {
  std::vector<double> parameters = model_.parameters().log_weights;
  parameters.push_back(model_.parameters().log_signal);
  parameters.push_back(model_.parameters().log_noise);
  std::vector<double> members(members_.begin(), members_.end());
  return {{"parameters", save_numbers(parameters)},
          {"members", save_numbers(members)},
          {"seen", seen_},
          {"fitted_at", fitted_at_},
          {"fitted_rows", fitted_rows_},
          {"fits", fits_}};
}

Result<void> Surrogate::load(const json& state, const History& history) {
  const auto damaged = [] { return fail("saved state: a model that does not fit its results"); };
  const auto parameters = TRY(numbers_at(state, "parameters"));
  const auto members = TRY(numbers_at(state, "members"));
  const auto size_at = [&](std::string_view key) -> Result<std::size_t> {
    const auto n = TRY(integer_at(state, key));
    if (n < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(n);
  };
  const std::size_t seen = TRY(size_at("seen"));
  const std::size_t fitted_at = TRY(size_at("fitted_at"));
  const std::size_t fitted_rows = TRY(size_at("fitted_rows"));
  const std::size_t fits = TRY(size_at("fits"));
  const bool possible =
      parameters.size() == categories_.size() + 2 &&
      std::ranges::all_of(parameters, [](double x) { return std::abs(x) <= 100; }) &&
      seen <= history.size() && fitted_at <= seen && fitted_rows <= members.size() &&
      std::ranges::all_of(members,
                          [&](double i) { return is_index(i, static_cast<double>(seen)); }) &&
      std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end() &&
      (fits == 0) == members.empty();
  if (!possible) return damaged();

  Surrogate loaded = *this;
  loaded.model_ = GaussianProcess(categories_, least_noise_);
  loaded.members_.assign(members.begin(), members.end());
  loaded.pretended_.clear();
  loaded.seen_ = seen;
  loaded.fitted_at_ = fitted_at;
  loaded.fitted_rows_ = fitted_rows;
  loaded.fits_ = fits;
  if (fits > 0) {
    if (std::ranges::none_of(loaded.members_, [&](std::size_t i) {
          return history.kind(i) == History::Kind::usable;
        })) {
      return damaged();
    }
    // In the steps in which it came to be, so that every bit is the same.
    const std::span all(loaded.members_);
    loaded.model_.assign(gather(history, all.first(fitted_rows)),
                         {{parameters.begin(), parameters.end() - 2},
                          parameters[parameters.size() - 2],
                          parameters.back()});
    for (const std::size_t i : all.subspan(fitted_rows)) loaded.model_.append(history.row(i));
    loaded.take_targets(history);
    loaded.model_.set_targets(loaded.targets_);
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
