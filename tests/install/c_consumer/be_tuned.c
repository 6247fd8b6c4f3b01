/* A program of a user in C: is tuned, here by hand. */
#include <attune/trial/trial_c.h>
#include <stdio.h>

int main(void) {
  attune_trial* trial;
  double x = 0;
  if (attune_trial_open("{\"x\": 2.5}", NULL, &trial) != ATTUNE_TRIAL_OK ||
      attune_trial_next_parameters(trial) != ATTUNE_TRIAL_OK ||
      attune_trial_get_double(trial, "x", &x) != ATTUNE_TRIAL_OK) {
    fprintf(stderr, "%s\n", attune_trial_error(trial));
    return 1;
  }
  attune_trial_free(trial);
  printf("x = %g\n", x);
  return 0;
}
