#include "bench/quality/functions.h"

#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace attune::bench {
namespace {

using Vector = std::vector<double>;

double square(double x) { return x * x; }
double wave(double x) { return std::cos(2 * std::numbers::pi * x); }

// Products of reflections are orthogonal, and cost O(d) to apply.
class Rotation {
 public:
  Rotation(std::size_t dimensions, Rng& rng) {
    for (std::size_t k = 0; k < std::min<std::size_t>(dimensions, 10); ++k) {
      Vector normal(dimensions);
      for (double& each : normal) each = rng.normal();
      const double length =
          std::sqrt(std::inner_product(normal.begin(), normal.end(), normal.begin(), 0.0));
      for (double& each : normal) each /= length;
      normals_.push_back(std::move(normal));
    }
  }
  Vector operator()(Vector x) const {
    for (const Vector& normal : normals_) {
      const double along = std::inner_product(x.begin(), x.end(), normal.begin(), 0.0);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 2 * along * normal[i];
    }
    return x;
  }

 private:
  std::vector<Vector> normals_;
};

// What the definition calls T_osz: small irregular waves that keep sign and order.
double irregular(double x) {
  if (x == 0) return 0;
  const double log = std::log(std::abs(x));
  const double a = x > 0 ? 10 : 5.5, b = x > 0 ? 7.9 : 3.1;
  return std::copysign(std::exp(log + 0.049 * (std::sin(a * log) + std::sin(b * log))), x);
}

// The share of dimension i, in [0, 1].
double share(std::size_t i, std::size_t d) {
  return static_cast<double>(i) / static_cast<double>(d - 1);
}

// What the definition calls Lambda^alpha.
Vector stretched(Vector x, double alpha) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= std::pow(alpha, 0.5 * share(i, x.size()));
  return x;
}

// What the definition calls T_asy^beta.
Vector lopsided(Vector x, double beta) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 0) x[i] = std::pow(x[i], 1 + beta * share(i, x.size()) * std::sqrt(x[i]));
  }
  return x;
}

Vector irregular(Vector x) {
  for (double& each : x) each = irregular(each);
  return x;
}

double ellipsoid(const Vector& z) {
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    sum += std::pow(10.0, 6 * share(i, z.size())) * square(z[i]);
  }
  return sum;
}

double rastrigin(const Vector& z) {
  double sum = 0;
  for (const double each : z) sum += 10 * (1 - wave(each)) + square(each);
  return sum;
}

// The least value is at z = 1.
double rosenbrock(const Vector& z) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < z.size(); ++i) {
    sum += 100 * square(square(z[i]) - z[i + 1]) + square(z[i] - 1);
  }
  return sum;
}

double griewank_rosenbrock(const Vector& z) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < z.size(); ++i) {
    const double s = 100 * square(square(z[i]) - z[i + 1]) + square(z[i] - 1);
    sum += s / 4000 - std::cos(s);
  }
  return 10 * (sum / static_cast<double>(z.size() - 1) + 1);
}

double schaffers(const Vector& z) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < z.size(); ++i) {
    const double s = std::sqrt(square(z[i]) + square(z[i + 1]));
    sum += std::sqrt(s) * (1 + square(std::sin(50 * std::pow(s, 0.2))));
  }
  return square(sum / static_cast<double>(z.size() - 1));
}

double weierstrass(const Vector& z) {
  double sum = 0, least = 0;
  for (int k = 0; k < 12; ++k)
    least += std::pow(0.5, k) * std::cos(std::numbers::pi * std::pow(3, k));
  for (const double each : z) {
    for (int k = 0; k < 12; ++k) {
      sum += std::pow(0.5, k) * std::cos(2 * std::numbers::pi * std::pow(3, k) * (each + 0.5));
    }
  }
  return 10 * std::pow(std::max(sum / static_cast<double>(z.size()) - least, 0.0), 3);
}

// Many peaks at random places, the highest at `best`.
RealFunction gallagher(std::size_t peaks, const Vector& best, const Rotation& rotation, Rng& rng) {
  struct Peak {
    Vector place;  // rotated
    Vector weights;
    double height;
  };
  std::vector<Peak> all;
  for (std::size_t k = 0; k < peaks; ++k) {
    const double of = static_cast<double>(k) / static_cast<double>(peaks - 1);
    Peak peak;
    peak.height = k == 0 ? 10 : 1.1 + 8 * (1 - of);
    const double alpha = k == 0 ? 1000 : std::pow(1000, 2 * rng.uniform());
    Vector place = best;
    if (k > 0) {
      for (double& each : place) each = rng.uniform(-4.9, 4.9);
    }
    for (std::size_t i = 0; i < best.size(); ++i) {
      peak.weights.push_back(std::pow(alpha, 0.5 * rng.uniform()) / std::pow(alpha, 0.25));
    }
    peak.place = rotation(std::move(place));
    all.push_back(std::move(peak));
  }
  return [all, rotation](std::span<const double> x) {
    const Vector z = rotation({x.begin(), x.end()});
    double highest = 0;
    for (const Peak& peak : all) {
      double distance = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        distance += peak.weights[i] * square(z[i] - peak.place[i]);
      }
      highest = std::max(highest,
                         peak.height * std::exp(-distance / (2 * static_cast<double>(z.size()))));
    }
    return square(irregular(10 - highest));
  };
}

constexpr std::array kNumbers = {1, 3, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24};

double lunacek(const Vector& x, const Vector& signs, const Rotation& turn) {
  const auto d = static_cast<double>(x.size());
  const double mu = 2.5, s = 1 - 1 / (2 * std::sqrt(d + 20) - 8.2);
  const double other = -std::sqrt((square(mu) - 1) / s);
  double near = 0, far = 0, waves = 0;
  Vector z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double each = 2 * signs[i] * x[i];
    near += square(each - mu);
    far += square(each - other);
    z[i] = each - mu;
  }
  for (const double each : stretched(turn(z), 100)) waves += wave(each);
  return std::min(near, d + s * far) + 10 * (d - waves);
}

}  // namespace

std::span<const int> numbers_of_functions() { return kNumbers; }

RealFunction real_function(int number, std::size_t d, Rng rng) {
  Vector best(d);
  for (double& each : best) each = rng.uniform(-4, 4);
  const Rotation turn(d, rng), again(d, rng);
  const auto moved = [best](std::span<const double> x) {
    Vector z(x.begin(), x.end());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] -= best[i];
    return z;
  };
  const double wide = std::max(1.0, std::sqrt(static_cast<double>(d)) / 8);
  switch (number) {
    case 1:
      return [=](auto x) {
        double sum = 0;
        for (const double each : moved(x)) sum += square(each);
        return sum;
      };
    case 3:
      return [=](auto x) { return rastrigin(stretched(lopsided(irregular(moved(x)), 0.2), 10)); };
    case 6:
      return [=](auto x) {
        const Vector z = turn(stretched(again(moved(x)), 10));
        double sum = 0;
        for (std::size_t i = 0; i < z.size(); ++i) {
          sum += square((z[i] * best[i] > 0 ? 100 : 1) * z[i]);
        }
        return std::pow(irregular(sum), 0.9);
      };
    case 7:
      return [=](auto x) {
        Vector z = stretched(turn(moved(x)), 10);
        const double first = std::abs(z[0]) / 1e4;
        for (double& each : z) {
          each = std::abs(each) > 0.5 ? std::floor(0.5 + each) : std::floor(0.5 + 10 * each) / 10;
        }
        z = again(z);
        double sum = 0;
        for (std::size_t i = 0; i < d; ++i) sum += std::pow(10.0, 2 * share(i, d)) * square(z[i]);
        return 0.1 * std::max(first, sum);
      };
    case 8:
      return [=](auto x) {
        Vector z = moved(x);
        for (double& each : z) each = wide * each + 1;
        return rosenbrock(z);
      };
    case 9:
    case 19:
      return [=](auto x) {
        Vector z = turn(moved(x));
        for (double& each : z) each = wide * each + 1;
        return number == 9 ? rosenbrock(z) : griewank_rosenbrock(z);
      };
    case 10:
      return [=](auto x) { return ellipsoid(irregular(turn(moved(x)))); };
    case 12:
      return [=](auto x) {
        const Vector z = turn(lopsided(turn(moved(x)), 0.5));
        double sum = square(z[0]);
        for (std::size_t i = 1; i < d; ++i) sum += 1e6 * square(z[i]);
        return sum;
      };
    case 13:
      return [=](auto x) {
        const Vector z = turn(stretched(again(moved(x)), 10));
        double sum = 0;
        for (std::size_t i = 1; i < d; ++i) sum += square(z[i]);
        return square(z[0]) + 100 * std::sqrt(sum);
      };
    case 14:
      return [=](auto x) {
        const Vector z = turn(moved(x));
        double sum = 0;
        for (std::size_t i = 0; i < d; ++i) sum += std::pow(std::abs(z[i]), 2 + 4 * share(i, d));
        return std::sqrt(sum);
      };
    case 15:
      return [=](auto x) {
        return rastrigin(turn(stretched(again(lopsided(irregular(turn(moved(x))), 0.2)), 10)));
      };
    case 16:
      return [=](auto x) {
        return weierstrass(turn(stretched(again(irregular(turn(moved(x)))), 0.01)));
      };
    case 17:
    case 18:
      return [=](auto x) {
        return schaffers(stretched(again(lopsided(turn(moved(x)), 0.5)), number == 17 ? 10 : 1000));
      };
    case 21:
    case 22:
      return gallagher(number == 21 ? 101 : 21, best, turn, rng);
    case 24: {
      Vector signs(d);
      for (double& each : signs) each = rng.uniform() < 0.5 ? -1 : 1;
      return [=](auto x) { return lunacek({x.begin(), x.end()}, signs, turn); };
    }
    default:
      throw std::invalid_argument("no function " + std::to_string(number));
  }
}

}  // namespace attune::bench
