#include "tuners/parts/cma_es_encoding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "space/sample.h"

namespace attune {
namespace {

// How a domain appears in the cube, and what CMA-ES makes of it: a number, a group, or neither.
struct Shape {
  std::size_t width = 1;  // of coordinates in the cube
  bool number = false, group = false;
  std::size_t chosen = 1;
  std::vector<double> cells = {};  // edges between cells, ascending, inside (0, 1)
};

std::vector<double> equal_cells(double count) {
  std::vector<double> cells;
  for (std::size_t k = 1; k < CmaEncoding::kMostCells && static_cast<double>(k) < count; ++k) {
    cells.push_back(static_cast<double>(k) / count);
  }
  return cells;
}

// The edges between the cells of a rounded domain: where in the cube a value changes from one
// multiple of q to the next. `place` maps a value of the domain to its coordinate. Empty if there
// are too many values.
template <class Place>
std::vector<double> rounded_cells(double q, double low, double high, Place&& place) {
  const double first = std::nearbyint(low / q), last = std::nearbyint(high / q);
  if (!(last - first < static_cast<double>(CmaEncoding::kMostCells))) return {};
  std::vector<double> cells;
  const auto count = static_cast<std::size_t>(last - first);
  for (std::size_t k = 0; k < count; ++k) {
    const double x = place((first + static_cast<double>(k) + 0.5) * q);
    if (x > 0 && x < 1 && (cells.empty() || x > cells.back())) cells.push_back(x);
  }
  return cells;
}

struct ShapeOf {
  const Domain& domain;

  Shape operator()(const Choice& choice) const {
    const std::size_t n = choice.candidates.size();
    return {n, false, n > 1, 1};
  }
  Shape operator()(const Subset& subset) const {
    const std::size_t n = subset.candidates.size();
    return {n, false, subset.chosen > 0 && subset.chosen < n, subset.chosen};
  }
  Shape operator()(const IntRange& range) const {
    const double count = static_cast<double>(range.high) - static_cast<double>(range.low);
    const bool few = count <= static_cast<double>(CmaEncoding::kMostCells);
    return {1, count > 1, false, 1, few ? equal_cells(count) : std::vector<double>{}};
  }
  Shape operator()(const Uniform& uniform) const {
    const double low = to_internal(domain, uniform.low), high = to_internal(domain, uniform.high);
    Shape shape{1, low < high};
    if (shape.number && uniform.q) {
      shape.cells = rounded_cells(*uniform.q, uniform.low, uniform.high, [&](double value) {
        return (to_internal(domain, value) - low) / (high - low);
      });
    }
    return shape;
  }
  Shape operator()(const Normal& normal) const {
    Shape shape{1, normal.sigma > 0};
    if (!shape.number || !normal.q) return shape;
    const auto natural = [&](double z) {
      const double x = normal.mu + normal.sigma * z;
      return normal.log ? std::exp(x) : x;
    };
    shape.cells = rounded_cells(*normal.q, natural(-4), natural(4), [&](double value) {
      const double z = (to_internal(domain, value) - normal.mu) / normal.sigma;
      return 0.5 * std::erfc(-z / std::numbers::sqrt2);
    });
    return shape;
  }
};

}  // namespace

CmaEncoding::CmaEncoding(const Space& space) : cube_(space) {
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Domain& domain = space.params[i].domain;
    Shape shape = std::visit(ShapeOf{domain}, domain);
    const std::size_t begin = constants_.size();
    constants_.resize(begin + shape.width, 0.5);
    if (shape.number) {
      number_params_.push_back(i);
      number_places_.push_back(begin);
      cells_.push_back(std::move(shape.cells));
      continuous_.push_back(is_continuous(domain));
    } else if (shape.group) {
      group_params_.push_back(i);
      groups_.push_back({shape.width, shape.chosen});
      for (std::size_t k = 0; k < shape.width; ++k) flag_places_.push_back(begin + k);
    }
  }
}

Point CmaEncoding::decode(std::span<const double> x, std::span<const double> flags) const {
  std::vector<double> cube = constants_;
  for (std::size_t i = 0; i < x.size(); ++i) cube[number_places_[i]] = x[i];
  for (std::size_t i = 0; i < flags.size(); ++i) cube[flag_places_[i]] = flags[i];
  return cube_.from_cube(cube);
}

bool CmaEncoding::is_cut_off(std::span<const double> x, const Point& point) const {
  bool any = false;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!continuous_[k] || !point.active(number_params_[k])) continue;
    if (x[k] > 0 && x[k] < 1) return false;
    any = true;
  }
  return any;
}

std::vector<double> CmaEncoding::coordinates(const Point& point) const {
  const std::vector<double> cube = cube_.to_cube(point);
  std::vector<double> x;
  x.reserve(number_places_.size());
  for (const std::size_t place : number_places_) x.push_back(cube[place]);
  return x;
}

std::vector<bool> CmaEncoding::active_coordinates(const Point& point) const {
  std::vector<bool> active;
  active.reserve(number_params_.size());
  for (const std::size_t i : number_params_) active.push_back(point.active(i));
  return active;
}

CategoryResult CmaEncoding::categories(const Point& point) const {
  const std::vector<double> cube = cube_.to_cube(point);
  CategoryResult result;
  for (const std::size_t place : flag_places_) result.flags.push_back(cube[place]);
  for (const std::size_t i : group_params_) result.active.push_back(point.active(i));
  return result;
}

}  // namespace attune
