#include "examples/calibration/sir.h"

namespace calibration {
namespace {

constexpr int kStepsADay = 20;

struct State {
  double susceptible = 0, infected = 0;
};

State moved(const State& from, const State& rate, double h) {
  return {from.susceptible + h * rate.susceptible, from.infected + h * rate.infected};
}

State rates(const Sir& model, double size, const State& at) {
  const double infections = model.beta * at.susceptible * at.infected / size;
  return {-infections, infections - model.gamma * at.infected};
}

State step(const Sir& model, double size, const State& at, double h) {
  const State a = rates(model, size, at);
  const State b = rates(model, size, moved(at, a, h / 2));
  const State c = rates(model, size, moved(at, b, h / 2));
  const State d = rates(model, size, moved(at, c, h));
  const State mean = {(a.susceptible + 2 * b.susceptible + 2 * c.susceptible + d.susceptible) / 6,
                      (a.infected + 2 * b.infected + 2 * c.infected + d.infected) / 6};
  return moved(at, mean, h);
}

}  // namespace

std::vector<double> infected_by_day(const Sir& model, const Population& population, int days) {
  State state = {population.size - population.infected, population.infected};
  std::vector<double> infected;
  for (int day = 0; day < days; ++day) {
    infected.push_back(state.infected);
    for (int i = 0; i < kStepsADay; ++i) {
      state = step(model, population.size, state, 1.0 / kStepsADay);
    }
  }
  return infected;
}

}  // namespace calibration
