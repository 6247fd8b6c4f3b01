#include "math/mixed_rows.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace attune {
namespace {

constexpr double kCentre = 0.5;
constexpr double kNoCategory = -1;

// Of term(0) to term(n - 1), as four sums: one would have to wait for itself in each step.
template <class Term>
double sum_of(std::size_t n, const Term& term) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += term(i + k);
  }
  for (; i < n; ++i) sums[0] += term(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

MixedRows::MixedRows(std::vector<std::size_t> categories)
    : categories_(std::move(categories)), columns_(categories_.size()) {}

void MixedRows::append(std::span<const double> row) {
  ATTUNE_CHECK(row.size() == dimensions());
  for (std::size_t d = 0; d < row.size(); ++d) {
    columns_[d].push_back(imputed(d, row[d]));
  }
  const auto active = std::ranges::count_if(row, [](double x) { return x == x; });
  active_.push_back(static_cast<std::size_t>(active) + (active_.empty() ? 0 : active_.back()));
  ++size_;
}

void MixedRows::resize(std::size_t size) {
  ATTUNE_CHECK(size <= size_);
  for (auto& column : columns_) column.resize(size);
  active_.resize(size);
  size_ = size;
}

double MixedRows::mean_active() const {
  return size_ == 0 ? 0 : static_cast<double>(active_.back()) / static_cast<double>(size_);
}

std::vector<double> MixedRows::row(std::size_t i) const {
  std::vector<double> row;
  for (const auto& column : columns_) row.push_back(column[i]);
  return row;
}

double MixedRows::imputed(std::size_t d, double x) const {
  if (x == x) return x;
  return is_position(d) ? kCentre : kNoCategory;
}

void MixedRows::add_squares(std::size_t d, double given, double weight, std::size_t from,
                            std::span<double> out) const {
  const double x = imputed(d, given);
  const double* column = columns_[d].data() + from;
  if (is_position(d)) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double difference = column[i] - x;
      out[i] += weight * (difference * difference);
    }
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += column[i] == x ? 0 : weight;
  }
}

double MixedRows::weigh_squares(std::size_t d, double given, std::size_t from,
                                std::span<const double> a) const {
  const double x = imputed(d, given);
  const double* column = columns_[d].data() + from;
  if (!is_position(d)) {
    return sum_of(a.size(), [&](std::size_t i) { return column[i] == x ? 0.0 : a[i]; });
  }
  return sum_of(a.size(), [&](std::size_t i) {
    const double difference = column[i] - x;
    return a[i] * (difference * difference);
  });
}

double MixedRows::weigh_differences(std::size_t d, double given, std::span<const double> a) const {
  const double x = imputed(d, given);
  const double* column = columns_[d].data();
  return sum_of(a.size(), [&](std::size_t i) { return a[i] * (x - column[i]); });
}

}  // namespace attune
