#pragma once
// The SIR model of an epidemic (Kermack, McKendrick, "A contribution to the mathematical theory of
// epidemics", Proc. R. Soc. A 115, 1927): who can be infected, who is infected, who is neither any
// more.
#include <vector>

namespace calibration {

struct Sir {
  double beta = 0;   // infections a day that an infected one causes while everyone is susceptible
  double gamma = 0;  // recoveries a day of an infected one; 1 / gamma is the mean duration in days
};

struct Population {
  double size = 0;
  double infected = 0;  // on day 0; nobody has recovered then
};

// How many are infected on day 0, 1, ..., days - 1. Runge-Kutta of fourth order, 20 steps a day.
std::vector<double> infected_by_day(const Sir& model, const Population& population, int days);

}  // namespace calibration
