#include "math/gp/mixed_rows.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "math/array_passes.h"

namespace attune {
namespace {

constexpr double kCentre = 0.5;
constexpr double kNoCategory = -1;
constexpr std::size_t kTogether = 4;  // positions that one pass handles

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

void MixedRows::squares(std::span<const double> x, std::span<const double> weights,
                        std::size_t from, std::span<double> out) const {
  const ArrayPasses& passes = array_passes();
  std::ranges::fill(out, 0.0);
  const auto positions_from = [this](std::size_t d) {
    std::size_t end = d;
    while (end < std::min(d + kTogether, dimensions()) && is_position(end)) ++end;
    return end - d;
  };
  for (std::size_t d = 0; d < dimensions();) {
    if (positions_from(d) == kTogether) {
      std::array<double, kTogether> given;
      std::array<const double*, kTogether> columns;
      for (std::size_t k = 0; k < kTogether; ++k) {
        given[k] = imputed(d + k, x[d + k]);
        columns[k] = columns_[d + k].data() + from;
      }
      passes.add_four_squares(given, weights.subspan(d).first<kTogether>(), columns, out);
      d += kTogether;
      continue;
    }
    const auto add = is_position(d) ? passes.add_squares : passes.add_mismatches;
    add(imputed(d, x[d]), weights[d], std::span(columns_[d]).subspan(from, out.size()), out);
    ++d;
  }
}

double MixedRows::weigh_squares(std::size_t d, double given, std::size_t from,
                                std::span<const double> a) const {
  const ArrayPasses& passes = array_passes();
  const auto weigh = is_position(d) ? passes.weigh_squares : passes.weigh_mismatches;
  return weigh(imputed(d, given), std::span(columns_[d]).subspan(from, a.size()), a);
}

double MixedRows::weigh_differences(std::size_t d, double given, std::span<const double> a) const {
  return array_passes().weigh_differences(imputed(d, given), std::span(columns_[d]).first(a.size()),
                                          a);
}

}  // namespace attune
