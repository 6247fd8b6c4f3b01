/* Successive over-relaxation for Laplace's equation on a square: with which factor is the residual
 * smallest after so many sweeps? A trial in C. */
#include <attune/trial/trial_c.h>
#include <math.h>
#include <stdio.h>

enum { SIZE = 34, SWEEPS = 60, SWEEPS_PER_REPORT = 10 };

/* The largest change that a sweep makes. */
static double sweep(double grid[SIZE][SIZE], double omega) {
  double largest = 0;
  for (int i = 1; i < SIZE - 1; ++i) {
    for (int j = 1; j < SIZE - 1; ++j) {
      const double mean = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4;
      const double change = omega * (mean - grid[i][j]);
      grid[i][j] += change;
      largest = fmax(largest, fabs(change));
    }
  }
  return largest;
}

static int run(attune_trial* trial) {
  static double grid[SIZE][SIZE];
  double omega = 0, change = 0;
  int status = attune_trial_next_parameters(trial);
  if (status != ATTUNE_TRIAL_OK) return status;
  status = attune_trial_get_double(trial, "omega", &omega);
  if (status != ATTUNE_TRIAL_OK) return status;

  for (int j = 0; j < SIZE; ++j) grid[0][j] = 1; /* one side is warm */
  for (int i = 1; i <= SWEEPS; ++i) {
    change = sweep(grid, omega);
    if (i % SWEEPS_PER_REPORT == 0) {
      status = attune_trial_report(trial, log10(change));
      if (status != ATTUNE_TRIAL_OK) return status;
    }
  }
  const char* const names[] = {"default", "middle"};
  const double values[] = {log10(change), grid[SIZE / 2][SIZE / 2]};
  return attune_trial_final_values(trial, names, values, 2);
}

int main(void) {
  attune_trial* trial;
  int status = attune_trial_open("{\"omega\": 1.5}", NULL, &trial);
  if (status == ATTUNE_TRIAL_OK) status = run(trial);
  if (status != ATTUNE_TRIAL_OK) fprintf(stderr, "c_trial: %s\n", attune_trial_error(trial));
  attune_trial_free(trial);
  return status == ATTUNE_TRIAL_OK ? 0 : 1;
}
